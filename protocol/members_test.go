package protocol

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestMembers_findsWhatIsThere(t *testing.T) {
	const object = ` { "a" : "x\"}" , "b":{"c":[1,{"d":"]"}]},"n":-1.5e3 ,"e\u0066":null,"":[],"a":true }`
	want := [][2]string{
		{"a", `"x\"}"`}, {"b", `{"c":[1,{"d":"]"}]}`}, {"n", `-1.5e3`}, {"ef", `null`}, {"", `[]`}, {"a", `true`},
	}
	var got [][2]string
	EachMember([]byte(object), func(key, value []byte) { got = append(got, [2]string{string(key), string(value)}) })
	require.Equal(t, want, got)
	for _, none := range []string{``, ` `, `{}`, ` { } `, `[]`, `7`, `"x"`} {
		EachMember([]byte(none), func(key, _ []byte) { t.Errorf("%s has a member %q", none, key) })
	}
}

// A text is looked at once, however many escapes it has: else this would take minutes.
func TestMembers_areFoundBehindAnyNumberOfEscapes(t *testing.T) {
	for _, escape := range []string{`\n`, `\"`, `\\`, `\u000a`} {
		text := `"` + strings.Repeat(escape, 2<<20) + `"`
		found := 0
		EachMember([]byte(`{"a":`+text+`,"b":`+text+`}`), func(_, value []byte) {
			found++
			require.Len(t, value, len(text))
		})
		require.Equal(t, 2, found)
	}
}

// FuzzMembers: of valid JSON it finds what encoding/json finds, and of anything else
// it finds an end.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, `{"a":"\\","b":"\\\""}`, `{"a":{"b":[{},[]]},"c":" "}`, `{"a`, `{"a":`, `{"a":"`, `{"a":1]`, `{"a"}`, "{\"a\":\"\\", `{"\ud800":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]json.RawMessage{}
		EachMember(data, func(key, value []byte) { got[string(key)] = value })
		var want map[string]json.RawMessage
		if !utf8.Valid(data) || json.Unmarshal(data, &want) != nil || want == nil {
			return // a codec makes it valid
		}
		require.Equal(t, want, got)
	})
}

func TestEachItem_findsWhatIsThere(t *testing.T) {
	for array, want := range map[string][]string{
		` [ 1 , "a,]" ,{"b":[2]},[ ] ] `: {`1`, `"a,]"`, `{"b":[2]}`, `[ ]`},
		`[]`:                             nil,
		`[ ]`:                            nil,
		`{"a":1}`:                        nil,
		``:                               nil,
		`[1,`:                            {`1`},
	} {
		var got []string
		EachItem([]byte(array), func(value []byte) { got = append(got, string(value)) })
		require.Equal(t, want, got, array)
	}
}

// FuzzTextOf: of a literal it says what encoding/json says.
func FuzzTextOf(f *testing.F) {
	for _, seed := range []string{
		`""`, `"a"`, `"{\"a\":\"b\"}"`, `"\b\f\n\r\t\/\\"`, `"\u0041\n"`, `"\ud83d\ude00\t"`, `"\ud800\t"`, `"é\n"`, `"\"`, `"\`, `"a\"b`, `"\x"`, "\"\n\\n\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := TextOf(data)
		var want string
		if !utf8.Valid(data) || len(data) == 0 || data[0] != '"' || json.Unmarshal(data, &want) != nil {
			return // a codec makes it valid
		}
		if end := stringEnd(data, 0); end+1 < len(data) { // white space behind it
			return
		}
		require.Equal(t, want, string(got))
	})
}
