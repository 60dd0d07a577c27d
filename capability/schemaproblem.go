package capability

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxProblems is how many problems of an input are told.
const maxProblems = 3

// problem is one thing that is wrong with a document.
type problem struct {
	// at is the place: the names on the way there.
	at   []string
	text string
	// choice is why the alternative that it comes from may not be meant.
	choice choice
	// found and wanted are the types, for a problem with the type.
	found  string
	wanted []string
}

// choice is a reason for which an alternative is not the one that was meant; 0 is
// none.
type choice int

const (
	// choiceType: the value is of another type.
	choiceType choice = iota + 1
	// choiceValue: the value is another than the one, or the few, allowed.
	choiceValue
)

// inputError says what the library found wrong with an input.
func inputError(err error) error {
	var found *jsonschema.ValidationError
	if !errors.As(err, &found) {
		return &InputError{Problems: []string{err.Error()}}
	}
	lines := linesOf(found, "", nil)
	shown := lines[:min(len(lines), maxProblems)]
	return &InputError{Problems: shown, More: len(lines) - len(shown)}
}

// schemaProblem says what the library found wrong with a schema.
func schemaProblem(err error, doc any) error {
	var (
		invalid *jsonschema.SchemaValidationError
		load    *jsonschema.LoadURLError
		pointer *jsonschema.JSONPointerNotFoundError
		anchor  *jsonschema.AnchorNotFoundError
		found   *jsonschema.ValidationError
	)
	switch {
	case errors.As(err, &invalid) && errors.As(invalid.Err, &found):
		lines := linesOf(found, pointerOf(invalid.URL), doc)
		return errors.New(strings.Join(lines[:min(len(lines), maxProblems)], "; "))
	case errors.As(err, &load):
		return loadProblem(load.URL, doc)
	case errors.As(err, &pointer):
		return fmt.Errorf(`"$ref": there is nothing at %s`, shownText(local(pointer.URL)))
	case errors.As(err, &anchor):
		return fmt.Errorf(`"$ref": there is nothing at %s`, shownText(local(anchor.Reference)))
	}
	return errors.New(clip(strings.ReplaceAll(err.Error(), baseURL, "")))
}

// loadProblem is the problem of something outside of the schema that it needs.
func loadProblem(url string, doc any) error {
	members, _ := doc.(map[string]any)
	if draft, _ := members["$schema"].(string); strings.TrimSuffix(draft, "#") == url {
		return fmt.Errorf(`/$schema: expected a draft from draft-04 to 2020-12, found %s: name one, or leave it out for 2020-12`, shownText(draft))
	}
	return fmt.Errorf(`"$ref" to %s: nothing outside of the schema is read: put it into "$defs"`, shownText(local(url)))
}

// local returns a reference as it was written in the schema.
func local(url string) string { return strings.TrimPrefix(url, baseURL) }

// linesOf returns all problems as text in the order of their places, each once. at
// is where the document that was checked lies itself, in doc, if its texts may be shown.
func linesOf(err *jsonschema.ValidationError, at string, doc any) []string {
	problems := problemsOf(err)
	slices.SortStableFunc(problems, func(a, b problem) int {
		if order := slices.Compare(a.at, b.at); order != 0 {
			return order
		}
		return strings.Compare(a.text, b.text)
	})
	var lines []string
	for _, p := range problems {
		where := at + pointerTo(p.at)
		text := p.text
		if found, ok := valueAt(doc, where).(string); ok {
			text, _, _ = strings.Cut(text, ", found ")
			text += ", found " + shownText(found)
		}
		lines = append(lines, place(where)+text)
	}
	return slices.Compact(lines)
}

// valueAt returns what lies in a document at a JSON pointer; nil is nothing.
func valueAt(doc any, pointer string) any {
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		switch v := doc.(type) {
		case map[string]any:
			doc = v[unescapes.Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			doc = v[i]
		default:
			return nil
		}
	}
	return doc
}

