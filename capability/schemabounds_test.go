package capability

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// many joins what make returns for 0 to n-1.
func many(n int, one func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = one(i)
	}
	return strings.Join(list, ",")
}

// nested is a value of so many levels.
func nested(open string, n int, end string) string {
	return strings.Repeat(open, n) + "5" + strings.Repeat(end, n)
}

func TestCompileSchema_boundsTheSchema(t *testing.T) {
	long := `{"title": "` + strings.Repeat("x", MaxSchema-13) + `"}`
	compiled(t, long)
	wantRefused(t, long+" ", "it is 1048577 bytes long: at most 1048576 are allowed")

	flat := func(n int) string {
		return `{"properties": {` + many(n, func(i int) string { return fmt.Sprintf(`"p%d": true`, i) }) + `}}`
	}
	compiled(t, flat(MaxSubschemas-2)) // but for the root, and what holds them
	wantRefused(t, flat(MaxSubschemas-1), "it holds more than 3000 schemas: simplify it")

	wantRefused(t, `{"`+strings.Repeat("x", 2000)+`": {`+many(1100, func(i int) string { return fmt.Sprintf(`"p%d": true`, i) })+`}}`,
		"its names are too long for how deep it is: shorten them, or flatten it")

	deep := func(n int) string { return strings.Repeat(`{"not":`, n-1) + "true" + strings.Repeat("}", n-1) }
	compiled(t, deep(maxSchemaDepth))
	_, err := CompileSchema(json.RawMessage(deep(maxSchemaDepth + 1)))
	require.ErrorContains(t, err, "it is nested deeper than 128 levels: flatten it")
}

func TestCompileSchema_boundsNumbers(t *testing.T) {
	const modest = "expected a number of at most 1000 digits, and an exponent of at most 1000"
	wantRefused(t, `{"maximum": 1e1001}`, "/maximum: "+modest)
	wantRefused(t, `{"enum": [1, -1E-1001]}`, "/enum/1: "+modest)
	wantRefused(t, `{"const": 1e99999999999999999999}`, "/const: "+modest)
	wantRefused(t, `{"properties": {"a/b": {"const": `+strings.Repeat("1", 1001)+`}}}`, "/properties/a~1b/const: "+modest)
	compiled(t, `{"enum": [1e1000, -1E-1000, `+strings.Repeat("1", 1000)+`]}`)

	wantRefused(t, `{"items": {"minLength": 18446744073709551616}}`, "/items/minLength: expected a number below 2147483648: leave it out")
	wantInput(t, `{"maxLength": 2147483647}`, `"x"`, "")
}

func TestSchema_boundsTheInput(t *testing.T) {
	wantInput(t, `{"type": "array"}`, nested("[", maxInputDepth-1, "]"), "")
	err := compiled(t, `{"type": "array"}`).Check(json.RawMessage(nested("[", maxInputDepth, "]")))
	require.ErrorContains(t, err, "it is nested deeper than 1000 levels: flatten it")

	const modest = "expected a number of at most 1000 digits, and an exponent of at most 1000"
	wantInput(t, greeting, `{"name": "a", "times": [1e1001]}`, "/times/0: "+modest)
	wantInput(t, `{"minimum": 5}`, `1e1000`, "")
	wantInput(t, `{"uniqueItems": true}`, `[`+strings.Repeat("1e999,", 30)+`1e2000]`, "/30: "+modest)
}
