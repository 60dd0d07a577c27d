package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOwnMark_isMadeOnceAndKept(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	first, err := ownMark()
	require.NoError(t, err)
	require.Regexp(t, aMark, first)
	again, err := ownMark()
	require.NoError(t, err)
	require.Equal(t, first, again)
	info, err := os.Stat(filepath.Join(state, "airi-host", "owner"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Join(state, "airi-host"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no draft is left")
	require.ErrorIs(t, writeMark(filepath.Join(state, "airi-host", "owner"), "another"), os.ErrExist)
}

func TestOwnMark_isBelowHomeWhereNothingElseIsSaid(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, unusable := range []string{"", "relative"} {
		t.Setenv("XDG_STATE_HOME", unusable)
		dir, err := stateDir()
		require.NoError(t, err)
		require.Equal(t, filepath.Join(home, ".local", "state", "airi-host"), dir)
	}
	t.Setenv("HOME", "")
	_, err := stateDir()
	require.ErrorContains(t, err, "set XDG_STATE_HOME or HOME")
}

func TestOwnMark_whatCannotBeUsedIsTold(t *testing.T) {
	for content, words := range map[string]string{
		"short":                   "expected 16 to 128 letters, digits, - and _: remove it",
		strings.Repeat("x", 1000): "expected a short text file: remove it",
	} {
		state := t.TempDir()
		t.Setenv("XDG_STATE_HOME", state)
		require.NoError(t, os.Mkdir(filepath.Join(state, "airi-host"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(state, "airi-host", "owner"), []byte(content), 0o600))
		var log strings.Builder
		require.Empty(t, sweep(context.Background(), slog.New(slog.NewTextHandler(&log, nil))))
		require.Contains(t, log.String(), "what this host leaves behind when it is killed will not be ended by the next one")
		require.Contains(t, log.String(), words)
	}
}
