package capability

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOwner_string(t *testing.T) {
	require.Equal(t, "the host", HostOwner.String())
	require.Equal(t, "plugin hello", plugin("hello").String())
	require.Equal(t, "plugin hello, instance a", Owner{"hello", "a"}.String())
}

func TestOffer_json(t *testing.T) {
	full := Offer{
		Key: "tool:x", Owner: Owner{"p", "a"}, State: ready, Priority: 3, Invocable: true, Description: "d",
		InputSchema: json.RawMessage(`{"type":"object"}`), Metadata: json.RawMessage(`{"a":1}`),
		Target: "a session", Reason: "r", Revision: 7, UpdatedAt: at(1500), ReadyAt: at(1000),
	}
	text, err := json.Marshal(full)
	require.NoError(t, err)
	require.JSONEq(t, `{"key":"tool:x","owner":{"plugin":"p","instance":"a"},"state":"ready","priority":3,
		"invocable":true,"description":"d","inputSchema":{"type":"object"},"metadata":{"a":1},"reason":"r",
		"revision":7,"updatedAt":"1970-01-01T00:00:01.5Z","readyAt":"1970-01-01T00:00:01Z"}`, string(text))

	var back Offer
	require.NoError(t, json.Unmarshal(text, &back))
	full.Target = nil // does not leave the process
	require.Equal(t, full, back)

	text, err = json.Marshal(Offer{Key: "tool:x", Owner: plugin("p"), State: announced, UpdatedAt: at(0)})
	require.NoError(t, err)
	require.JSONEq(t, `{"key":"tool:x","owner":{"plugin":"p"},"state":"announced","invocable":false,
		"revision":0,"updatedAt":"1970-01-01T00:00:00Z"}`, string(text))
}

func TestDescriptor_jsonIsTheReferenceHosts(t *testing.T) {
	r := New(Options{})
	with, _, err := r.Announce(at(0), "k", json.RawMessage(`{"a":1}`))
	require.NoError(t, err)
	without, _, err := r.Withdraw(at(12), "never-announced", nil)
	require.NoError(t, err)
	for want, d := range map[string]Descriptor{
		`{"key":"k","state":"announced","metadata":{"a":1},"updatedAt":0}`: with,
		`{"key":"never-announced","state":"withdrawn","updatedAt":12}`:     without,
	} {
		text, err := json.Marshal(d)
		require.NoError(t, err)
		require.Equal(t, want, string(text)) // to the letter, in this order
	}
}

func TestChange_survivesJSON(t *testing.T) {
	r := New(Options{})
	_, err := r.Offer(at(0), Offer{Key: "tool:x", Owner: plugin("p")})
	require.NoError(t, err)
	changes, err := r.SetState(at(1), plugin("p"), "tool:x", ready, "started")
	require.NoError(t, err)

	text, err := json.Marshal(changes)
	require.NoError(t, err)
	var back []Change
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, changes, back)

	text, err = json.Marshal(r.Remove(at(2), plugin("p"))[0])
	require.NoError(t, err)
	require.NotContains(t, string(text), "after")
}

func TestOffer_refused(t *testing.T) {
	good := func() Offer { return Offer{Key: "tool:x", Owner: plugin("p")} }
	tests := []struct {
		name  string
		spoil func(*Offer)
		want  string
	}{
		{"no plugin", func(o *Offer) { o.Owner.Plugin = "" }, "an owner has no plugin name"},
		{
			"the host's name", func(o *Offer) { o.Owner = Owner{HostOwner.Plugin, "a"} },
			"plugin airi-host: the name is the host's own: choose another",
		},
		{"a bad key", func(o *Offer) { o.Key = "tool:" }, `plugin p: capability key "tool:" has no name: expected one after "tool:"`},
		{
			"a bad schema", func(o *Offer) { o.InputSchema = json.RawMessage(`{`) },
			`plugin p: offer tool:x: inputSchema is not valid JSON: "{"`,
		},
		{
			"bad metadata", func(o *Offer) { o.Metadata = json.RawMessage(`nonsense`) },
			`plugin p: offer tool:x: metadata is not valid JSON: "nonsense"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, bad := New(Options{}), good()
			tt.spoil(&bad)
			changes, err := r.Offer(time.Time{}, good(), bad)
			require.EqualError(t, err, tt.want)
			require.Empty(t, changes)
			require.Empty(t, r.Snapshot().Offers(), "all or nothing")
		})
	}
}
