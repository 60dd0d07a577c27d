package airi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var validSeeds = []string{
	"", " ", "{}", "[]", " { } ", "[ ]", `{"a":1,"b":[true,false,null]}`, `{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`,
	`"text"`, `"\u00e9\n\"\\\/\b\f\r\t"`, `"\u00g0"`, `"\u00"`, `"\x"`, `"\`, `"`, "\"\n\"", "\"\xff\"", `"é"`,
	"0", "-0", "01", "-", "1.5", "1.", ".5", "1e5", "1E+5", "1e-", "1e", "-1.0e10", "+1", "1 2", "tru", "true", "nulll", "falsey",
	"\t{\"a\"\r:\n1}\n", "{}x", "[}", "{]", "[1 2]", `[[[{"a":[{}]}]]]`, "[", "{", `{"a":1`, "[1", "\u00a0{}",
}

func TestValid_saysWhatJSONSays(t *testing.T) {
	for _, text := range validSeeds {
		require.Equal(t, json.Valid([]byte(text)), valid([]byte(text)), "%q", text)
	}
	for _, depth := range []int{maxDepth, maxDepth + 1} {
		for _, pair := range []string{"[]", "{}"} {
			open, end := pair[:1], pair[1:]
			if open == "{" {
				open = `{"a":`
			}
			text := []byte(strings.Repeat(open, depth-1) + pair + strings.Repeat(end, depth-1))
			require.Equal(t, json.Valid(text), valid(text), "%s nested %d times", pair, depth)
		}
	}
}

func FuzzValid(f *testing.F) {
	for _, text := range validSeeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		require.Equal(t, json.Valid(text), valid(text), "%q", text)
	})
}
