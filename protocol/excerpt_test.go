package protocol

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestClip_isShortAndHarmless(t *testing.T) {
	require.Equal(t, "a?[31mb?", Clip("a\x1b[31mb\n"))
	long := Clip(strings.Repeat("é", 500))
	require.LessOrEqual(t, len(long), MaxExcerpt)
	require.True(t, utf8.ValidString(long))
}

func TestCut_keepsWholeRunes(t *testing.T) {
	require.Equal(t, "abc", Cut("abc", 3))
	require.Equal(t, "ab", Cut("abc", 2))
	require.Equal(t, "a", Cut("aé", 2))
	require.Empty(t, Cut("\x80\x80\x80", 2))
}
