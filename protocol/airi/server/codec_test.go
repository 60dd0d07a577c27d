package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestDecode_bothForms(t *testing.T) {
	plain := `{"type":"x:y","data":{"n":1},"metadata":{"source":{"id":"s"},"event":{"id":"e"}},"route":{"bypass":true},"extra":[]}`
	for _, record := range []string{plain, " \n" + plain + "\t", `{"json":` + plain + `}`, `{"meta":{"v":1},"json":` + plain + `}`, `{"json":` + plain + `,"meta":null,"more":1}`} {
		f, err := Decode([]byte(record))
		require.NoError(t, err, record)
		require.Equal(t, "x:y", f.Type)
		require.Equal(t, `{"n":1}`, string(f.Data))
		require.Equal(t, `"e"`, string(f.id))
		require.Equal(t, `{"id":"s"}`, string(f.source))
		require.True(t, f.hasRoute)
	}
}

func TestDecode_refuses(t *testing.T) {
	for record, want := range map[string]string{
		``:                                  "invalid JSON, error: the text ends too early",
		`{"type":"x","data":{`:              "invalid JSON, error: the text ends too early",
		`hello`:                             "invalid JSON, error: expected something else at byte 0: hello",
		` ping`:                             "invalid JSON, error: expected something else at byte 1: ping",
		`{"type":"x","data":{}} {}`:         "invalid JSON, error: expected something else at byte 23: {}",
		"{\"type\":\"\xff\",\"data\":{}}":   "invalid JSON, error: expected UTF-8",
		`null`:                              "invalid event format",
		`"ping"`:                            "invalid event format",
		`[]`:                                "invalid event format",
		`{}`:                                "invalid event format",
		`{"type":5,"data":{}}`:              "invalid event format",
		`{"type":"x"}`:                      "invalid event format",
		`{"type":"x","data":[]}`:            "invalid event format",
		`{"Type":"x","Data":{}}`:            "invalid event format",
		`{"type":"x","type":"y","data":{}}`: "invalid event format",
		`{"json":{"type":"x","data":{},"data":{}}}`:                                                         "invalid event format",
		`{"json":{"type":"x","data":{}},"json":{}}`:                                                         "invalid event format",
		`{"json":{"type":5,"data":{}},"type":"x","data":{}}`:                                                "invalid event format",
		`{"type":"x","data":{},"metadata":{}}`:                                                              "invalid event format",
		`{"type":"x","data":{},"metadata":{"event":null}}`:                                                  "invalid event format",
		`{"type":"x","data":{},"metadata":{"event":7}}`:                                                     "invalid event format",
		`{"type":"x","data":{},"metadata":7}`:                                                               "invalid event format",
		`{"json":{"type":"x","data":{}},"meta":{"values":{"__proto__.x":["Date"]}}}`:                        "invalid event format",
		`{"json":{"type":"x","data":{}},"meta":{"values":{"data.\u005f_proto__":["Date"]}}}`:                "invalid event format",
		`{"json":{"type":"x","data":{}},"meta":{"values":{"data.m":["map",{"0.constructor.x":["Date"]}]}}}`: "invalid event format",
		`{"json":{"type":"x","data":{}},"meta":{"referentialEqualities":{"data.a":["data.prototype"]}}}`:    "invalid event format",
	} {
		_, err := Decode([]byte(record))
		require.EqualError(t, err, want, record)
		var bad *BadFrame
		require.ErrorAs(t, err, &bad)
	}
}

func TestDecode_tellsTheOthers(t *testing.T) {
	for _, record := range []string{"ping", "pong"} {
		f, err := Decode([]byte(record))
		require.NoError(t, err)
		require.Equal(t, record, f.Control)
		require.Equal(t, record, string(f.Forward()))
	}
	f, err := Decode([]byte(`{"type":"x","payload":{},"data":{}}`))
	require.NoError(t, err)
	require.False(t, f.Eventa, "an event may have a member of that name")
}

func TestIndexes(t *testing.T) {
	for literal, want := range map[string]int{"0": 0, "1.0": 1, "1e2": 100, "9007199254740992": 1 << 53} {
		i, ok := readIndex([]byte(literal))
		require.True(t, ok, literal)
		require.Equal(t, want, *i)
	}
	for _, literal := range []string{"-1", "1.5", `"0"`, "null", "true", "1e99", "1e999", "{}", "9007199254740993.5e1"} {
		_, ok := readIndex([]byte(literal))
		require.False(t, ok, literal)
	}
}

