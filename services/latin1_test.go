package services

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLatin1_isBytesAsCharacters(t *testing.T) {
	for bytes, text := range map[string]string{"": "", "plain": "plain", "\xfc\x00\xff": "ü\x00ÿ", "ü": "Ã¼"} {
		require.Equal(t, text, fromLatin1(bytes))
		back, ok := toLatin1(text)
		require.True(t, ok)
		require.Equal(t, bytes, back)
	}
	_, ok := toLatin1("a日")
	require.False(t, ok)
}
