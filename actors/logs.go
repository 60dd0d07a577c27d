package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/process"
)

// logRing keeps the end of one plugin's log.
type logRing struct {
	mu    sync.Mutex
	lines []Logged
	next  int
	max   int
}

func (r *logRing) add(line Logged) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) < r.max {
		r.lines = append(r.lines, line)
		return
	}
	r.lines[r.next] = line
	r.next = (r.next + 1) % r.max
}

// last returns up to n lines, oldest first.
func (r *logRing) last(n int) []Logged {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Concat(r.lines[r.next:], r.lines[:r.next])
	if n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	return all
}

// Logs returns the end of a plugin's log, at most n lines, oldest first; 0 means
// all that is kept (Limits.LogLines). A plugin that never logged has none.
func (h *Host) Logs(plugin string, n int) []Logged {
	h.mu.Lock()
	ring := h.logs[plugin]
	h.mu.Unlock()
	if ring == nil {
		return nil
	}
	return ring.last(n)
}

func (h *Host) record(who *handle, line Logged) {
	h.mu.Lock()
	ring := h.logs[who.Plugin]
	if gone := who.guest != nil && h.sessions[who.Session] == nil; gone { // nothing of it is kept
		ring = &logRing{max: 1}
	}
	if ring == nil {
		ring = &logRing{max: orDefault(who.man.Host.Limits.LogLines, who.bounds.limits.LogLines)}
		h.logs[who.Plugin] = ring
	}
	h.mu.Unlock()
	ring.add(line)
	h.publish(line)
}

// logLine takes a line that a worker wrote.
func (h *Host) logLine(who *handle, line process.LogLine) {
	level := slog.LevelInfo
	if line.Dropped > 0 {
		who.drops.add("log-lines", uint64(line.Dropped))
		level = slog.LevelWarn
	}
	h.record(who, Logged{Origin: who.Origin, Level: level, Stream: string(line.Stream), Text: line.Text, At: time.Now()})
}

// wireLog takes a line of a plugin's log that came over its wire.
func (h *Host) wireLog(who *handle, line protocol.Logged) {
	said := Logged{Origin: who.Origin, Level: line.Level, Stream: "log", Text: line.Message, At: time.Now()}
	if line.Meta != nil {
		said.Text += " " + string(line.Meta)
		if json.Valid(line.Meta) {
			said.Message, said.Fields = line.Message, Fields(line.Meta)
		}
	}
	h.record(who, said)
}

// pluginLog is the log of a compiled-in plugin.
func (h *Host) pluginLog(who *handle) *slog.Logger {
	return slog.New(&pluginHandler{host: h, who: who})
}

// pluginHandler turns a plugin's records into lines of its log.
type pluginHandler struct {
	host  *Host
	who   *handle
	attrs string
	group string
	// fields are the handlers that make a record's fields JSON, from the outermost.
	fields []func(slog.Handler) slog.Handler
}

func (p *pluginHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelDebug
}

func (p *pluginHandler) Handle(_ context.Context, r slog.Record) error {
	var text strings.Builder
	text.WriteString(r.Message)
	text.WriteString(p.attrs)
	r.Attrs(func(a slog.Attr) bool {
		text.WriteString(p.format(a))
		return true
	})
	said := Logged{Origin: p.who.Origin, Level: r.Level, Stream: "log", Text: text.String(), At: r.Time}
	if fields := fieldsOf(r, p.fields); fields != "" {
		said.Message, said.Fields = r.Message, fields
	}
	p.host.record(p.who, said)
	return nil
}

// fieldsOf makes what a record and its handlers have beside the message JSON.
func fieldsOf(r slog.Record, around []func(slog.Handler) slog.Handler) Fields {
	if r.NumAttrs() == 0 && len(around) == 0 {
		return ""
	}
	var text bytes.Buffer
	own := 0 // the handler's own come first: there is no time, but a level and a message
	var h slog.Handler = slog.NewJSONHandler(&text, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if own < 2 && (a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
				own++
				return slog.Attr{}
			}
			return a
		},
	})
	for _, wrap := range around {
		h = wrap(h)
	}
	r.Time = time.Time{}
	if h.Handle(context.Background(), r) != nil {
		return ""
	}
	fields := Fields(bytes.TrimSpace(text.Bytes()))
	if fields == "{}" || !json.Valid([]byte(fields)) {
		return ""
	}
	return fields
}

func (p *pluginHandler) format(a slog.Attr) string { return formatAttr(p.group, a) }

// formatAttr writes " group.key=value", members of a group one by one.
func formatAttr(group string, a slog.Attr) string {
	a.Value = a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return ""
	}
	if a.Value.Kind() != slog.KindGroup {
		return " " + group + a.String()
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	var text strings.Builder
	for _, member := range a.Value.Group() {
		text.WriteString(formatAttr(group, member))
	}
	return text.String()
}

func (p *pluginHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *p
	for _, a := range attrs {
		next.attrs += p.format(a)
	}
	next.fields = append(slices.Clip(p.fields), func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
	return &next
}

func (p *pluginHandler) WithGroup(name string) slog.Handler {
	next := *p
	next.group += name + "."
	next.fields = append(slices.Clip(p.fields), func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
	return &next
}

// logPanic writes down the stack of a panic in a plugin's code.
func (h *Host) logPanic(who *handle, err error) {
	if caught, ok := errors.AsType[*panicError](err); ok {
		h.log.Error("the plugin panicked", who.attrs(), "error", caught.Error(), "stack", string(caught.stack))
	}
}

// drop counts what was not used. It is told when its count passes 1, 10, 100, …,
// so that a flood shows and cannot flood in turn.
func (h *Host) drop(who *handle, what, detail string, n uint64) {
	count := who.drops.add(what, n)
	if isPowerOfTen(count) || n > 1 {
		h.publish(Dropped{Origin: who.Origin, What: what, Detail: clip(detail), Count: count, At: time.Now()})
	}
}

func isPowerOfTen(n uint64) bool {
	for n > 0 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// maxDetail is how much of a dropped thing is shown, in bytes.
const maxDetail = 200

func clip(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	return strings.ToValidUTF8(s[:maxDetail], "") + "…"
}

func (h *Host) publishChannel(who *handle, fromPlugin bool, e protocol.Event, phase lifecycle.State) {
	if !h.wants(KindChannel) {
		return
	}
	payload, err := e.JSON()
	if err != nil {
		h.drop(who, "channel", e.Name+": "+err.Error(), 1)
		return
	}
	h.publish(Channel{
		Origin: who.Origin, FromPlugin: fromPlugin, Name: e.Name, Payload: payload, Phase: phase, At: time.Now(),
	})
}

func (h *Host) publishWire(who *handle, fromPlugin bool, m protocol.Message) {
	if h.wants(KindWire) {
		h.publish(Wire{Origin: who.Origin, FromPlugin: fromPlugin, Message: m, Phase: who.phaseNow(), At: time.Now()})
	}
}

// publishStream tells of what is on an event stream of a plugin's.
func (h *Host) publishStream(who *handle, e protocol.Streamed) {
	if h.wants(KindStream) {
		h.publish(Streamed{Origin: who.Origin, What: streamParts[e.What], Channel: e.Channel, Scope: e.Scope, Item: e.Item, Lost: e.Lost, At: time.Now()})
	}
}