func TestReadSource_shapes(t *testing.T) {
	for source, want := range map[string]Identity{
		`{"plugin":"p","instanceId":"i"}`:                                       {Plugin: "p", Instance: "i"},
		`{"kind":"plugin","id":"i","plugin":{"id":"p","version":"1"}}`:          {Plugin: "p", Instance: "i", Version: "1"},
		`{"id":"i","extension":{"id":"p"}}`:                                     {Plugin: "p", Instance: "i"},
		`{"kind":"plugin","id":"i","extension":{"id":"e"},"plugin":{"id":"p"}}`: {Plugin: "e", Instance: "i"},
	} {
		id, ok := readSource([]byte(source))
		require.True(t, ok, source)
		id.Raw, id.Labels, id.own = nil, nil, nil
		require.Equal(t, want, id, source)
	}
	for _, source := range []string{`{}`, `{"id":"i"}`, `{"plugin":"p"}`, `7`, `[]`, `{"extension":7,"plugin":null}`} {
		_, ok := readSource([]byte(source))
		require.False(t, ok, source)
	}
	id, ok := readModuleIdentity([]byte(`{"plugin":"p","instanceId":"i","version":"2","labels":{"a":"b"}}`))
	require.True(t, ok)
	require.JSONEq(t, `{"kind":"plugin","plugin":{"id":"p","version":"2"},"id":"i","labels":{"a":"b"}}`, string(id.Raw))
}

// seedFrames are all frames of all recordings.
func seedFrames(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/*.ndjson")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		for line := range strings.Lines(string(data)) {
			var r row
			if json.Unmarshal([]byte(line), &r) == nil && r.Text != nil {
				f.Add([]byte(*r.Text))
			}
		}
	}
}

// What decodes is passed on as the same event.
func FuzzDecode(f *testing.F) {
	seedFrames(f)
	f.Fuzz(func(t *testing.T, record []byte) {
		got, err := Decode(record)
		if err != nil || got.Control != "" || got.Eventa {
			return
		}
		sent := got.Forward()
		if s := (protocol.Scanner{Data: sent}); !s.Whole() {
			t.Fatalf("no JSON: %q", sent)
		}
		again, err := Decode(sent)
		require.NoError(t, err, "%s", sent)
		require.True(t, again.Event.Wrapped)
		require.Equal(t, got.Type, again.Type)
		require.Equal(t, string(got.Data), string(again.Data))
		require.Equal(t, string(got.metadata), string(again.metadata))
		require.Equal(t, string(got.route), string(again.route))
	})
}

// Whatever two peers say, authenticated or not, all that is sent are well-formed frames.
func FuzzServer(f *testing.F) {
	seedFrames(f)
	for _, kind := range LifeTypes {
		f.Add([]byte(event(kind, `{"identity":{"id":"1","extension":{"id":"p"}}}`, "")))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		for _, o := range []Options{{}, {Verify: tokens}, {Policy: Policy{AllowLabels: []string{"env"}}}} {
			r := newRig(t, o)
			for _, name := range []string{"a", "b"} {
				r.open(name)
			}
			r.say("b", byExtension("m", "p", "1"))
			for _, name := range []string{"a", "b", "a"} {
				for _, e := range r.server.Step(r.now, Receive(r.conns[name], record)) {
					wantSound(t, e)
				}
			}
			for _, kind := range []TimerKind{TimerSync, TimerBeat} {
				r.server.Step(r.now, Fired{Timer{Kind: kind}})
			}
			for _, name := range []string{"a", "b"} {
				for _, e := range r.server.Step(r.now, Ended{Conn: r.conns[name]}) {
					wantSound(t, e)
				}
			}
			require.Zero(t, r.server.list.bytes)
			require.Empty(t, r.server.order)
			require.Empty(t, r.server.groups)
			require.Empty(t, r.server.aliases)
			require.Equal(t, len(r.server.sessions), r.server.away)
		}
	})
}

func wantSound(t *testing.T, e Effect) {
	t.Helper()
	s, ok := e.(Send)
	if !ok {
		return
	}
	f, err := Decode(s.Frame)
	require.NoError(t, err, "%s", s.Frame)
	require.True(t, f.Event.Wrapped)
}

func FuzzDestinations(f *testing.F) {
	for _, table := range []string{"head", "v0102"} {
		data, err := os.ReadFile("testdata/" + table + "-routing.table.json")
		require.NoError(f, err)
		var rows []tableRow
		require.NoError(f, json.Unmarshal(data, &rows))
		for _, row := range rows {
			f.Add([]byte(row.Route))
			f.Add([]byte(row.Data))
		}
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		if s := (protocol.Scanner{Data: list}); !s.Whole() {
			return
		}
		l := Limits{}.withDefaults()
		terms, err := readDestinations(list, l)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(terms), l.Terms)
		r := newRig(t, Options{})
		r.open("a")
		r.say("a", byExtension("m", "p", "1"))
		r.open("b")
		for _, c := range r.server.order {
			r.server.matches(c, terms)
		}
	})
}
