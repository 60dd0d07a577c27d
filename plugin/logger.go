package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
)

// logger is the plugin's own log: every record is a line for the host, with its
// level, its message and its attributes as one JSON object.
type logger struct {
	write func(ctx context.Context, line logLine)
	*attributes
}

// logLine is one line of the log as it stands on the wire.
type logLine struct {
	Level   string          `json:"level"`
	Message string          `json:"message"`
	Meta    json.RawMessage `json:"meta,omitempty"`
}

var _ slog.Handler = (*logger)(nil)

func newLogger(write func(context.Context, logLine)) *slog.Logger {
	buffer := &lockedBuffer{}
	json := slog.NewJSONHandler(buffer, &slog.HandlerOptions{Level: slog.LevelDebug})
	return slog.New(&logger{write, &attributes{json, buffer}})
}

// Enabled is true from debug on: which lines are shown is for the host to say.
func (l *logger) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelDebug }

// Handle writes a line.
func (l *logger) Handle(ctx context.Context, r slog.Record) error {
	meta, err := l.object(ctx, r)
	l.write(ctx, logLine{Level: levelName(r.Level), Message: r.Message, Meta: meta})
	return err
}

// WithAttrs is part of slog.Handler.
func (l *logger) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logger{l.write, &attributes{l.json.WithAttrs(attrs), l.buffer}}
}

// WithGroup is part of slog.Handler.
func (l *logger) WithGroup(name string) slog.Handler {
	return &logger{l.write, &attributes{l.json.WithGroup(name), l.buffer}}
}

func levelName(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "error"
	case level >= slog.LevelWarn:
		return "warn"
	case level >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}

// attributes make the JSON object of a record's attributes, in the way of slog's own
// handler.
type attributes struct {
	json   slog.Handler
	buffer *lockedBuffer
}

type lockedBuffer struct {
	sync.Mutex
	bytes.Buffer
}

// bare is how slog's handler begins the line of a record that has neither time nor
// message; what follows are the attributes.
const bare = `{"level":"INFO","msg":""`

// object returns the attributes of a record, or nil if it has none.
func (a *attributes) object(ctx context.Context, r slog.Record) (json.RawMessage, error) {
	only := slog.Record{}
	r.Attrs(func(attr slog.Attr) bool {
		only.AddAttrs(attr)
		return true
	})
	a.buffer.Lock()
	defer a.buffer.Unlock()
	a.buffer.Reset()
	err := a.json.Handle(ctx, only)
	rest, _ := bytes.CutPrefix(bytes.TrimSpace(a.buffer.Bytes()), []byte(bare))
	if len(rest) < 2 || rest[0] != ',' {
		return nil, err
	}
	return append([]byte{'{'}, rest[1:]...), err
}
