package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 5e6, time.UTC)

func TestPrintable_keepsOthersWordsOnTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                   "plain",
		"two\nlines\r\tand\u00a0": "two lines  and ",
		"\x1b[31mred\x07\x00":     "␛[31mred␇␀",
		"del\x7f csi\u009b1m":     "del␡ csi\ufffd1m",
		"abc\u202edef\u200b":      "abc\ufffddef\ufffd",
		"line\u2028separator":     "line\ufffdseparator",
		"not \xff UTF-8":          "not \ufffd UTF-8",
		"日本語 é 🙂":                 "日本語 é 🙂",
	} {
		require.Equal(t, want, printable(text))
	}
}

func TestLayout_alignsColumns(t *testing.T) {
	l := layout{names: 6}
	for _, c := range []struct {
		e    actors.PhaseChanged
		want string
	}{
		{
			phase("short", lifecycle.Loading, lifecycle.Loaded, ""),
			"12:00:00.005  short   loading              → loaded",
		},
		{
			phase("é", lifecycle.Prepared, lifecycle.ConfigurationNeeded, "why\nnot "),
			"12:00:00.005  é       prepared             → configuration-needed  why not",
		},
		{
			phase("much-longer", lifecycle.Configured, lifecycle.Failed, "\x1b[2J"),
			"12:00:00.005  much-longer  configured           → failed                ␛[2J",
		},
	} {
		require.Equal(t, c.want, l.phase(c.e))
	}
}

func phase(plugin string, from, to lifecycle.State, reason string) actors.PhaseChanged {
	return actors.PhaseChanged{Origin: actors.Origin{Plugin: plugin}, From: from, To: to, At: noon, Reason: reason}
}

func TestLayout_tellsWhatFollowsACrash(t *testing.T) {
	e := actors.Restart{Origin: actors.Origin{Plugin: "a"}, InARow: 1, Crashes: 3, At: noon, Next: noon.Add(1234567 * time.Microsecond)}
	require.Equal(t, "12:00:00.005  a  crashed, next try in 1.235s", layout{}.restart(e))
	e.InARow = 2
	require.Equal(t, "12:00:00.005  a  crashed, next try in 1.235s (2 in a row)", layout{}.restart(e))
	e = actors.Restart{Origin: e.Origin, InARow: 11, At: noon, GivenUp: true}
	require.Equal(t, "12:00:00.005  a  crashed, given up (11 in a row)", layout{}.restart(e))
}

func TestLayout_tellsWhatIsAwaited(t *testing.T) {
	e := actors.Waiting{Origin: actors.Origin{Plugin: "a"}, For: []string{"tool:x", "tool:y"}, At: noon}
	require.Equal(t, "12:00:00.005  a  waits for tool:x, tool:y", layout{}.waiting(e))
	e.Cycle = []string{"a", "b", "a"}
	e.Because = []string{"tool:x: plugin b\nfailed"}
	require.Equal(t, "12:00:00.005  a  waits for tool:x, tool:y: a cycle, a → b → a (tool:x: plugin b failed)", layout{}.waiting(e))
}

func TestLayout_colorsWhatOneLooksFor(t *testing.T) {
	l := layout{color: true}
	require.Equal(t, "12:00:00.005  a  configured           → \x1b[32mready\x1b[0m",
		l.phase(phase("a", lifecycle.Configured, lifecycle.Ready, "")))
	require.Equal(t, "12:00:00.005  a  ready                → \x1b[31mfailed              \x1b[0m  why",
		l.phase(phase("a", lifecycle.Ready, lifecycle.Failed, "why")))
	require.NotContains(t, l.phase(phase("a", lifecycle.Loading, lifecycle.Loaded, "")), "\x1b")
}

func TestClip_saysWhatIsMissing(t *testing.T) {
	require.Equal(t, "short", clip("short", 5))
	require.Equal(t, "lo… (4 bytes)", clip("long", 2))
	require.Equal(t, "é… (4 bytes)", clip("éé", 3), "no half of a character")
}
