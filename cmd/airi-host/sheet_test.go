package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

var update = flag.Bool("update", false, "rewrite the golden files below testdata")

// wantGolden compares a text with a file below testdata/view.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "view", name+".txt")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "write it with -update")
	require.Equal(t, string(want), got, "if it is right, write %s with -update", file)
}

// mixed are plugins in all sorts of states.
func mixed() []actors.SessionInfo {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	return []actors.SessionInfo{
		{Plugin: "greeter", ID: "s0", Phase: lifecycle.Ready, Since: ago(42 * time.Second), Calls: 25, CallErrors: 3},
		{
			Plugin: "guest", ID: "s1", Phase: lifecycle.WaitingDeps, Waits: []string{"tool:greet", "tool:echo"},
			Process: &actors.ProcessInfo{PID: 4711, Started: ago(3 * time.Minute)},
		},
		{Plugin: "needs-config", ID: "s2", Phase: lifecycle.ConfigurationNeeded, Reason: "Host requested configuration before activation."},
		{Plugin: "refuses", ID: "s3", Phase: lifecycle.ConfigurationNeeded, Reason: "the configuration of plugin refuses: /port: expected a number"},
		{
			Plugin: "crashes", ID: "s4", Phase: lifecycle.Failed, Reason: "the worker exited with code 3",
			Worker: actors.WorkerInfo{InARow: 2, NextRestart: noon.Add(4 * time.Second)},
		},
		{Plugin: "gone", ID: "s5", Phase: lifecycle.Failed, Reason: "killed", Worker: actors.WorkerInfo{InARow: 11, GivenUp: true}},
		{
			Plugin: "日本語のプラグイン", ID: "s6", Phase: lifecycle.Ready, Dropped: map[string]uint64{"log-lines": 123456, "answers": 1},
			Process: &actors.ProcessInfo{PID: 1234567, Started: ago(50 * time.Hour)}, Calls: 4000000,
		},
		{Plugin: "a-plugin-with-a-name-that-is-much-too-long", ID: "s7", Phase: lifecycle.Degraded, Reason: "tool:greet is missing"},
	}
}

// hostile are lines that would steer a terminal, or break a line.
var hostile = []string{
	"\x1b[2J\x1b[1;1Hpainted \x1b]0;title\a\x9b31m over\nand on\r\tand\x00 on",
	"turned \u202eround\u2066 and joined a\u200db c\u0301 \U0001F468\u200d\U0001F469\u200d\U0001F467",
	strings.Repeat("漢", 5000),
	"  \n",
}

func boardOf(plugins int, sessions []actors.SessionInfo) board {
	names := make([]string, 0, plugins)
	for _, s := range sessions {
		names = append(names, s.Plugin)
	}
	for i := len(names); i < plugins; i++ {
		names = append(names, fmt.Sprintf("plugin-%03d", i))
		sessions = append(sessions, actors.SessionInfo{
			Plugin: names[i], ID: "x", Phase: []lifecycle.State{lifecycle.Ready, lifecycle.Ready, lifecycle.Preparing}[i%3], Since: noon,
		})
	}
	o := newObserver(append(names, "not-begun"), noon.Add(-time.Minute))
	o.look(noon.Add(-2*time.Second), doingStart, nil)
	for i, s := range sessions {
		if i < len(hostile) {
			o.hear(actors.Logged{Origin: actors.Origin{Plugin: s.Plugin}, Text: hostile[i]})
		}
	}
	o.hear(actors.Logged{Origin: actors.Origin{Plugin: "日本語のプラグイン"}, Text: "said 漢字 " + hostile[0]})
	return o.look(noon, doingServe, sessions)
}

func TestSheet_lines(t *testing.T) {
	for name, c := range map[string]struct {
		b     board
		sheet sheet
	}{
		"none":        {newObserver(nil, noon).look(noon, doingStart, nil), sheet{width: 79, height: 20}},
		"wide":        {boardOf(0, mixed()), sheet{width: 159, height: 20}},
		"usual":       {boardOf(0, mixed()), sheet{width: 79, height: 20}},
		"narrow":      {boardOf(0, mixed()), sheet{width: 39, height: 20}},
		"tiny":        {boardOf(0, mixed()), sheet{width: 10, height: 20}},
		"low":         {boardOf(0, mixed()), sheet{width: 99, height: 6}},
		"lowest":      {boardOf(0, mixed()), sheet{width: 99, height: 3}},
		"one-line":    {boardOf(0, mixed()), sheet{width: 99, height: 1}},
		"two-hundred": {boardOf(200, mixed()), sheet{width: 119, height: 16}},
		"colors":      {boardOf(0, mixed()), sheet{width: 99, height: 20, color: true}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := c.sheet.lines(c.b)
			require.LessOrEqual(t, len(lines), c.sheet.height)
			for _, line := range lines {
				require.LessOrEqual(t, ansi.StringWidthWc(line), c.sheet.width)
				if !c.sheet.color {
					require.Equal(t, printable(line), line, "it steers the terminal")
				}
			}
			wantGolden(t, name, strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", "ESC")+"\n")
		})
	}
}

// Room that no words take is not kept from the numbers.
func TestSheet_keepsRoomForTheWordsThereAre(t *testing.T) {
	quiet := actors.SessionInfo{
		Plugin: "quiet", ID: "s0", Phase: lifecycle.Ready, Since: noon, Process: &actors.ProcessInfo{PID: 4711, Started: noon.Add(-time.Minute)},
	}
	short := quiet
	short.Plugin, short.Phase, short.Reason = "short", lifecycle.Degraded, "a word"
	for name, c := range map[string]struct {
		sessions []actors.SessionInfo
		want     string
	}{
		"none": {[]actors.SessionInfo{quiet}, "PLUGIN  PHASE  CALLS/S   ERR/S   DROPS      UP      PID"},
		"few":  {[]actors.SessionInfo{quiet, short}, "PLUGIN  PHASE     CALLS/S   ERR/S   DROPS      UP      PID"},
		"many": {mixed()[:2], "PLUGIN   PHASE         CALLS/S   ERR/S   DROPS"},
	} {
		t.Run(name, func(t *testing.T) {
			names := make([]string, len(c.sessions))
			for i, s := range c.sessions {
				names[i] = s.Plugin
			}
			b := newObserver(names, noon).look(noon, doingServe, c.sessions)
			require.Equal(t, c.want, sheet{width: 79, height: 20}.lines(b)[1])
		})
	}
}

func TestSheet_thatHasNoRoomIsEmpty(t *testing.T) {
	require.Empty(t, sheet{width: 80}.lines(boardOf(0, mixed())))
	require.Empty(t, sheet{height: 24}.lines(boardOf(0, mixed())))
}

func TestSheet_tellsWhatItDidNotSee(t *testing.T) {
	b := boardOf(1, nil)
	b.unseen = 7
	require.Contains(t, sheet{width: 200, height: 1}.lines(b)[0], "  7 lines unseen")
}

func TestSheet_numbersAreShort(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0", 0.04: "0.0", 0.5: "0.5", 9.94: "9.9", 9.96: "10", 9999.4: "9999", 12345: "12k", 4e9: "4000M", 5e15: "5000T", 1e19: "lots",
	} {
		require.Equal(t, want, rate(n))
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", time.Hour - 1: "59m", 3*time.Hour + 7*time.Minute: "3h07", 999 * 24 * time.Hour: "999d",
	} {
		require.Equal(t, want, span(d))
	}
}
