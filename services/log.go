package services

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// maxLog is how much of one line is kept, in bytes: of its message that much, and its
// meta if it is no longer. It is what the notification of the same name may show.
const maxLog = 16 << 10

// logService serves log: {level, message, meta?} → null. The SDKs of Paperclip send it
// as a notification, which the dialect shows; this is the same as a request.
type logService struct{ plugins protocol.Plugins }

func (l logService) log(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	level, message, meta := levelOf(in.raw("level")), in.optional("message"), in.object("meta")
	if in.err != nil {
		return nil, in.err
	}
	handler := l.plugins.Log(call.Caller).Handler()
	if !handler.Enabled(ctx, level) {
		return null, nil
	}
	line := slog.NewRecord(time.Now(), level, cutBytes(message, maxLog), 0)
	if size := len(in.raw("meta")); size > maxLog {
		line.AddAttrs(slog.Int("meta_dropped_bytes", size))
	} else {
		line.AddAttrs(spread(meta.members)...)
	}
	return done(handler.Handle(ctx, line))
}

// levelOf reads a level; one that is not known is info.
func levelOf(value json.RawMessage) slog.Level {
	switch s, _ := stringOf(value); s {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}

// spread makes the members of an object attributes, in the order of their names.
func spread(members map[string]json.RawMessage) []slog.Attr {
	attrs := make([]slog.Attr, 0, len(members))
	for key, value := range members {
		if s, ok := stringOf(value); ok {
			attrs = append(attrs, slog.String(key, s))
			continue
		}
		attrs = append(attrs, slog.Any(key, literal(value)))
	}
	slices.SortFunc(attrs, func(a, b slog.Attr) int { return cmp.Compare(a.Key, b.Key) })
	return attrs
}

// literal is JSON that a log shows as it is, whether its lines are text or JSON.
type literal string

func (l literal) MarshalJSON() ([]byte, error) { return []byte(l), nil }

// cutBytes cuts s to at most limit bytes, between two characters, and says so.
func cutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.Clone(s[:end]) + mark
}
