package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var texts = []string{
	"", "a", "12345678", "123456789", "ä", "€uro", "😀", "a😀b€cä", strings.Repeat("ab\n", 9), strings.Repeat("😀", 5) + "\\\"", "\x00\x1f\u2028",
	strings.Repeat("x", 7) + "\\" + strings.Repeat("y", 9), "/\b\f\r\t",
}

func TestTextUnits_countsLikeJavaScript(t *testing.T) {
	for _, s := range texts {
		literal, err := json.Marshal(s)
		require.NoError(t, err)
		want := len(utf16.Encode([]rune(s)))
		require.Equal(t, want, TextUnits(literal), "%s", literal)
		require.Equal(t, want, TextUnits(AppendText(nil, s)), "%q", s)
		require.Equal(t, want, BytesUnits([]byte(s)), "%q", s)
		require.Equal(t, s, string(DecodeText(nil, literal)))
	}
	require.Equal(t, 2, TextUnits([]byte(`"\ud83d\ude00"`)))
	require.Equal(t, 1, TextUnits([]byte(`"\ud83d"`)))
	require.Zero(t, TextUnits(nil))
}

func TestDecodeText_readsEveryEscape(t *testing.T) {
	for literal, want := range map[string]string{
		`"\"\\\/\b\f\n\r\t\u0041\u00e4"`: "\"\\/\b\f\n\r\tAä", `"\ud83d\ude00\uD83D\uDE00"`: "😀😀", `"\ud83d"`: "\ufffd",
		`"\ud83dx"`: "\ufffdx", `"\ud83d\u0041"`: "\ufffdA", `"\ude00\ud83d"`: "\ufffd\ufffd", `""`: "", "": "",
	} {
		require.Equal(t, want, string(DecodeText(nil, []byte(literal))), "%s", literal)
	}
	require.Equal(t, "before after", string(DecodeText([]byte("before "), []byte(`"after"`))))
}

func FuzzText_unitsAndDecoding(f *testing.F) {
	for _, s := range texts {
		literal, _ := json.Marshal(s)
		f.Add(literal)
	}
	f.Add([]byte(`"\ud800\udc00\ud800"`))
	f.Fuzz(func(t *testing.T, literal []byte) {
		_, _ = TextUnits(literal), DecodeText(nil, literal) // whatever it is, they end
		literal = bytes.TrimSpace(literal)
		var want string
		if !utf8.Valid(literal) || json.Unmarshal(literal, &want) != nil || literal[0] != '"' {
			return
		}
		require.Equal(t, want, string(DecodeText(nil, literal)))
		require.Equal(t, len(utf16.Encode([]rune(want))), TextUnits(literal))
	})
}

func TestRunes_keepWhatIsNotWhole(t *testing.T) {
	all := "a€😀ä\xffb\xf0\x9f"
	for cut := 1; cut <= len(all); cut++ {
		var r Runes
		got := ""
		for rest := all; rest != ""; rest = rest[min(cut, len(rest)):] {
			got += string(r.Take([]byte(rest[:min(cut, len(rest))])))
		}
		require.Equal(t, all[:len(all)-2], got)
		require.Equal(t, "\xf0\x9f", string(r.Rest()))
		require.Empty(t, r.Rest())
	}
}

func TestLogChunk_isReadAsItIsWritten(t *testing.T) {
	for _, s := range texts {
		c := LogChunk{Stream: LogStderr, Text: []byte(s)}
		got, err := ReadLogChunk(c.Item())
		require.NoError(t, err)
		require.Equal(t, c.Stream, got.Stream)
		require.Equal(t, s, string(got.Text))
	}
	for _, item := range []string{`{}`, `{"stream":"x","chunk":"a"}`, `{"stream":"stdout","chunk":5}`, `{"stream":"stdout"}`, `7`, ``} {
		_, err := ReadLogChunk([]byte(item))
		require.ErrorContains(t, err, "expected {")
	}
}

func BenchmarkTextUnits(b *testing.B) {
	for name, s := range map[string]string{
		"lines": strings.Repeat(strings.Repeat("x", 79)+"\n", 205), "ascii": strings.Repeat("x", 16<<10), "wide": strings.Repeat("ä€😀", 2000),
	} {
		literal := AppendText(nil, s)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(literal)))
			for b.Loop() {
				TextUnits(literal)
			}
		})
	}
}

// Long texts are looked through in windows; what is looked for is found wherever it stands.
func TestScanner_longTextsAtEveryPlace(t *testing.T) {
	for size := range 700 {
		for name, what := range map[string]string{ // what stands in the midst
			"quote": `\"`, "slash": `\\`, "unicode": `\u00e9`, "character": "é😀", "control": "\x01", "nothing": "",
		} {
			plain := strings.Repeat("x", size)
			literal := []byte(`"` + plain + what + plain + `"`)
			s := Scanner{Data: literal}
			require.Equal(t, name != "control", s.Text(), "%s behind %d", name, size)
			if name == "control" {
				continue
			}
			require.Equal(t, len(literal), s.Pos)
			require.Equal(t, len(literal)-1, stringEnd(literal, 0))
			var want string
			require.NoError(t, json.Unmarshal(literal, &want))
			require.Equal(t, want, string(DecodeText(nil, literal)))
			require.Equal(t, len(utf16.Encode([]rune(want))), TextUnits(literal))
			require.Equal(t, len(utf16.Encode([]rune(want))), BytesUnits([]byte(want)))
			chunk, err := ReadLogChunk(json.RawMessage(`{"stream":"stderr","chunk":` + string(literal) + `}`))
			require.NoError(t, err)
			require.Equal(t, LogChunk{Stream: LogStderr, Text: []byte(want)}, LogChunk{Stream: chunk.Stream, Text: append([]byte{}, chunk.Text...)})
		}
	}
}
