package capability

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON Schema that inputs are checked against. It is of the draft that
// its "$schema" names, from draft-04 on, or of 2020-12. Nil accepts any input. Any
// number of goroutines may use it.
//
// Where a schema can be read in two ways it refuses less: what passes here, the
// plugin that declared it may still refuse. "format" and "content…" are remarks, in
// every draft, and a pattern that Go's regular expressions cannot say is passed over
// (see [Schema.Unchecked]).
type Schema struct {
	// doc is the schema, decoded; nothing writes to it.
	doc any
	// anchored are the places in it that only a "$dynamicRef" may lead to.
	anchored  []string
	unchecked []string

	mu sync.Mutex
	// idle are the checkers that nobody uses at the moment. There are as many
	// checkers as there were checks at the same time; maxIdle of them are kept.
	idle []*checker
}

const (
	// baseURL is what a schema's own references start from.
	baseURL = "schema:///"
	maxIdle = 4
)

// CompileSchema reads a schema. What is not there, null, true and {} accept every
// input, at no cost. The error says what is wrong and where, as a JSON pointer.
//
// Nothing but the schema itself is read: a "$ref" that leads out of it is an error,
// but for the drafts' own schemas, which are built in. So are one that leads to
// itself, and a schema beyond the limits: [MaxSchema] bytes, 128 levels,
// [MaxSubschemas] schemas in it, numbers of 1000 digits, and regular expressions of
// 1024 bytes each and 50,000 instructions together.
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	if len(raw) > MaxSchema {
		return nil, fmt.Errorf("schema: it is %d bytes long: at most %d are allowed", len(raw), MaxSchema)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return &Schema{}, nil
	}
	doc, err := decodeJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if members, ok := doc.(map[string]any); doc == nil || doc == true || ok && len(members) == 0 {
		return &Schema{}, nil
	}
	anchored, err := boundSchema(doc)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := &Schema{doc: doc, anchored: anchored}
	first, err := s.compile()
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s.idle, s.unchecked = []*checker{first}, first.unchecked
	return s, nil
}

// Unchecked lists, as JSON pointers in their order, the regular expressions that are
// not checked because Go has no such form of them (a lookahead, a back-reference, more
// than 1000 repetitions): "pattern" is then satisfied by any string, and one in
// "patternProperties" stands for all names, with nothing asked of their values.
func (s *Schema) Unchecked() []string {
	if s == nil {
		return nil
	}
	return s.unchecked
}

// Check tells whether an input satisfies the schema, as an [*InputError] where it
// does not. An absent input is checked as null. Nothing is changed: what the check
// decodes, numbers with all their digits, is thrown away.
//
// A check is bounded, whatever the schema and the input are: what nests deeper than
// 1000 levels, holds a number of more than 1000 digits or takes too many steps, about
// a second's worth, is refused with an error that says so.
func (s *Schema) Check(input json.RawMessage) error {
	if s == nil || s.doc == nil {
		return nil
	}
	var v any
	if len(bytes.TrimSpace(input)) > 0 {
		var err error
		if v, err = decodeJSON(input); err == nil {
			err = boundInput(v)
		}
		if err != nil {
			return &InputError{Problems: []string{err.Error()}}
		}
	}
	c, err := s.borrow()
	if err != nil {
		return err
	}
	defer s.giveBack(c)
	return c.check(v)
}

// borrow takes an idle checker, or makes one.
func (s *Schema) borrow() (*checker, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	return s.compile()
}

func (s *Schema) giveBack(c *checker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) < maxIdle {
		s.idle = append(s.idle, c)
	}
}

// compile makes a checker.
func (s *Schema) compile() (*checker, error) {
	c := &checker{patterns: map[string]*pattern{}}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nil)
	compiler.UseRegexpEngine(c.pattern)
	if err := compiler.AddResource(baseURL, s.doc); err != nil {
		return nil, err
	}
	root, err := compiler.Compile(baseURL)
	if c.instructions > maxInstructions {
		return nil, errPatterns
	}
	if err != nil {
		return nil, schemaProblem(err, s.doc)
	}
	c.root = root
	all := []*jsonschema.Schema{root}
	for _, pointer := range s.anchored {
		// What is no schema where it stands, as in a "const", compiles or not: it
		// is not used.
		if one, err := compiler.Compile(baseURL + "#" + pointer); err == nil {
			all = append(all, one)
		}
	}
	return c, c.meter(all)
}

// InputError tells that an input is not what a schema asks for.
type InputError struct {
	// Problems say where and what was expected, e.g. "/name: expected a string,
	// found null"; at most three, in the order of their places. They repeat names
	// of members, but no values.
	Problems []string
	// More counts the other problems.
	More int
}

// Error lists the problems on one line. What they are about, whoever asked says.
func (e *InputError) Error() string {
	text := strings.Join(e.Problems, "; ")
	if e.More > 0 {
		text += fmt.Sprintf("; and %d more", e.More)
	}
	return text
}

// errSteps is what a check that takes too long answers.
var errSteps = errors.New("it takes too long to check: expected less data, or a schema with fewer alternatives")
