package plugin_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
)

func TestLog_isNotificationsOfTheHandlersInvocation(t *testing.T) {
	log := make(chan *slog.Logger, 1)
	p := plugin.Define("p")
	plugin.Data(p, "log", func(ctx context.Context, _ any) (any, error) {
		log <- plugin.From(ctx).Log()
		plugin.From(ctx).Log().InfoContext(ctx, "inside")
		return nil, nil
	})
	l, _ := newLines(t.Context(), t, p, plugin.PaperclipOptions{})
	l.send(`{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"log"},"paperclipInvocation":{"id":"i-1"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","method":"log","params":{"level":"info","message":"inside"},"paperclipInvocationId":"i-1"}`, l.next())
	require.Contains(t, l.next(), `"id":1`)
	go (<-log).Info("outside")
	require.Equal(t, `{"jsonrpc":"2.0","method":"log","params":{"level":"info","message":"outside"}}`, l.next())
}

func TestLog_hasLevelsAndAttributes(t *testing.T) {
	lines := map[string]func(*slog.Logger){
		`{"level":"error","message":"m","meta":{"error":"no"}}`:                    func(l *slog.Logger) { l.Error("m", "error", errors.New("no")) },
		`{"level":"warn","message":"a \"b\"","meta":{"msg":1,"level":2,"time":3}}`: func(l *slog.Logger) { l.Warn(`a "b"`, "msg", 1, "level", 2, "time", 3) },
		`{"level":"info","message":"m","meta":{"a":1,"g":{"b":2}}}`:                func(l *slog.Logger) { l.With("a", 1).WithGroup("g").Info("m", "b", 2) },
		`{"level":"debug","message":"m"}`:                                          func(l *slog.Logger) { l.Debug("m") },
		`{"level":"error","message":"above all"}`:                                  func(l *slog.Logger) { l.Log(context.Background(), 20, "above all") },
	}
	session := make(chan *plugin.Session, 1)
	p := plugin.Define("p").OnInit(func(_ context.Context, s *plugin.Session) error {
		session <- s
		return nil
	})
	l, _ := newLines(t.Context(), t, p, plugin.PaperclipOptions{})
	l.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	require.Contains(t, l.next(), `"ok":true`)
	log := (<-session).Log()
	require.False(t, log.Enabled(t.Context(), slog.LevelDebug-1))
	for line, say := range lines {
		go say(log)
		require.Equal(t, `{"jsonrpc":"2.0","method":"log","params":`+line+`}`, l.next())
	}
}
