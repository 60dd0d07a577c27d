package main

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// logOn returns the log of a command line whose standard error is a terminal or not.
func logOn(t *testing.T, terminal, color bool, output string) (*slog.Logger, *bytes.Buffer) {
	t.Helper()
	var b bytes.Buffer
	c := &cli{out: newOutput(&b), err: newOutput(&b), output: output, logLevel: "info"}
	c.err.terminal, c.err.color = terminal, color
	log, err := c.logger()
	require.NoError(t, err)
	return log, &b
}

// speakEvil says in every place of a record what would steer a terminal.
func speakEvil(log *slog.Logger) {
	const evil = "a \x1b[44m b"
	log.With("with", evil).WithGroup("g").Warn(evil,
		"text", evil, "quoted", `a \x1b[44m b`, "error", errors.New(evil), "list", []string{evil},
		slog.Group("group", "inner", evil, "number", 5))
}

func TestLogger_keepsTheTerminalFromPluginsWords(t *testing.T) {
	for _, color := range []bool{true, false} {
		log, b := logOn(t, true, color, outputText)
		speakEvil(log)
		require.NotContains(t, b.String(), "\x1b[44m")
		require.Contains(t, b.String(), "a ␛[44m b")
		require.Contains(t, b.String(), "g.group.number")
		require.Equal(t, color, bytes.Contains(b.Bytes(), []byte("\x1b[93mWRN\x1b[0m")), b.String())
	}
}

func TestLogger_isPlainTextOrJSONElsewhere(t *testing.T) {
	log, b := logOn(t, false, false, outputText)
	speakEvil(log)
	require.Contains(t, b.String(), `level=WARN msg="a \x1b[44m b"`)
	require.NotContains(t, b.String(), "\x1b")

	log, b = logOn(t, false, false, outputJSON)
	speakEvil(log)
	require.Contains(t, b.String(), `"level":"WARN","msg":"a \u001b[44m b"`)
}

func TestFormat_isWhatWasAskedFor(t *testing.T) {
	for _, one := range []struct {
		given, output string
		terminal      bool
		want          string
	}{
		{"", outputText, false, formatText},
		{formatAuto, outputText, true, formatTint},
		{formatAuto, outputJSON, true, formatJSON},
		{formatText, outputJSON, true, formatText},
		{formatJSON, outputText, false, formatJSON},
		{formatTint, outputText, false, formatTint},
	} {
		var b bytes.Buffer
		c := &cli{out: newOutput(&b), err: newOutput(&b), output: one.output, logLevel: "info", logFormat: one.given}
		c.err.terminal = one.terminal
		format, err := c.format()
		require.NoError(t, err)
		require.Equal(t, one.want, format)
		log, err := c.logger()
		require.NoError(t, err)
		log.Info("hello")
		require.Equal(t, one.want == formatJSON, b.Bytes()[0] == '{', b.String())
	}
}

func TestLevel_isDebugWhereFramesAreToBeSeen(t *testing.T) {
	c := &cli{logLevel: "info"}
	wantLevel := func(want slog.Level) {
		t.Helper()
		got, err := c.level()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	wantLevel(slog.LevelInfo)
	t.Setenv("AIRI_HOST_DEBUG", "more,wire")
	wantLevel(slog.LevelDebug)
	c.levelGiven = true
	wantLevel(slog.LevelInfo)
}
