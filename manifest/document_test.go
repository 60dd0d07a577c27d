package manifest

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// decodeText decodes a text and returns which members appear twice.
func decodeText(data string) (v value, twice []string, err error) {
	v, err = decode([]byte(data), func(at fieldPath, _ int) { twice = append(twice, string(at)) })
	return v, twice, err
}

func TestDecode_keepsOrderNamesAndText(t *testing.T) {
	v, twice, err := decodeText(" {\"b\": [1e0, \"x\\u0041\", {}], \"B\" :\n null, \"a\":true}\n")
	require.NoError(t, err)
	require.Empty(t, twice)

	require.Equal(t, object, v.kind)
	require.Equal(t, `{"b": [1e0, "x\u0041", {}], "B" :`+"\n"+` null, "a":true}`, string(v.raw))
	var names []string
	for _, m := range v.members {
		names = append(names, m.name+" "+string(m.value.kind)+" "+string(m.value.raw))
	}
	require.Equal(t, []string{`b an array [1e0, "x\u0041", {}]`, "B null null", "a a boolean true"}, names)
	items := v.members[0].value.items
	require.Equal(t, "1e0", string(items[0].raw))
	require.Equal(t, "xA", items[1].text)
	require.Equal(t, object, items[2].kind)
}

func TestDecode_namesMembersThatAppearTwice(t *testing.T) {
	v, twice, err := decodeText(`{"a": 1, "b": [{"c": 1, "c": 2}], "a": {"d": 1, "d": 2}, "A": 3, "a": 4}`)
	require.NoError(t, err)
	require.Equal(t, []string{"b[0].c", "a.d", "a", "a"}, twice)
	first, _ := v.get("a")
	require.Equal(t, "1", string(first.raw))
}

func TestDecode_saysWhatIsNotJSON(t *testing.T) {
	for name, row := range map[string]struct{ data, want string }{
		"empty":          {"", "expected a JSON object, found an empty file"},
		"blank":          {" \n", "expected a JSON object, found an empty file"},
		"only a mark":    {"\ufeff", "expected a JSON object, found an empty file"},
		"cut":            {"{\"a\":\n [1,", "line 2, column 5: the JSON ends in the middle: a closing bracket or quote is missing"},
		"cut string":     {`{"a`, "line 1, column 4: the JSON ends in the middle: a closing bracket or quote is missing"},
		"comma":          {"{\n  \"é\": 1,\n}", "line 3, column 1: not valid JSON: "},
		"columns":        {`{"éé": x}`, "line 1, column 8: not valid JSON: "},
		"mark":           {"\ufeff{x", "line 1, column 2: not valid JSON: "},
		"comment":        {"// hello\n{}", "line 1, column 1: not valid JSON: "},
		"single quotes":  {`{'a': 1}`, "line 1, column 2: not valid JSON: "},
		"number":         {`{"a": 01}`, "line 1, column 8: not valid JSON: "},
		"more":           {"{}\n {}", "line 2, column 2: expected the file to end behind its JSON object, found more: remove it"},
		"a letter more":  {"{}x", "line 1, column 3: expected the file to end behind its JSON object, found more: remove it"},
		"NUL more":       {"{}\x00", "line 1, column 3: expected the file to end behind its JSON object, found more: remove it"},
		"invalid UTF-8":  {"{\n\"\xff\": 1}", "line 2, column 2: expected UTF-8, found the byte 0xff: save the file as UTF-8"},
		"Latin-1":        {"{\"caf\xe9\": 1}", "line 1, column 6: expected UTF-8, found the byte 0xe9: save the file as UTF-8"},
		"too deep":       {strings.Repeat("[", 65) + strings.Repeat("]", 65), "line 1, column 65: nested deeper than 64 levels: flatten it"},
		"deeper":         {strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "line 1, column 10001: not valid JSON: "},
		"UTF-16 LE mark": {"\xff\xfe" + utf16Text("{}", false), "expected UTF-8, found UTF-16 (little endian): save the file as UTF-8"},
		"UTF-16 BE mark": {"\xfe\xff" + utf16Text("{}", true), "expected UTF-8, found UTF-16 (big endian): save the file as UTF-8"},
		"UTF-16 LE":      {utf16Text("{}", false), "expected UTF-8, found UTF-16 (little endian): save the file as UTF-8"},
		"UTF-16 BE":      {utf16Text("{}", true), "expected UTF-8, found UTF-16 (big endian): save the file as UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := decodeText(row.data)
			if strings.HasSuffix(row.want, " ") {
				require.ErrorContains(t, err, row.want, "encoding/json's own words follow")
				return
			}
			require.EqualError(t, err, row.want)
		})
	}
}

// utf16Text returns ASCII text as UTF-16.
func utf16Text(s string, big bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		pair := []byte{byte(unit), byte(unit >> 8)}
		if big {
			pair[0], pair[1] = pair[1], pair[0]
		}
		b.Write(pair)
	}
	return b.String()
}

func TestDecode_takesAByteOrderMark(t *testing.T) {
	v, _, err := decodeText("\ufeff{\"a\": \"b\"}")
	require.NoError(t, err)
	require.Equal(t, `{"a": "b"}`, string(v.raw))
}

func TestDecode_takesTheDeepestAllowed(t *testing.T) {
	_, _, err := decodeText(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth))
	require.NoError(t, err)
}

func TestValue_found(t *testing.T) {
	for data, want := range map[string]string{
		`null`:                               "null",
		`true`:                               "a boolean, true",
		`5`:                                  "a number, 5",
		`"v2"`:                               `"v2"`,
		`[1]`:                                "an array",
		`{}`:                                 "an object",
		`"` + strings.Repeat("x", 100) + `"`: `"` + strings.Repeat("x", maxQuoted) + `"…`,
		strings.Repeat("1", 100):             "a number, " + strings.Repeat("1", maxQuoted) + "…",
	} {
		v, _, err := decodeText(data)
		require.NoError(t, err)
		require.Equal(t, want, v.found())
	}
}
