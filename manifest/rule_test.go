package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wantRule checks a text against a rule and compares what is wrong.
func wantRule(t *testing.T, x rule, data string, want ...string) {
	t.Helper()
	root, _, err := decodeText(data)
	require.NoError(t, err)
	r := &reader{}
	x.check(r, "at", root)
	require.Equal(t, append([]string{}, want...), withoutFile(r.problems), data)
}

func TestRule_chars(t *testing.T) {
	wantRule(t, chars(0, 0), `""`)
	wantRule(t, chars(0, 0), `1`, "at: expected a string, found a number, 1")
	wantRule(t, chars(1, 2), `"😀é"`)
	wantRule(t, chars(1, 2), `"😀éa"`, "at: expected at most 2 characters, found 3: shorten it")
	wantRule(t, chars(1, 2), `""`, `at: expected a string of 1 to 2 characters, found ""`)
	wantRule(t, chars(0, 2), `null`, `at: expected a string of at most 2 characters, found null`)
}

func TestRule_likeAndBut(t *testing.T) {
	x := like("letters", `^[a-z]+$`, 3).but("another word", func(s string) bool { return s != "no" })
	wantRule(t, x, `"yes"`)
	wantRule(t, x, `"no"`, `at: expected another word, found "no"`)
	wantRule(t, x, `"long"`, `at: expected at most 3 characters, found 4: shorten it`)
	wantRule(t, x, `"no\n"`, `at: expected letters, found "no\n"`)
	wantRule(t, x.trimmed(), `" no\n"`, `at: expected another word, found "no"`)
	wantRule(t, x.orNull(), `null`)
	wantRule(t, x.orNull(), `[]`, `at: expected letters, found an array`)
}

func TestRule_words(t *testing.T) {
	wantRule(t, oneOf("a"), `"b"`, `at: expected "a", found "b"`)
	wantRule(t, oneOf("a", `"`), `["a"]`, `at: expected one of "a", "\"", found an array`)
	many := oneOfMany("a color", []string{"orange", "violet"})
	wantRule(t, many, `"violet"`)
	wantRule(t, many, `"ornge"`, `at: expected a color, found "ornge": did you mean "orange"?`)
	wantRule(t, many, `"`+strings.Repeat("x", 100)+`"`, `at: expected a color, found "`+strings.Repeat("x", 60)+`"…: remove it`)
}

func TestRule_wholeNumber(t *testing.T) {
	wantRule(t, wholeNumber(1, 5), `5.0`)
	for _, data := range []string{"0", "6", "1.5"} {
		wantRule(t, wholeNumber(1, 5), data, "at: expected a whole number from 1 to 5, found a number, "+data)
	}
}

func TestRule_each(t *testing.T) {
	x := each(anyBoolean, 1, 2)
	wantRule(t, x, `[true, false]`)
	wantRule(t, x, `{}`, "at: expected an array, found an object")
	wantRule(t, x, `[]`, "at: expected at least 1 item, each true or false, found none")
	wantRule(t, x, `[true, 1, 2]`, "at: expected at most 2 items, found 3: remove some",
		"at[1]: expected true or false, found a number, 1", "at[2]: expected true or false, found a number, 2")
	wantRule(t, eachMember(anyObject), `{"a": {}, "b": 1}`, "at.b: expected an object, found a number, 1")
	wantRule(t, eachMember(anyObject), `[]`, "at: expected an object, found an array")
}
