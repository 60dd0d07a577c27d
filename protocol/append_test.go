package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendValue_keepsToOneLineOfUTF8(t *testing.T) {
	for in, want := range map[string]string{
		`{ "a" : 1 }`: `{ "a" : 1 }`, "{\n\"a b\" :\r\n1}": `{"a b":1}`, "\"a\xff\"": "\"a\ufffd\"", ` 1 `: ` 1 `,
	} {
		got, err := AppendValue([]byte("x:"), []byte(in))
		require.NoError(t, err, in)
		require.Equal(t, "x:"+want, string(got))
	}
	for _, in := range []string{``, `{`, `1 2`, `nul`} {
		got, err := AppendValue([]byte("x:"), []byte(in))
		require.ErrorContains(t, err, "expected JSON, got: "+in)
		require.Equal(t, "x:", string(got))
	}
}

func TestAppendText_escapesAsJSONstringify(t *testing.T) {
	require.Equal(t, `"a\"\\\b\f\n\r\t\u0001/<&>é😀\u2028\ufffd"`, string(AppendText(nil, "a\"\\\b\f\n\r\t\x01/<&>é😀\u2028\xff")))
}

func TestCallNumber(t *testing.T) {
	for id, want := range map[string]struct {
		n     uint64
		other string
	}{
		`2`: {2, ""}, `"2"`: {2, "string"}, `2.0`: {2, ""}, `2e0`: {2, ""}, `"2e0"`: {0, "string"}, `true`: {}, `[2]`: {}, `-1`: {}, `"x"`: {0, "string"},
		`null`: {}, ``: {}, `18446744073709551615`: {1<<64 - 1, ""},
	} {
		n, other := CallNumber([]byte(id))
		require.Equal(t, want.n, n, id)
		require.Equal(t, want.other, other, id)
	}
}
