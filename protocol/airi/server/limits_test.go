package server

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
)

func TestServer_answersAtItsLimits(t *testing.T) {
	long := strings.Repeat("x", 257)
	big := strings.Repeat("x", 5<<10)
	for name, c := range map[string]struct {
		limits Limits
		before []string
		frame  string
		want   string
	}{
		"a name": {frame: byModule(long, "p", "1"), want: "the field 'name' has more than 256 bytes for event 'module:announce'"},
		"an identity": {
			frame: byExtension("m", "p", big),
			want:  "the field 'identity' has more than 4096 bytes for event 'extension:module:announce'",
		},
		"an extension": {
			frame: event("extension:announce", `{"identity":{"id":"`+big+`"}}`, ""),
			want:  "the field 'identity' has more than 4096 bytes for event 'extension:announce'",
		},
		"an extension's data": {
			limits: Limits{Announcement: 100}, frame: event("extension:announce", `{"identity":{"id":"p"},"x":"`+long+`"}`, ""),
			want: "the data has more than 100 bytes for event 'extension:announce'",
		},
		"an announcement's data": {
			limits: Limits{Announcement: 100}, frame: event("module:announce", `{"name":"m","identity":{"kind":"plugin","plugin":{"id":"p"}},"x":"`+long+`"}`, ""),
			want: "the data has more than 100 bytes for event 'module:announce'",
		},
		"a life": {
			limits: Limits{Acted: 200}, frame: event("module:status", `{"phase":"`+long+`"}`, ""),
			want: "the frame has more than 200 bytes for event 'module:status'",
		},
		"a configuration": {
			limits: Limits{Acted: 200}, frame: event("ui:configure", `{"moduleName":"`+long+`"}`, ""),
			want: "the frame has more than 200 bytes for event 'ui:configure'",
		},
		"a heartbeat": {
			limits: Limits{Acted: 200}, frame: event("transport:connection:heartbeat", `{"message":"`+long+`"}`, ""),
			want: "the frame has more than 200 bytes for event 'transport:connection:heartbeat'",
		},
		"a request's data": {
			limits: Limits{Announcement: 100}, frame: event("module:compatibility:request", `{"protocolVersion":"`+long+`"}`, ""),
			want: "the data has more than 100 bytes for event 'module:compatibility:request'",
		},
		"modules": {
			limits: Limits{Modules: 1}, before: []string{byExtension("m", "p", "1")}, frame: byExtension("m", "p", "2"),
			want: "this connection has announced 1 modules, the limit",
		},
		"sessions": {
			limits: Limits{Sessions: 1}, before: []string{byExtension("m", "p", "1")}, frame: byExtension("m", "p", "2"),
			want: "the host has 1 sessions, its limit",
		},
		"the list": {
			limits: Limits{Registry: 100}, before: []string{byExtension("m", "p", "1")}, frame: byExtension("m", "p", "2"),
			want: "the list of modules would have more than 100 bytes, the limit",
		},
		"a peer id": {
			frame: event("peer:authenticate", `{"peerId":"`+long+`"}`, ""),
			want:  "the field 'peerId' has more than 256 bytes for event 'peer:authenticate'",
		},
		"peer ids": {
			limits: Limits{Aliases: 1}, before: []string{event("peer:authenticate", `{"peerId":"a"}`, "")},
			frame: event("peer:authenticate", `{"peerId":"b"}`, ""), want: "this connection has 1 peer ids, the limit: choose none",
		},
		"a consumer's event": {
			frame: event("module:consumer:register", `{"event":"`+long+`"}`, ""),
			want:  "the fields 'event' and 'group' have more than 256 bytes for event consumer registration",
		},
		"a consumer's group": {
			frame: event("module:consumer:register", `{"event":"x","group":"`+long+`"}`, ""),
			want:  "the fields 'event' and 'group' have more than 256 bytes for event consumer registration",
		},
		"consumers": {
			limits: Limits{Consumers: 1}, before: []string{event("module:consumer:register", `{"event":"x"}`, "")},
			frame: event("module:consumer:register", `{"event":"y"}`, ""), want: "this connection has registered for 1 events, the limit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{Limits: c.limits})
			r.open("a")
			for _, frame := range c.before {
				r.say("a", frame)
				r.say("a", frame) // what is there already, there is room for
			}
			require.NotContains(t, strings.Join(r.told["a"], "\n"), "error")
			r.took()
			clear(r.told)
			r.say("a", c.frame)
			require.Contains(t, strings.Join(r.told["a"], "\n"), `error {"message":"`+c.want+`"}`)
			require.Equal(t, []string{"dropped limit"}, r.took())
		})
	}
}

