package capability

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps is what one check may cost. A step is a schema applied to a value, or as
// much work of another kind: some microseconds. It bounds the memory for problems
// too: there are fewer of them than steps.
const maxSteps = 200_000

// checker checks one input at a time.
//
// The library applies schemas without a bound, and a schema that refers to itself
// twice doubles the work at each level. So each of its schemas is given a "format",
// the one thing that it asks before it goes on: it counts what will follow, and
// fails when that is too much. Then everything fails, and the check is over.
type checker struct {
	root *jsonschema.Schema
	// left are the steps that the running check has left.
	left int
	// patterns are the regular expressions by their texts, instructions what all of
	// them have.
	patterns     map[string]*pattern
	instructions int
	unchecked    []string
}

// check tells whether v satisfies the schema.
func (c *checker) check(v any) error {
	c.left = maxSteps
	err := c.root.Validate(v)
	if c.left < 0 {
		return &InputError{Problems: []string{errSteps.Error()}}
	}
	if err == nil {
		return nil
	}
	return inputError(err)
}

// spend takes steps, and tells whether there were enough.
func (c *checker) spend(steps int) bool {
	if c.left >= 0 {
		c.left -= steps
	}
	return c.left >= 0
}

// meter makes the schemas, and all that they lead to, count their steps.
func (c *checker) meter(roots []*jsonschema.Schema) error {
	all := reach(roots)
	if err := acyclic(all); err != nil {
		return err
	}
	heaviest := 0
	for _, s := range all {
		c.passOver(s)
		heaviest = max(heaviest, weight(s))
	}
	for _, s := range all {
		cost := costOf(s)
		if s.DynamicRef != nil || s.RecursiveRef != nil {
			cost.once += heaviest // it may be any
		}
		s.Format = &jsonschema.Format{Name: "steps", Validate: func(v any) error {
			if c.spend(cost.of(v)) {
				return nil
			}
			return errSteps
		}}
	}
	slices.Sort(c.unchecked)
	c.unchecked = slices.Compact(c.unchecked)
	return nil
}

// pointerOf returns where in a document a compiled schema comes from.
func pointerOf(location string) string {
	_, fragment, _ := strings.Cut(location, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return fragment
	}
	return pointer
}

// reach returns all schemas that these lead to, each once.
func reach(roots []*jsonschema.Schema) []*jsonschema.Schema {
	seen := map[*jsonschema.Schema]bool{}
	var all []*jsonschema.Schema
	add := func(list []*jsonschema.Schema) {
		for _, s := range list {
			if !seen[s] {
				seen[s] = true
				all = append(all, s)
			}
		}
	}
	add(roots)
	for i := 0; i < len(all); i++ {
		l := leadsOf(all[i])
		add(slices.Concat(l.same, l.once, l.members, l.items))
	}
	return all
}

// acyclic refuses schemas that lead back to themselves for one and the same value.
func acyclic(all []*jsonschema.Schema) error {
	const under, done = 1, 2
	state := map[*jsonschema.Schema]int{}
	var visit func(*jsonschema.Schema) error
	visit = func(s *jsonschema.Schema) error {
		switch state[s] {
		case under:
			return fmt.Errorf("%sit refers to itself without end: break the cycle", place(pointerOf(s.Location)))
		case done:
			return nil
		}
		state[s] = under
		for _, next := range leadsOf(s).same {
			if err := visit(next); err != nil {
				return err
			}
		}
		state[s] = done
		return nil
	}
	for _, s := range all {
		if err := visit(s); err != nil {
			return err
		}
	}
	return nil
}

// leads are the schemas that one leads to, by the values that they are applied to:
// the same one, one member or item of it, each member, each item.
type leads struct{ same, once, members, items []*jsonschema.Schema }

func leadsOf(s *jsonschema.Schema) leads {
	var l leads
	l.same = slices.Concat(s.AllOf, s.AnyOf, s.OneOf)
	l.same = some(l.same, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		l.same = some(l.same, s.DynamicRef.Ref)
	}
	for _, one := range s.DependentSchemas {
		l.same = append(l.same, one)
	}
	for _, one := range s.Dependencies {
		l.same = maybe(l.same, one)
	}
	for _, one := range s.Properties {
		l.once = append(l.once, one)
	}
	l.once = append(l.once, s.PrefixItems...)
	if list, ok := s.Items.([]*jsonschema.Schema); ok {
		l.once = append(l.once, list...)
	}
	for _, one := range s.PatternProperties {
		l.members = append(l.members, one)
	}
	l.members = maybe(some(l.members, s.PropertyNames, s.UnevaluatedProperties), s.AdditionalProperties)
	l.items = maybe(maybe(some(l.items, s.Contains, s.UnevaluatedItems, s.Items2020), s.Items), s.AdditionalItems)
	return l
}

// some appends the schemas that are there.
func some(list []*jsonschema.Schema, more ...*jsonschema.Schema) []*jsonschema.Schema {
	for _, s := range more {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

// maybe appends v if it is a schema; it may be a boolean or a list as well.
func maybe(list []*jsonschema.Schema, v any) []*jsonschema.Schema {
	if s, ok := v.(*jsonschema.Schema); ok {
		list = append(list, s)
	}
	return list
}

// weight is what a schema costs before it counts: it compares with what it lists.
func weight(s *jsonschema.Schema) int {
	n := 0
	if s.Enum != nil {
		n += size(s.Enum.Values)
	}
	if s.Const != nil {
		n += size(*s.Const)
	}
	return 1 + n/16
}

// size counts the values in a value, and a number for several, as it is compared
// with all its digits.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case json.Number:
		return 8
	case map[string]any:
		for _, one := range v {
			n += size(one)
		}
	case []any:
		for _, one := range v {
			n += size(one)
		}
	}
	return n
}

// cost is what the application of a schema costs: at once, and for each member and
// item of the value that it is applied to. All that it leads to is paid for by it,
// since that may fail before it counts.
type cost struct {
	once, member, item int
	// passes is how often the value is gone through without a look at what is in it.
	passes int
	// unique tells that items are compared with each other.
	unique bool
}

func costOf(s *jsonschema.Schema) cost {
	l := leadsOf(s)
	total := func(list []*jsonschema.Schema) int {
		n := 0
		for _, s := range list {
			n += weight(s)
		}
		return n
	}
	listed := len(s.Required)
	for _, names := range s.DependentRequired {
		listed += 1 + len(names)
	}
	for _, one := range s.Dependencies {
		if names, ok := one.([]string); ok {
			listed += 1 + len(names)
		}
	}
	return cost{
		once:   total(l.same) + total(l.once) + listed/16,
		member: total(l.members), item: total(l.items),
		passes: 1 + len(l.same), unique: s.UniqueItems,
	}
}

// of returns the steps for one value. Items that have to differ are looked for among
// all before them in the worst case: an input can be made so.
func (c cost) of(v any) int {
	switch v := v.(type) {
	case map[string]any:
		return c.once + len(v)*c.member + len(v)*c.passes/16
	case []any:
		steps := c.once + len(v)*c.item + len(v)*c.passes/16
		if c.unique {
			steps += len(v) * len(v) / 1024
		}
		return steps
	case string:
		return c.once + len(v)/256
	}
	return c.once
}
