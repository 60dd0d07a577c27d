package actors

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/transport/memory"
	"github.com/airi-host/airi-host/transport/process"
)

func texts(lines []Logged) []string {
	list := make([]string, len(lines))
	for i, line := range lines {
		list[i] = line.Text
	}
	return list
}

func TestLogs_keepTheEndOfEachPluginsLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaks := func(name string) *plugin.Definition {
			return plugin.Define(name).OnInit(func(_ context.Context, s *plugin.Session) error {
				for i := range 7 {
					s.Log().Info("line", name, i)
				}
				return nil
			})
		}
		h := startHostWith(t, Options{Limits: Limits{LogLines: 5}}, speaks("a"), speaks("b"))
		startReady(t, h, manifestFor("a"))
		startReady(t, h, manifestFor("b", func(m *manifest.Manifest) { m.Host.Limits.LogLines = 3 }))
		require.Equal(t, []string{"line a=2", "line a=3", "line a=4", "line a=5", "line a=6"}, texts(h.Logs("a", 0)))
		require.Equal(t, []string{"line a=5", "line a=6"}, texts(h.Logs("a", 2)))
		require.Equal(t, []string{"line b=4", "line b=5", "line b=6"}, texts(h.Logs("b", 9)))
		require.Empty(t, h.Logs("nobody", 0))

		kept := h.Logs("a", 0)
		_, err := h.Reload(t.Context(), "plugin-session-0", StartOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"line a=2", "line a=3", "line a=4", "line a=5", "line a=6"}, texts(kept), "what was returned is the caller's own")
		require.Equal(t, "plugin-session-2", h.Logs("a", 1)[0].Session, "a plugin has one log over all its sessions")
	})
}

func TestLogs_takeWhatComesOverTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{})
		f.says("log hello")
		lines := f.host.Logs("far", 2)
		require.Equal(t, []string{"bare", `hello {"a":1}`}, texts(lines))
		require.Equal(t, slog.LevelWarn, lines[0].Level)
		require.Equal(t, slog.LevelInfo, lines[1].Level)
		require.Empty(t, lines[0].Fields)
		require.Equal(t, []string{"hello", `{"a":1}`}, []string{lines[1].Message, string(lines[1].Fields)})
		require.Equal(t, "log", lines[0].Stream)
	})
}

func TestLogRing_isTheCallersOwnWhileItFills(t *testing.T) {
	r := &logRing{max: 2}
	r.add(Logged{Text: "1"})
	r.add(Logged{Text: "2"})
	kept := r.last(0)
	r.add(Logged{Text: "3"})
	require.Equal(t, []string{"1", "2"}, texts(kept))
	require.Equal(t, []string{"2", "3"}, texts(r.last(0)))
}

type secret string

func (secret) LogValue() slog.Value { return slog.StringValue("***") }

func TestLogs_writeAttributesAndGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a").OnInit(func(_ context.Context, s *plugin.Session) error {
			log := s.Log().With("one", 1)
			log.WithGroup("g").With("two", 2).Warn("text", "three", 3, slog.Group("h", "four", 4), slog.Group("", "five", 5))
			log.Debug("plain", "key", secret("x"), slog.Attr{}, slog.Group("empty"))
			log.Log(context.Background(), slog.LevelDebug-1, "below")
			return nil
		}))
		startReady(t, h, manifestFor("a"))
		lines := h.Logs("a", 0)
		require.Equal(t, []string{"text one=1 g.two=2 g.three=3 g.h.four=4 g.five=5", "plain one=1 key=***"}, texts(lines))
		require.Equal(t, slog.LevelWarn, lines[0].Level)
		require.Equal(t, "log", lines[0].Stream)
		require.Equal(t, "text", lines[0].Message)
		require.JSONEq(t, `{"one":1,"g":{"two":2,"three":3,"h":{"four":4},"five":5}}`, string(lines[0].Fields))
		require.JSONEq(t, `{"one":1,"key":"***"}`, string(lines[1].Fields))
	})
}

func TestLogs_fieldsMayBeCalledAsTheHandlersOwn(t *testing.T) {
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "text", 0)
	r.Add("level", 9, "msg", "mine", "time", "late", "odd", func() {})
	fields := fieldsOf(r, nil)
	require.Contains(t, fields, `"level":9,"msg":"mine","time":"late"`)
	require.Empty(t, fieldsOf(slog.NewRecord(time.Now(), slog.LevelInfo, "text", 0), nil))
}

func TestLogs_takeAWorkersLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		startReady(t, h, manifestFor("a"))
		who := h.current("a")
		h.logLine(who, process.LogLine{Stream: process.Stderr, Text: "hello"})
		h.logLine(who, process.LogLine{Stream: process.Host, Text: "7 lines dropped", Dropped: 7})
		lines := h.Logs("a", 0)
		require.Equal(t, []string{"hello", "7 lines dropped"}, texts(lines))
		require.Equal(t, "stderr", lines[0].Stream)
		require.Equal(t, slog.LevelWarn, lines[1].Level)
		require.Equal(t, map[string]uint64{"log-lines": 7}, wantPhase(t, h, "a", lifecycle.Ready).Dropped)
	})
}

func TestDropped_isToldAtPowersOfTen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		startReady(t, h, manifestFor("a"))
		events := listen(t, h, KindDropped, nil)
		for i := range 100 {
			h.drop(h.current("a"), "thing", fmt.Sprint(i), 1)
		}
		h.drop(h.current("a"), "other", strings.Repeat("ä", 300), 1)
		require.Equal(t, []string{
			"a drops thing 1 0", "a drops thing 10 9", "a drops thing 100 99",
			"a drops other 1 " + strings.Repeat("ä", 100) + "…",
		}, events.all())
		require.Equal(t, map[string]uint64{"thing": 100, "other": 1}, wantPhase(t, h, "a", lifecycle.Ready).Dropped)
	})
}

func TestChannel_carriesWhatAPluginSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *plugin.Session
		h := startHost(t, keepSession("a", &s))
		startReady(t, h, manifestFor("a"))
		events := listen(t, h, KindChannel|KindDropped, nil)
		require.NoError(t, s.Send("hello", map[string]int{"a": 1}))
		require.NoError(t, s.Send("bare", nil))
		require.NoError(t, s.Send("bad", func() {}))
		require.Equal(t, []string{
			`a channel true hello {"a":1}`, "a channel true bare", "a drops channel 1 bad: json: unsupported type: func()",
		}, events.all())
	})
}
