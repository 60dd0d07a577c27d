package protocol

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidation_isBounded(t *testing.T) {
	long := strings.Repeat("ä", MaxReason)
	v := Validation{Note: long}
	for range MaxReasons + 5 {
		v.Missing, v.Warnings = append(v.Missing, long), append(v.Warnings, "w")
		v.Invalid = append(v.Invalid, ConfigProblem{Path: long, Reason: long})
	}
	v = v.Bounded()
	require.Len(t, v.Missing, MaxReasons)
	require.Len(t, v.Warnings, MaxReasons)
	require.Len(t, v.Invalid, MaxReasons)
	for _, text := range []string{v.Note, v.Missing[0], v.Invalid[0].Path, v.Invalid[0].Reason} {
		require.LessOrEqual(t, len(text), MaxReason+len("…"))
	}
	require.Equal(t, Validation{Asked: true}, Validation{Asked: true}.Bounded())
}

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
		{``, `{"n":12345678901234567890}`, `{"n":12345678901234567890}`},
	} {
		require.JSONEq(t, c[2], string(MergePatch(json.RawMessage(c[0]), json.RawMessage(c[1]))), c)
	}
	require.Equal(t, `{"n":12345678901234567890}`, string(MergePatch(nil, json.RawMessage(`{"n":12345678901234567890}`))), "digits stay")
}