func TestServer_hasSoManyConnections(t *testing.T) {
	r := newRig(t, Options{Limits: Limits{Conns: 2}})
	for _, name := range []string{"a", "b", "c"} {
		r.open(name)
	}
	require.Equal(t, []string{"CLOSE 1013 the host has 2 connections, its limit"}, r.told["c"])
	r.end("c")
	r.end("a")
	r.open("d")
	require.NotContains(t, r.last("d"), "CLOSE")
}

func TestServer_takesNoLongSource(t *testing.T) {
	r := newRig(t, Options{})
	r.open("a")
	r.took()
	long := `,"metadata":{"source":{"id":"` + strings.Repeat("x", 5<<10) + `","extension":{"id":"p"}},"event":{"id":"e"}}}`
	r.say("a", `{"type":"x:y","data":{}`+long)
	require.Equal(t, []string{"dropped long-source"}, r.took())
	require.Nil(t, r.server.conns[1].source)
}

func TestServer_namesNoLongID(t *testing.T) {
	r := newRig(t, Options{Verify: tokens})
	r.open("a")
	for id, want := range map[string]string{
		`7`: ` answers 7`, `{"a":[1]}`: ` answers {"a":[1]}`, `null`: ``, `"` + strings.Repeat("x", 2<<10) + `"`: ``,
	} {
		r.say("a", `{"type":"x:y","data":{},"metadata":{"event":{"id":`+id+`}}}`)
		require.Equal(t, `error {"message":"not authenticated"}`+want+ourSource, r.last("a"))
	}
}

func TestServer_forgetsTheOldestStickyKey(t *testing.T) {
	r := newRig(t, Options{Limits: Limits{Sticky: 2}})
	for _, name := range []string{"s", "a", "b"} {
		r.open(name)
	}
	register := func(name string, priority int) {
		r.say(name, event("module:consumer:register", fmt.Sprintf(`{"event":"x:y","priority":%d}`, priority), ""))
	}
	send := func(key string) []string {
		clear(r.told)
		r.say("s", event("x:y", `{}`, `,"route":{"delivery":{"mode":"consumer","selection":"sticky","stickyKey":"`+key+`"}}`))
		return r.who()
	}
	register("a", 5)
	require.Equal(t, []string{"a"}, send("1"))
	require.Equal(t, []string{"a"}, send("2"))
	register("b", 9)
	require.Equal(t, []string{"a"}, send("1"))
	require.Equal(t, []string{"b"}, send("3")) // and 1 is forgotten
	require.Equal(t, []string{"a"}, send("2"))
	require.Equal(t, []string{"b"}, send("1"))
	require.Equal(t, []string{"b"}, send(strings.Repeat("k", 257)))
	g := r.server.groups[groupKey{"x:y", "default"}]
	require.Len(t, g.keys, 2)
	require.Len(t, g.sticky, 2)
	r.end("a")
	r.end("b")
	require.Empty(t, r.server.groups)
}

func TestServer_consumersThatAreLateGetNothing(t *testing.T) {
	r := newRig(t, Options{})
	for _, name := range []string{"s", "a"} {
		r.open(name)
	}
	r.say("a", byExtension("m", "p", "1"))
	r.say("a", event("module:consumer:register", `{"event":"x:y"}`, ""))
	r.wait(r.server.o.Beat)
	required := event("x:y", `{}`, `,"route":{"delivery":{"mode":"consumer","required":true}}`)
	r.say("s", required)
	require.Contains(t, r.last("s"), "no consumer registered for requested event delivery")
	r.took()
	r.say("a", "ping")
	require.Equal(t, []string{"1 healthy: true"}, r.took())
	r.say("s", required)
	require.Contains(t, r.last("a"), "x:y {}")
}

func TestServer_passesLongFramesOn(t *testing.T) {
	r := newRig(t, Options{Limits: Limits{Acted: 200}})
	r.open("a")
	r.open("b")
	r.say("a", event("x:y", `{"text":"`+strings.Repeat("x", 300)+`"}`, ""))
	require.Contains(t, r.last("b"), "x:y")
}

// Who has gone is not kept by the keys that it had.
func TestConsumers_keepNobodyWhoHasGone(t *testing.T) {
	r := newRig(t, Options{})
	for _, name := range []string{"s", "a", "b"} {
		r.open(name)
	}
	gone := weak.Make(r.server.conns[r.conns["a"]])
	for _, name := range []string{"a", "b"} {
		r.say(name, event("module:consumer:register", `{"event":"x:y"}`, ""))
	}
	r.say("s", event("x:y", `{}`, `,"route":{"delivery":{"mode":"consumer","selection":"sticky","stickyKey":"k"}}`))
	r.end("a")
	runtime.GC()
	require.Nil(t, gone.Value())
	r.say("s", event("x:y", `{}`, `,"route":{"delivery":{"mode":"consumer","selection":"sticky","stickyKey":"k"}}`))
	require.Contains(t, r.last("b"), "x:y", "it is another's now")
}
