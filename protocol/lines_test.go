package protocol

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestMisframed_tellsPrintsFromMistakes(t *testing.T) {
	const frame = `{"f":1}`
	length := func(data []byte) int {
		if bytes.HasPrefix(data, []byte(frame)) {
			return len(frame)
		}
		return 0
	}
	for in, want := range map[string]string{
		"CONTENT-length: 9":         "a Content-Length header",
		"{ in front " + frame:       "text in front of a frame",
		frame + "behind":            "more behind a frame",
		"a print":                   "",
		"a print of " + frame + ".": "",
		`"text"`:                    "",
		"":                          "",
	} {
		got := Misframed([]byte(in), `{"f"`, length)
		require.True(t, strings.HasPrefix(got, want) && (want == "") == (got == ""), "%s: %s", in, got)
	}
}

func TestStrayText_isBoundedAndText(t *testing.T) {
	require.Equal(t, "a\ufffd", StrayText([]byte("a\xff")))
	long := StrayText([]byte(strings.Repeat("日", MaxStray)))
	require.LessOrEqual(t, len(long), MaxStray)
	require.Greater(t, len(long), MaxStray-utf8.UTFMax)
	require.True(t, utf8.ValidString(long))
}

func TestIsBlank_isJavaScriptsTrim(t *testing.T) {
	require.Equal(t, "x\u0085", strings.TrimFunc(" \t\ufeff\u2028\u00a0x\u0085\v", IsBlank))
}
