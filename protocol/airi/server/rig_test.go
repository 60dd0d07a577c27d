package server

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rig is a server with clients that have names, and a clock.
type rig struct {
	t      *testing.T
	server *Server
	now    time.Time
	conns  map[string]Conn
	names  map[Conn]string
	timers map[Timer]time.Time
	// told is what each client was sent, a line a frame; facts is the rest.
	told  map[string][]string
	facts []Effect
	// held keeps the timer of lists from firing at once.
	held bool
	// placed tells that a recording's time is known.
	placed bool
}

func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	orText(&o.Instance, "lab-server")
	return &rig{
		t: t, server: New(o), now: time.UnixMilli(1_700_000_000_000),
		conns: map[string]Conn{}, names: map[Conn]string{}, timers: map[Timer]time.Time{}, told: map[string][]string{},
	}
}

func (r *rig) open(name string) {
	c := Conn(len(r.names) + 1)
	r.conns[name], r.names[c] = c, name
	r.step(Opened{Conn: c, Peer: "peer-" + name})
}

func (r *rig) say(name, frame string) { r.step(Receive(r.conns[name], []byte(frame))) }

func (r *rig) end(name string) { r.step(Ended{Conn: r.conns[name]}) }

// step passes an input on, and lets lists follow at once unless they are held.
func (r *rig) step(in Input) []Effect {
	r.t.Helper()
	effects := r.server.Step(r.now, in)
	r.carryOut(effects)
	for !r.held {
		due := Timer{Kind: TimerSync}
		if _, ok := r.timers[due]; !ok {
			break
		}
		delete(r.timers, due)
		r.carryOut(r.server.Step(r.now, Fired{due}))
	}
	return effects
}

func (r *rig) carryOut(effects []Effect) {
	r.t.Helper()
	for _, e := range effects {
		switch e := e.(type) {
		case Send:
			for _, c := range e.To {
				r.told[r.names[c]] = append(r.told[r.names[c]], frameLine(r.t, e.Frame))
			}
		case Close:
			r.told[r.names[e.Conn]] = append(r.told[r.names[e.Conn]], fmt.Sprintf("CLOSE %d %s", e.Code, e.Reason))
		case SetTimer:
			r.timers[e.Timer] = r.now.Add(e.After)
		case StopTimer:
			delete(r.timers, e.Timer)
		default:
			r.facts = append(r.facts, e)
		}
	}
}

// wait lets time pass, with all timers that are due meanwhile.
func (r *rig) wait(d time.Duration) {
	r.t.Helper()
	end := r.now.Add(d)
	for {
		var due Timer
		for t, when := range r.timers {
			if !when.After(end) && (due.Kind == 0 || when.Before(r.timers[due])) {
				due = t
			}
		}
		if due.Kind == 0 {
			break
		}
		r.now = r.timers[due]
		delete(r.timers, due)
		r.carryOut(r.server.Step(r.now, Fired{due}))
	}
	r.now = end
}

// firstBeat is how long after the connections the first recorded moment was.
const firstBeat = 3200 * time.Millisecond

// until lets time pass until a recorded moment; zero is none. All that came before the
// first one took no time.
func (r *rig) until(at time.Time) {
	r.t.Helper()
	if at.IsZero() {
		return
	}
	if !r.placed {
		r.placed = true
		shift := at.Add(-firstBeat).Sub(r.now)
		for t, when := range r.timers {
			r.timers[t] = when.Add(shift)
		}
		for _, c := range r.server.order {
			c.seen = c.seen.Add(shift)
		}
		r.now = r.now.Add(shift)
	}
	r.wait(at.Sub(r.now))
}

const ourSource = ` from "lab-server"`

// frameLine is a frame for people: its type, its data and the rest, without what is
// undefined, without ids and times of the server's, and without an engine's words.
func frameLine(t *testing.T, frame []byte) string {
	t.Helper()
	var w struct {
		JSON map[string]any
		Meta struct{ Values map[string]any }
	}
	require.NoError(t, json.Unmarshal(frame, &w), "%s", frame)
	dropUndefined(w.JSON, w.Meta.Values)
	kind, data := w.JSON["type"], w.JSON["data"]
	metadata, _ := w.JSON["metadata"].(map[string]any)
	source, _ := metadata["source"].(map[string]any)
	if source["id"] != "lab-server" {
		delete(w.JSON, "type")
		delete(w.JSON, "data")
		return fmt.Sprintf("%v %s | %s", kind, line(t, data), line(t, w.JSON))
	}
	d := data.(map[string]any)
	if _, ok := d["at"]; ok {
		d["at"] = "now"
	}
	if s, ok := d["peerId"].(string); ok && (strings.Count(s, "-") == 4 || strings.HasPrefix(s, "peer-")) {
		d["peerId"] = "its own"
	}
	if s, ok := d["message"].(string); ok && strings.HasPrefix(s, "invalid JSON, error: ") {
		d["message"] = "invalid JSON, error: …"
	}
	event := metadata["event"].(map[string]any)
	require.NotEmpty(t, event["id"])
	parent := ""
	if p, ok := event["parentId"]; ok {
		parent = " answers " + line(t, p)
	}
	return fmt.Sprintf("%v %s%s%s", kind, line(t, data), parent, ourSource)
}

func line(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

// dropUndefined takes away what annotations say is not there, also below others.
func dropUndefined(value any, annotations map[string]any) {
	for path, a := range annotations {
		list, _ := a.([]any)
		parts := splitPath(path)
		if len(list) > 0 && list[0] == "undefined" {
			dropAt(value, parts)
		}
		if len(list) == 2 {
			if nested, ok := list[1].(map[string]any); ok {
				dropUndefined(valueAt(value, parts), nested)
			}
		}
	}
}

func valueAt(value any, parts []string) any {
	for _, part := range parts {
		switch v := value.(type) {
		case map[string]any:
			value = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

func dropAt(value any, parts []string) {
	if m, ok := valueAt(value, parts[:len(parts)-1]).(map[string]any); ok {
		delete(m, parts[len(parts)-1])
	}
}

var protocolNow = time.UnixMilli(1_700_000_000_000)

// splitPath reads a path of annotations: parts are separated by dots, and "\\." is a dot.
func splitPath(path string) []string {
	parts := strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", ".")
	}
	return parts
}
