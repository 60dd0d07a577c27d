package services

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An answer is written as encoding/json writes it, but for what that escapes for web pages.
func TestFetched_isWrittenAsJSON(t *testing.T) {
	for _, text := range []string{"", `{"a":"<&>"}`, "\x00\b\f\n\r\t\x1f\x7f", `"\`, "é日😀\u2028\u2029\ufffd", "\xff\xc3"} {
		for _, one := range []fetched{
			{Status: http.StatusOK, StatusText: text, Headers: map[string]string{"b": text, "a": "1", text: "x"}, Body: &text},
			{Status: http.StatusNoContent, Headers: map[string]string{}},
		} {
			require.Equal(t, string(encode(one)), string(one.raw()))
		}
	}
}

func TestParams_shortAndLongObjectsInsideAreReadAlike(t *testing.T) {
	for _, members := range []string{`"a":"1","\u0061":"2","b":null`, `"c":{"d":[1,{}]}`, ``} {
		short := reading(`{"init":{` + members + `}}`).object("init")
		long := reading(`{"init":{` + members + strings.Repeat(" ", shortParams) + `}}`).object("init")
		require.Equal(t, len(long.members), len(short.members))
		for name, value := range long.members {
			require.Equal(t, string(value), string(short.members[name]), name)
		}
	}
}
