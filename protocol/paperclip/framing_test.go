package paperclip

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFault_tellsMistakesOfFraming(t *testing.T) {
	const frame = `{"jsonrpc":"2.0","id":1,"result":null}`
	for in, fault := range map[string]string{
		"Content-Length: 38":                 "a Content-Length header",
		"content-length:38":                  "a Content-Length header",
		"Loading..." + frame:                 "text in front of a frame",
		"a { b " + frame:                     "text in front of a frame",
		"1 " + frame:                         "text in front of a frame",
		frame + frame:                        "more behind a frame on its line",
		frame + " done":                      "more behind a frame on its line",
		"plain text":                         "",
		"{ not json":                         "",
		frame[:20]:                           "",
		"[" + frame + "]":                    "",
		`{"level":"info","f":` + frame + `}`: "",
		`"` + strings.ReplaceAll(frame, `"`, `\"`) + `"`: "",
		"sent " + frame + " to the host":                 "",
		"1 2 3":                                          "",
	} {
		u, ok := decode(t, []byte(in)).(Unreadable)
		require.True(t, ok, in)
		require.True(t, strings.HasPrefix(u.Fault, fault) && (fault == "") == (u.Fault == ""), "%s: %s", in, u.Fault)
	}
}
