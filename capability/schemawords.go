package capability

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxShown bounds, in bytes, what a message repeats of a name, a place or what a
// schema lists.
const maxShown = 100

var typeNames = map[string]string{
	"null": "null", "boolean": "a boolean", "number": "a number", "integer": "a whole number",
	"string": "a string", "array": "an array", "object": "an object",
}

// wordsOf says what a keyword expects. Of the value that is there it says nothing.
func wordsOf(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Enum:
		return "expected " + oneOf(k.Want) + ", found " + other(k.Got, k.Want)
	case *kind.Const:
		want := []any{k.Want}
		return "expected " + oneOf(want) + ", found " + other(k.Got, want)
	case *kind.Pattern:
		return "expected a string that matches " + shownText(k.Want)
	case *kind.FalseSchema:
		return "is not allowed: remove it"
	case *kind.Not:
		return `is what "not" rules out`
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal: expected all to differ", k.Duplicates[0], k.Duplicates[1])
	case *kind.AdditionalItems:
		return fmt.Sprintf("expected %d fewer items", k.Count)
	case *kind.Contains:
		return `expected an item as "contains" has it`
	case *kind.MinContains:
		return fmt.Sprintf(`expected at least %d items as "contains" has them`, k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf(`expected at most %d items as "contains" has them`, k.Want)
	case *kind.RefCycle:
		return "the schema refers to itself without end"
	}
	return boundWords(k)
}

// boundWords is wordsOf for the keywords that compare numbers.
func boundWords(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("expected at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("expected at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("expected at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("expected at most %d items", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("expected at least %d members", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("expected at most %d members", k.Want)
	case *kind.Minimum:
		return "expected at least " + decimal(k.Want)
	case *kind.Maximum:
		return "expected at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "expected more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "expected less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "expected a multiple of " + decimal(k.Want)
	}
	return "does not satisfy " + strings.Join(k.KeywordPath(), "/")
}

// decimal writes a number with all its digits, which end as those of JSON do.
func decimal(r *big.Rat) string {
	digits, _ := r.FloatPrec()
	return clip(r.FloatString(digits))
}

// oneOf lists what a schema allows.
func oneOf(values []any) string {
	var list strings.Builder
	for i, v := range values {
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString(jsonText(v))
		if list.Len() > maxShown {
			break
		}
	}
	if len(values) == 1 {
		return clip(list.String())
	}
	return "one of " + clip(list.String())
}

// other says of which type a value is, which none of those wanted is equal to.
func other(v any, wanted []any) string {
	name := typeNames[typeOf(v)]
	alike := func(one any) bool { return typeOf(one) == typeOf(v) }
	if bare, ok := strings.CutPrefix(strings.Replace(name, "an ", "a ", 1), "a "); ok && slices.ContainsFunc(wanted, alike) {
		return "another " + bare
	}
	return name
}

// typeOf returns the type of a decoded value.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// jsonText returns a value that came from JSON as JSON.
func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // it came from JSON
	return strings.TrimSpace(b.String())
}

// place returns where a problem is, for the front of a message.
func place(pointer string) string {
	if pointer == "" {
		return ""
	}
	return clip(pointer) + ": "
}

// shownText returns a name for a message: quoted, and cut when it is long.
func shownText(text string) string {
	if len(text) > maxShown {
		return strconv.Quote(strings.ToValidUTF8(text[:maxShown], "")) + "…"
	}
	return strconv.Quote(text)
}

// clip returns text for a message: on one line, and cut when it is long.
func clip(text string) string {
	more := ""
	if len(text) > maxShown {
		text, more = strings.ToValidUTF8(text[:maxShown], ""), "…"
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		quoted := strconv.Quote(text)
		text = quoted[1 : len(quoted)-1]
	}
	return text + more
}