// unescapes gives back a name that escapeToken has changed.
var unescapes = strings.NewReplacer("~1", "/", "~0", "~")

// pointerTo returns a JSON pointer.
func pointerTo(at []string) string {
	var b strings.Builder
	for _, name := range at {
		b.WriteString("/" + escapeToken(name))
	}
	return b.String()
}

// problemsOf returns what is wrong, the innermost causes of it.
func problemsOf(err *jsonschema.ValidationError) []problem {
	switch k := err.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		var all []problem
		for _, cause := range err.Causes {
			all = append(all, problemsOf(cause)...)
		}
		return all
	case *kind.AnyOf:
		return nearest(err)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return nearest(err)
		}
		return []problem{{at: err.InstanceLocation, text: "fits two of the alternatives: expected exactly one"}}
	case *kind.Type:
		return []problem{typeProblem(err.InstanceLocation, k.Got, k.Want)}
	case *kind.Required:
		return each(err, k.Missing, "is missing")
	case *kind.Dependency:
		return each(err, k.Missing, "is missing: "+shownText(k.Prop)+" requires it")
	case *kind.DependentRequired:
		return each(err, k.Missing, "is missing: "+shownText(k.Prop)+" requires it")
	case *kind.AdditionalProperties:
		return each(err, k.Properties, "is not known: remove it")
	case *kind.PropertyNames:
		// The library's place is that of whatever it looked at last.
		return []problem{{text: "the name " + shownText(k.Property) + " is not allowed: change it"}}
	case *kind.Enum, *kind.Const:
		return []problem{{at: err.InstanceLocation, text: wordsOf(k), choice: choiceValue}}
	}
	return []problem{{at: err.InstanceLocation, text: wordsOf(err.ErrorKind)}}
}

// each is the same problem with several members.
func each(err *jsonschema.ValidationError, names []string, text string) []problem {
	problems := make([]problem, len(names))
	for i, name := range names {
		problems[i] = problem{at: append(slices.Clone(err.InstanceLocation), name), text: text}
	}
	return problems
}

// nearest returns what is wrong with a value that fits none of several alternatives:
// what is wrong by the one that it was meant for, if that can be told.
func nearest(err *jsonschema.ValidationError) []problem {
	all := make([][]problem, len(err.Causes))
	for i, cause := range err.Causes {
		all[i] = problemsOf(cause)
	}
	if p, ok := otherType(all, len(err.InstanceLocation)); ok {
		return []problem{p}
	}
	for _, worst := range []struct {
		choice choice
		depth  int
	}{{choiceType, 0}, {choiceValue, 1}} {
		all = slices.DeleteFunc(all, func(problems []problem) bool {
			return slices.ContainsFunc(problems, func(p problem) bool {
				return p.choice == worst.choice && len(p.at) <= len(err.InstanceLocation)+worst.depth
			})
		})
		if len(all) == 1 {
			return all[0]
		}
	}
	return []problem{{
		at: err.InstanceLocation, text: fmt.Sprintf("fits none of the %d alternatives", len(err.Causes)), choice: choiceValue,
	}}
}

// otherType is the one problem of a value whose type no alternative takes.
func otherType(all [][]problem, depth int) (problem, bool) {
	var wanted []string
	for _, problems := range all {
		if len(problems) != 1 || problems[0].choice != choiceType || len(problems[0].at) != depth {
			return problem{}, false
		}
		wanted = append(wanted, problems[0].wanted...)
	}
	if len(all) == 0 {
		return problem{}, false
	}
	return typeProblem(all[0][0].at, all[0][0].found, wanted), true
}

func typeProblem(at []string, found string, wanted []string) problem {
	var names []string
	for _, one := range wanted {
		if name := typeNames[one]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return problem{
		at: at, text: fmt.Sprintf("expected %s, found %s", strings.Join(names, " or "), typeNames[found]),
		choice: choiceType, found: found, wanted: wanted,
	}
}
