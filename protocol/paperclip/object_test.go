package paperclip

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachMember_readsInOrder(t *testing.T) {
	var seen []string
	require.True(t, eachMember([]byte(` { "a" : 1 , "\u0062":{"x":[]},"a":"z" } `), func(key string, value json.RawMessage) {
		seen = append(seen, key+"="+string(value))
	}))
	require.Equal(t, []string{"a=1", `b={"x":[]}`, `a="z"`}, seen)
}

func TestEachMember_refusesWhatIsNoObject(t *testing.T) {
	for _, in := range []string{``, `1`, `[]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":x}`, `{"a" 1}`, `{a:1}`, `null`} {
		require.False(t, eachMember([]byte(in), func(string, json.RawMessage) {}), in)
	}
	require.True(t, eachMember([]byte(`{}`), func(string, json.RawMessage) {}))
}

func TestEachItem_readsInOrder(t *testing.T) {
	var seen []string
	require.True(t, eachItem([]byte(`[1, "a",{"b":[2]} ]`), func(value json.RawMessage) { seen = append(seen, string(value)) }))
	require.Equal(t, []string{`1`, `"a"`, `{"b":[2]}`}, seen)
	require.True(t, eachItem([]byte(` [ ]`), func(json.RawMessage) {}))
	for _, in := range []string{``, `{}`, `[`, `[1`, `[1,`, `[1,]`, `[1 2]`, `null`} {
		require.False(t, eachItem([]byte(in), func(json.RawMessage) {}), in)
	}
}

func TestMember_takesTheLastAndTheExactOne(t *testing.T) {
	require.Equal(t, `2`, string(member([]byte(`{"a":1,"A":3,"a":2}`), "a")))
	require.Nil(t, member([]byte(`{"A":3}`), "a"))
	require.Nil(t, member(nil, "a"))
}

func TestNonBlank(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`: "a", `"  a b "`: "a b", `"\ufeff\u00a0a"`: "a", `"   "`: "", `""`: "", `7`: "", `null`: "", `["a"]`: "", ``: "",
	} {
		require.Equal(t, want, nonBlank([]byte(in)), in)
	}
}

func TestTruthy(t *testing.T) {
	for in, want := range map[string]bool{
		``: false, `null`: false, `false`: false, `0`: false, `-0`: false, `""`: false,
		`true`: true, `1`: true, `"0"`: true, `{}`: true, `[]`: true,
	} {
		require.Equal(t, want, truthy([]byte(in)), in)
	}
}

func TestObject_leavesOutWhatIsAbsent(t *testing.T) {
	require.Equal(t, `{}`, string(newObject().raw("a", nil).optional("b", "").done()))
	o := newObject().str("a", "1").raw("b", json.RawMessage("null"))
	require.Equal(t, `{"a":"1","b":null,"c":3}`, string(o.join(newObject().raw("c", json.RawMessage("3"))).done()))
	require.Equal(t, `{"c":3}`, string(newObject().join(newObject().raw("c", json.RawMessage("3"))).done()))
	require.Equal(t, `{"a":"1"}`, string(newObject().str("a", "1").join(newObject()).done()))
}

// stringsOf are strings with everything that is special in one.
var stringsOf = []string{
	"", "plain", `"quoted" \ back`, "<a href='x'>&</a>", "tab\tnl\ncr\rbs\bff\f", "\x00\x01\x1f\x7f",
	"häß 😀", "\u2028\u2029", "bad \xff utf-8 \xc3", "\ufffd", "end\\",
}

func TestAppendString_writesLikeJavaScript(t *testing.T) {
	require.Equal(t, `"<a href='x'>&</a>"`, string(quote(stringsOf[3])))
	require.Equal(t, `"tab\tnl\ncr\rbs\bff\f"`, string(quote(stringsOf[4])))
	require.Equal(t, "\"\\u0000\\u0001\\u001f\x7f\"", string(quote(stringsOf[5])))
	require.Equal(t, `"häß 😀"`, string(quote(stringsOf[6])))
	require.Equal(t, `"\u2028\u2029"`, string(quote(stringsOf[7])))
	require.Equal(t, `"bad \ufffd utf-8 \ufffd"`, string(quote(stringsOf[8])))
}

func FuzzAppendString(f *testing.F) {
	for _, s := range stringsOf {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got, want string
		literal := quote(s)
		require.NoError(t, json.Unmarshal(literal, &got))
		standard, err := json.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(standard, &want))
		require.Equal(t, want, got)
		require.Equal(t, want, unquote(literal))
		require.False(t, bytes.ContainsAny(literal, "\n\r\u2028\u2029"))
	})
}
