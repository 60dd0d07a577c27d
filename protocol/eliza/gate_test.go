package eliza

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

type gateVectors struct {
	Vectors []struct {
		Granted           json.RawMessage
		Surface           string
		Invoked, OK       bool
		Code, Message     *string
		AuditedPermission *string
	}
}

// targets are a handler of each surface that the definition has, as it is announced.
var targets = map[string]string{
	surfaceAction: "action:GREET:1", surfaceProvider: "provider:TIME:3", surfaceModel: "model:TEXT:4", surfaceEvent: "event:E#0:5",
	surfaceService: "service:clock.now:7", surfaceEvaluator: "evaluator:SCORE:8", surfaceRoute: "route:GET /hello:9",
}

func TestGrants_areAsTheReferenceHasThem(t *testing.T) {
	var v gateVectors
	vectors(t, "permission-gate", &v)
	require.NotEmpty(t, v.Vectors)
	for _, c := range v.Vectors {
		wanted, allowed := GrantsOf(c.Granted).Surface(c.Surface)
		require.Equal(t, c.AuditedPermission == nil, allowed, "%s %s", c.Granted, c.Surface)
		if c.AuditedPermission != nil {
			require.Equal(t, *c.AuditedPermission, wanted)
		}
	}
}

// A worker invokes, refuses and tells what the reference's does.
func TestWorker_gatesAsTheReference(t *testing.T) {
	var v gateVectors
	vectors(t, "permission-gate", &v)
	for _, c := range v.Vectors {
		about := c.Surface + " " + string(c.Granted)
		var denied []Denial
		r := newWorkerRig(t, WorkerSettings{Granted: c.Granted, Denied: func(d Denial) { denied = append(denied, d) }})
		target := targets[c.Surface]
		said := r.receive(`{"type":"worker-rpc","requestId":1,"surface":"` + c.Surface + `","target":"` + target + `","args":{}}`)
		if c.Invoked {
			require.Regexp(t, "^task 1 ", said[0], about)
			said = r.step(protocol.Reply{ID: 1})
		}
		frame, ok := strings.CutPrefix(said[len(said)-1], "send ")
		require.True(t, ok, about)
		var answer struct {
			OK    bool
			Error *struct{ Message, Code *string }
		}
		require.NoError(t, json.Unmarshal([]byte(frame), &answer))
		require.Equal(t, c.OK, answer.OK, about)
		var want []Denial
		if c.AuditedPermission != nil {
			want = []Denial{{Plugin: "p", Surface: c.Surface, Target: target, Permission: *c.AuditedPermission}}
		}
		require.Equal(t, want, denied, about)
		switch {
		case c.OK:
			require.Nil(t, answer.Error, about)
		case c.Surface == surfaceTests: // of which no announcement makes a handler, there either
			require.Equal(t, codeUnknown, *answer.Error.Code)
		default:
			require.Equal(t, c.Code, answer.Error.Code, about)
			require.Equal(t, c.Message, answer.Error.Message, about)
		}
	}
}

func TestGrants_gateTheRuntime(t *testing.T) {
	for _, c := range []struct {
		granted, method, wanted string
	}{
		{``, "useModel", ""},
		{`{"isolation":"isolated-process"}`, "setSetting", ""},
		{`{"bun":{"read":true}}`, "getSetting", ""},
		{`{"bun":{"read":true}}`, "setSetting", "bun:write | host:*"},
		{`{"bun":{"read":true}}`, "invoke", "bun:run | host:*"},
		{`{"bun":{"write":true}}`, "createMemory", ""},
		{`{"bun":{"write":true}}`, "getMemory", "bun:read | host:*"},
		{`{"bun":{"run":true}}`, "setSetting", ""},
		{`{"host":{"storage":true}}`, "useModel", ""},
		{`{"host":{"storage":false}}`, "composeState", "bun:read | host:*"},
	} {
		wanted, allowed := GrantsOf(raw(c.granted)).Method(c.method)
		require.Equal(t, c.wanted, wanted)
		require.Equal(t, c.wanted == "", allowed)
	}
}
