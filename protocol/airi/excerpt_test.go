package airi

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestClip_showsNothingThatATerminalActsOn(t *testing.T) {
	require.Equal(t, "a?[31m日本?\ufffd", clip("a\x1b[31m日本\n\xff"))
}

func TestClip_cutsBetweenRunes(t *testing.T) {
	got := clip(strings.Repeat("日", 100))
	require.True(t, utf8.ValidString(got))
	require.Len(t, got, 198)
	require.Len(t, excerpt([]byte(strings.Repeat("x", 1000))), maxExcerpt)
}
