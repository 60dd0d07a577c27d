package paperclip

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// MaxLog is how much of one log line of a worker is shown, in bytes: of its
// message that much, and its meta if it is no longer.
const MaxLog = 16 << 10

// noted takes a notification of the worker's.
func (d *driver) noted(n Notification, out []protocol.Effect) []protocol.Effect {
	switch n.Method {
	case methodLog:
		return logged(n.Params, out)
	case methodLogChunk:
		return d.logs.take(n, out)
	case methodStreamOpen:
		return d.streamed(protocol.StreamOpen, n, out)
	case methodStreamItem:
		return d.streamed(protocol.StreamItem, n, out)
	case methodStreamClose:
		return d.streamed(protocol.StreamClose, n, out)
	}
	if note, ok := routeNotes[n.Method]; ok {
		return d.routeNoted(note, n, out)
	}
	return append(out, protocol.Drop(DroppedNotification, n.Method))
}

// logged shows a line of the plugin's log. It is never checked against a scope.
func logged(params json.RawMessage, out []protocol.Effect) []protocol.Effect {
	line := protocol.Logged{Level: slog.LevelInfo}
	eachMember(params, func(key string, value json.RawMessage) {
		switch key {
		case "level":
			line.Level = levelOf(value)
		case "message":
			line.Message = shown(value)
		case "meta":
			line.Meta = value
		}
	})
	if len(line.Meta) > MaxLog {
		out = append(out, protocol.Drop(DroppedMeta, fmt.Sprintf("%d bytes: %s", len(line.Meta), line.Message)))
		line.Meta = nil
	}
	if line.Meta != nil && line.Meta[0] != '{' {
		line.Meta = nil
	}
	return append(out, line)
}

// levelOf reads a level; one that is not known is info.
func levelOf(value json.RawMessage) slog.Level {
	switch level, _ := text(value); level {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}

// shown is a message's text; what is no string is shown as the JSON it is.
func shown(value json.RawMessage) string {
	s, ok := text(value)
	if !ok {
		s = string(value[:min(len(value), MaxLog)])
	}
	return cut(s, MaxLog)
}

// unreadable takes a line that is no frame.
func (d *driver) unreadable(now time.Time, u Unreadable, out []protocol.Effect) []protocol.Effect {
	if u.Fault != "" {
		return append(out, d.settings.Unframed(u.Fault, u.Text))
	}
	return d.strays.Take(now, u.Text, out)
}
