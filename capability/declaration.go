package capability

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DeclarationError tells that a schema can be read, and that no input of its
// capability's kind could satisfy it.
type DeclarationError struct {
	// At is where in the schema, as a JSON pointer.
	At string
	// Wanted are the types that the kind's input has there, Found those that the
	// schema admits; none is "nothing".
	Wanted, Found string
}

// Error says where, what the kind has there, and what the schema admits.
func (e *DeclarationError) Error() string {
	return fmt.Sprintf("schema: %sexpected one that admits %s, found one for %s", place(e.At), e.Wanted, e.Found)
}

// CompileDeclared reads the schema that a plugin declares for its inputs, as
// [CompileSchema] does, and holds it to what the capability's kind takes, a schema too:
// where both say which types a value has, they must have one in common, or it fails
// with a [*DeclarationError]. Looked at are types and properties, also within "allOf";
// what a "$ref" or an alternative leads to is not.
func CompileDeclared(kind, declared json.RawMessage) (*Schema, error) {
	s, err := CompileSchema(declared)
	if err != nil || s.doc == nil {
		return s, err
	}
	takes, err := decodeJSON(kind)
	if err != nil {
		return nil, fmt.Errorf("the kind's schema: %w", err)
	}
	if err := fits(takes, s.doc, ""); err != nil {
		return nil, err
	}
	return s, nil
}

// fits compares a kind's schema with a declared one at the same place. How deep the
// declared one may nest is bound already.
func fits(kind, declared any, at string) error {
	takes, _ := kind.(map[string]any)
	wanted := typesOf(takes)
	if declared == false && wanted != nil {
		return &DeclarationError{At: at, Wanted: typeList(wanted), Found: "nothing"}
	}
	says, _ := declared.(map[string]any)
	if found := typesOf(says); wanted != nil && found != nil && !slices.ContainsFunc(found, admitted(wanted)) {
		return &DeclarationError{At: at + "/type", Wanted: typeList(wanted), Found: typeList(found)}
	}
	members, _ := takes["properties"].(map[string]any)
	declares, _ := says["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		one, declared := declares[name]
		if !declared {
			continue
		}
		if err := fits(members[name], one, at+"/properties/"+escapeToken(name)); err != nil {
			return err
		}
	}
	parts, _ := says["allOf"].([]any)
	for i, part := range parts {
		if err := fits(kind, part, fmt.Sprintf("%s/allOf/%d", at, i)); err != nil {
			return err
		}
	}
	return nil
}

// typesOf returns the types that a schema names, nil for none.
func typesOf(schema map[string]any) []string {
	switch types := schema["type"].(type) {
	case string:
		return []string{types}
	case []any:
		var names []string
		for _, one := range types {
			name, _ := one.(string)
			names = append(names, name)
		}
		return names
	}
	return nil
}

// admitted tells whether a type is one of some. Null is left out: it stands for no
// value at all.
func admitted(some []string) func(string) bool {
	return func(name string) bool {
		if name == "null" && len(some) > 1 {
			return false
		}
		return slices.Contains(some, name) || name == "number" && slices.Contains(some, "integer")
	}
}

func typeList(types []string) string {
	var names []string
	for _, name := range types {
		if name != "null" || len(types) == 1 {
			names = append(names, typeNames[name])
		}
	}
	return strings.Join(names, " or ")
}
