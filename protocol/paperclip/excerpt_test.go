package paperclip

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestClip_isShortAndHarmless(t *testing.T) {
	require.Equal(t, "a?[31mb?", clip("a\x1b[31mb\n"))
	long := clip(strings.Repeat("é", 500))
	require.LessOrEqual(t, len(long), maxExcerpt)
	require.True(t, utf8.ValidString(long))
}

func TestCut_keepsWholeRunes(t *testing.T) {
	require.Equal(t, "abc", cut("abc", 3))
	require.Equal(t, "ab", cut("abc", 2))
	require.Equal(t, "a", cut("aé", 2))
	require.Empty(t, cut("\x80\x80\x80", 2))
}
