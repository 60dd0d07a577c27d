package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func whole(s string) bool {
	scan := Scanner{Data: []byte(s)}
	return scan.Whole()
}

// samples are JSON texts and texts that are none, each also cut short and with
// each of its bytes replaced.
var samples = []string{
	`null`, `true`, `false`, `0`, `-0`, `1.5e+10`, `9007199254740993`, `1E-7`, `""`, `"a"`, `[]`, `{}`, `[1,[2,{}],3]`,
	`{"a":1,"b":[true,null],"c":{"d":"e"}}`, ` { "a" : [ 1 , 2 ] } `, "\t[\r\n1]\n",
	`"\u00e9\ud800\"\\\/\b\f\n\r\t"`, `"häß 😀 and some more text than eight bytes"`, `"12345678"`, `"1234567\""`,
	`01`, `+1`, `1.`, `.5`, `1e`, `-`, `nul`, `truee`, `[1,]`, `[,1]`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`,
	`[}`, `{]`, `[1}`, `{"a":1]`, `"\x"`, `"\u12"`, `"\u12g4"`, `"`, `"\`, `1 2`, `{} {}`, `[[[`, ``, ` `,
	"\"a\nb\"", "\"a\x00b and more text here\"", "\"\x1f\"", "\"\x7f\"", "\v1", "{\"a\":1}\x00",
}

func TestScanner_agreesWithTheStandardLibrary(t *testing.T) {
	for _, s := range samples {
		require.Equal(t, json.Valid([]byte(s)), whole(s), "%q", s)
		for i := range len(s) {
			require.Equal(t, json.Valid([]byte(s[:i])), whole(s[:i]), "%q", s[:i])
			for _, c := range []byte("\"\\{}[]:,01e.-+ nu\n\x01\x80") {
				changed := s[:i] + string(rune(c)) + s[i+1:]
				require.Equal(t, json.Valid([]byte(changed)), whole(changed), "%q", changed)
			}
		}
	}
}

func TestScanner_findsTheEndOfAStringAtEveryOffset(t *testing.T) {
	for n := range 40 {
		plain := strings.Repeat("x", n)
		for _, c := range []struct {
			in string
			ok bool
		}{
			{`"` + plain + `"`, true},
			{`"` + plain + `\""`, true},
			{`"` + plain + "\u00e9\"", true},
			{`"` + plain + "\x1f\"", false},
			{`"` + plain, false},
			{`"` + plain + `\`, false},
		} {
			s := Scanner{Data: []byte(c.in + " and more behind it")}
			if !c.ok {
				s.Data = []byte(c.in)
			}
			require.Equal(t, c.ok, s.Value(), "%q", c.in)
			if c.ok {
				require.Equal(t, len(c.in), s.Pos)
			}
		}
	}
}

func TestScanner_knowsNoDepth(t *testing.T) {
	const depth = 200_000
	deep := strings.Repeat(`[{"a":`, depth) + "1" + strings.Repeat("}]", depth)
	require.True(t, whole(deep))
	require.False(t, whole(deep[:len(deep)-1]))
	require.False(t, whole(strings.Replace(deep, "1}", "1]", 1)))
}

func TestScanner_tellsWhatIsAboveASCII(t *testing.T) {
	for s, high := range map[string]bool{
		`{"a":"plain, and long enough"}`: false, `{"a":"ä"}`: true, `{"and long enough ä":1}`: true, `"\u00e9"`: false,
	} {
		scan := Scanner{Data: []byte(s)}
		require.True(t, scan.Whole())
		require.Equal(t, high, scan.High, s)
	}
}

func TestScanner_tellsBrokenLines(t *testing.T) {
	for s, broken := range map[string]bool{
		"[1, 2]": false, "[1,\n2]": true, "[1,\r2]": true, `"\n"`: false, "1\n": true,
	} {
		scan := Scanner{Data: []byte(s)}
		require.True(t, scan.Whole())
		require.Equal(t, broken, scan.Broken, "%q", s)
	}
}

// FuzzScanner compares with the standard library, as far as that one nests.
func FuzzScanner_whole(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 10_000 {
			s := Scanner{Data: data}
			require.Equal(t, json.Valid(data), s.Whole())
		}
	})
}

// FuzzScanner_longTexts puts what it likes anywhere in a text that is looked through in
// windows.
func FuzzScanner_longTexts(f *testing.F) {
	for _, what := range []string{`\"`, `\\`, `"`, `\`, "\x1f", "\x7f", "é", `\u00e9`, `\u00`, `",1`, "\x00\xff", `\"\"\"`} {
		for _, before := range []uint16{0, 55, 63, 64, 65, 319, 320, 321, 575, 576} {
			f.Add(before, uint16(300), []byte(what))
		}
	}
	f.Fuzz(func(t *testing.T, before, behind uint16, what []byte) {
		if len(what) > 2048 {
			return
		}
		data := slices.Concat([]byte(`["`), bytes.Repeat([]byte("x"), int(before)%2048), what, bytes.Repeat([]byte("y"), int(behind)%2048), []byte(`"]`))
		s := Scanner{Data: data}
		require.Equal(t, json.Valid(data), s.Whole())
		if s.Pos == len(data) && !s.High {
			require.Equal(t, -1, bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf }))
		}
		if end := quoteOrSlash(data, 2); end < len(data) {
			require.Equal(t, 2+bytes.IndexAny(data[2:], `"\`), end)
		}
		if !utf8.Valid(data) || !json.Valid(data) {
			return
		}
		var list []string
		if json.Unmarshal(data, &list) != nil || len(list) != 1 {
			return
		}
		literal := data[1 : len(data)-1]
		require.Equal(t, len(literal)-1, stringEnd(literal, 0))
		require.Equal(t, list[0], string(TextOf(literal)))
		require.Equal(t, list[0], string(DecodeText(nil, literal)))
		require.Equal(t, len(utf16.Encode([]rune(list[0]))), TextUnits(literal))
	})
}
