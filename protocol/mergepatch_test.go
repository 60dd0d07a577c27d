package protocol

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMergePatch(t *testing.T) { // the cases of RFC 7396
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a:":1}`, `{ "a:" : null , "b" : {"c":{}} }`, `{"b":{"c":{}}}`},
		{``, `{"n":12345678901234567890}`, `{"n":12345678901234567890}`},
	} {
		require.JSONEq(t, c[2], string(MergePatch(json.RawMessage(c[0]), json.RawMessage(c[1]))), c)
	}
	require.Equal(t, `{"n":12345678901234567890}`, string(MergePatch(nil, json.RawMessage(`{"n":12345678901234567890}`))), "digits stay")
	require.Equal(t, `{"a":{"z":[1,{"y":2,"b":3}]},"k\"\u003c":{"z":1,"a":2},"n":{}}`, string(MergePatch(
		json.RawMessage(`{"k\"<": {"z":1, "a":2}, "a": {"z": [1, {"y":2,"b":3}], "g": 1}, "n": [1]}`),
		json.RawMessage(` {"a": {"g": null}, "n": {"x": null}}`))), "what is not touched is as it was, but for white space")
	for _, none := range []string{``, `null`, `{"a"`, strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001)} {
		require.Equal(t, none, string(MergePatch(json.RawMessage(`{"a":1}`), json.RawMessage(none))))
		require.Equal(t, `{"b":1}`, string(MergePatch(json.RawMessage(none), json.RawMessage(`{"b":1}`))))
	}
}

// What nests deep is not copied once for each level.
func TestMergePatch_deep(t *testing.T) {
	const depth, leaf = 500, 64 << 10
	deep := func(c string) json.RawMessage {
		return json.RawMessage(strings.Repeat(`{"a":`, depth) + `"` + strings.Repeat(c, leaf) + `"` + strings.Repeat("}", depth))
	}
	target, patch := deep("t"), deep("p")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	merged := MergePatch(target, patch)
	runtime.ReadMemStats(&after)
	require.Equal(t, string(patch), string(merged))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
}
