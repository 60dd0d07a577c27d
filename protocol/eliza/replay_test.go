package eliza

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

// replay says of one recorded conversation what is not as our ends do it.
type replay struct {
	// what is it about.
	what string
	// key signs the host's calls, in hexadecimal.
	key string
	// granted are the worker's grants, plugin its name in denials.
	granted string
	// stub tells that the recorded worker sends no init-complete.
	stub bool
	// hostDiffers and workerDiffers say why a call, by its id, is not answered, or not
	// made, as it was recorded.
	hostDiffers, workerDiffers map[string]string
	// byHand is the id of a model that the lab has given to its worker past every announcement.
	byHand string
	// ends says why our host ends the connection.
	ends string
	// start says how the setup step ends, "" for well.
	start string
}

var (
	masks = regexp.MustCompile(`,?"stack":"(?:[^"\\]|\\.)*"`)
	now   = protocoltest.Now
)

// conversation reads a recording, without what the recorder has left out.
func conversation(tb testing.TB, name string) []protocoltest.Line {
	tb.Helper()
	procs := protocoltest.Conversations(tb, "testdata/transcripts/"+name+".ndjson")
	require.Len(tb, procs, 1)
	return slices.DeleteFunc(procs[0], func(l protocoltest.Line) bool { return member(l.Frame, "elided") != nil })
}

func TestReplays_forgetNone(t *testing.T) {
	about := map[string]string{}
	for name, r := range recorded {
		about[name] = r.what
	}
	protocoltest.WantAllReplayed(t, "testdata/transcripts", about)
}

// like is a frame without stacks, and without a payload that is null: both stand for
// nothing.
func like(tb testing.TB, m protocol.Message) string {
	tb.Helper()
	if r, ok := m.(Result); ok && string(r.Payload) == "null" {
		r.Payload = nil
		m = r
	}
	return strings.ReplaceAll(masks.ReplaceAllString(encode(tb, m), ""), `\u2028`, "\u2028")
}

// TestReplay_host puts our host in the place of the recorded one: given what the worker
// wrote, it writes what the host wrote.
func TestReplay_host(t *testing.T) {
	for name, r := range recorded {
		t.Run(name, func(t *testing.T) {
			h := &hostReplay{
				t: t, replay: r, serving: map[string]protocol.Serve{}, waiting: map[string]protocol.CallID{},
				made: map[protocol.CallID]protocol.Call{},
			}
			key, err := hex.DecodeString(r.key)
			require.NoError(t, err)
			if len(key) == 0 {
				key = nil
			}
			h.d = newDriver(Dialect{Plugin: func(protocol.Settings) Plugin { return Plugin{Key: key} }}, protocol.Settings{Plugin: "lab"})
			lines := conversation(t, name)
			if member(lines[0].Frame, "manifest") == nil {
				h.step(protocol.Run{Step: protocol.StepSetup})
			}
			for _, l := range lines {
				if h.ended {
					break
				}
				h.line(l)
			}
			h.end()
		})
	}
}

// hostReplay is our host's end in a recorded conversation.
type hostReplay struct {
	t *testing.T
	replay
	d       *driver
	serving map[string]protocol.Serve
	waiting map[string]protocol.CallID
	made    map[protocol.CallID]protocol.Call
	sent    []protocol.Message
	calls   protocol.CallID
	ran     *protocol.Ran
	ended   bool
}

func (h *hostReplay) line(l protocoltest.Line) {
	h.t.Helper()
	m := decode(h.t, l.Record())
	if !l.FromHost() {
		h.fromWorker(m)
		return
	}
	switch m := m.(type) {
	case Init:
		h.step(protocol.Run{Step: protocol.StepSetup, Params: newObject().raw("manifest", m.Manifest).raw("context", m.Context).done()})
		h.expect(m)
	case Event:
		h.step(protocol.Emit{Event: protocol.Event{Name: textOf(m.Name), Payload: m.Payload}})
		h.expect(m)
	case RPC:
		h.invoke(m)
	case Result:
		h.reply(m)
	case Other, StreamChunk, StreamEnd: // the lab's: no host of ours sends such frames
	default:
		h.t.Fatalf("unexpected %T", m)
	}
}

// invoke has our host make the recorded call, if it is one that a host of ours makes.
func (h *hostReplay) invoke(m RPC) {
	h.t.Helper()
	n, other := protocol.CallNumber(m.RequestID)
	surface, target := textOf(m.Surface), textOf(m.Target)
	_, isText := text(m.Target)
	if other != "" || n == 0 || h.d.calls[n] != nil || !isSurface(surface) || !isText || m.StreamReply && surface != surfaceModel || h.hostDiffers[textOf(m.RequestID)] != "" || !h.signs(m) {
		return
	}
	m.Args = or(m.Args, isNull)
	h.calls++
	c := h.callOf(surface, target, m)
	h.made[h.calls] = c
	h.d.last = n - 1
	if t := h.d.targets[c.Key]; t != nil && t.takesCallback() {
		h.d.last--
	}
	out := h.step(protocol.Invoke{ID: h.calls, Call: c, Follows: m.StreamReply})
	if len(h.sent) == 0 {
		h.t.Fatalf("not called: %v", out)
	}
	h.waiting[string(m.RequestID)] = h.calls
	h.expect(m)
}

// signs tells whether the recorded signature is the one that our host makes.
func (h *hostReplay) signs(m RPC) bool {
	if h.d.plugin.Key == nil {
		return m.MAC == nil
	}
	mac, err := Sign(h.d.plugin.Key, m)
	return err == nil && string(mac) == string(m.MAC)
}

// callOf is the call of a capability that leads to a recorded one, where there is one;
// otherwise it is a call of the handler.
func (h *hostReplay) callOf(surface, target string, m RPC) protocol.Call {
	raw := protocol.Call{Key: RawPrefix + surface + " " + target, Input: m.Args}
	for key, t := range h.d.targets {
		if len(t.ids) != 1 || t.ids[0] != target || t.surface != surface {
			continue
		}
		whole := !isAbsent(member(m.Args, "message")) && !isAbsent(member(m.Args, "state"))
		callback, hasCallback := text(member(m.Args, "callbackId"))
		switch {
		case surface == surfaceModel && member(m.Args, "params") != nil:
			return protocol.Call{Key: key, Input: member(m.Args, "params")}
		case surface == surfaceService && typeOf(member(m.Args, "args")) == "an array":
			return protocol.Call{Key: key, Input: member(m.Args, "args")}
		case surface == surfaceEvent:
			return protocol.Call{Key: key, Input: m.Args}
		case (surface == surfaceProvider || surface == surfaceEvaluator || t.isValidate) && whole:
			return protocol.Call{Key: key, Input: m.Args}
		case surface == surfaceAction && whole && hasCallback:
			n, _ := protocol.CallNumber(m.RequestID)
			if callback == "action-callback:"+string(number(n-1)) && member(m.Args, "options") != nil && member(m.Args, "responses") != nil {
				return protocol.Call{Key: key, Input: kept(m.Args, "message", "state", "options", "responses")}
			}
		}
	}
	return raw
}

func (h *hostReplay) fromWorker(m protocol.Message) {
	h.t.Helper()
	out := h.step(protocol.Received{Message: m})
	if _, announced := m.(Announce); announced && h.stub && h.d.name != "" {
		h.step(protocol.Received{Message: InitComplete{}})
	}
	r, ok := m.(Result)
	if !ok {
		return
	}
	id, ok := h.waiting[string(r.RequestID)]
	if !ok {
		require.IsType(h.t, protocol.Dropped{}, out[0])
		return
	}
	delete(h.waiting, string(r.RequestID))
	require.Len(h.t, out, 1)
	done, ok := out[0].(protocol.Complete)
	require.True(h.t, ok)
	require.Equal(h.t, id, done.ID)
	raw := strings.HasPrefix(h.made[id].Key, RawPrefix)
	switch {
	case string(r.OK) != "true" && isAbsent(r.Error):
		require.EqualError(h.t, done.Err, "Unknown worker-rpc failure")
	case string(r.OK) != "true":
		require.EqualError(h.t, done.Err, remoteError(r.Error).Error())
	case raw:
		require.NoError(h.t, done.Err)
		require.Equal(h.t, string(or(r.Payload, isNull)), string(done.Result))
	case done.Err != nil:
		require.Equal(h.t, protocol.CodeWire, protocol.CodeOf(done.Err))
		require.ErrorContains(h.t, done.Err, ": result")
	}
}

// reply expects our host to answer the worker as recorded.
func (h *hostReplay) reply(m Result) {
	h.t.Helper()
	if !m.FromHost {
		return
	}
	s, ok := h.serving[string(m.RequestID)]
	require.True(h.t, ok, "%s", m.RequestID)
	in := protocol.Reply{ID: s.ID, Result: m.Payload}
	if string(m.OK) != "true" {
		in.Err = remoteError(m.Error)
	}
	h.step(in)
	h.expect(m)
}

// expect wants a frame to be the next one that was sent.
func (h *hostReplay) expect(m protocol.Message) {
	h.t.Helper()
	require.NotEmpty(h.t, h.sent, "not sent: %s", encode(h.t, m))
	require.Equal(h.t, like(h.t, m), like(h.t, h.sent[0]))
	h.sent = h.sent[1:]
}

func (h *hostReplay) step(in protocol.Input) []protocol.Effect {
	h.t.Helper()
	out := h.d.Step(now, in, nil)
	for _, e := range out {
		switch e := e.(type) {
		case protocol.Send:
			h.sent = append(h.sent, e.Message)
		case protocol.Serve:
			r, _ := in.(protocol.Received)
			asked, ok := r.Message.(HostRPC)
			require.True(h.t, ok)
			h.serving[string(asked.RequestID)] = e
			require.Equal(h.t, textOf(asked.Method), e.Call.Key)
			require.Equal(h.t, string(asked.Args), string(e.Call.Input))
		case protocol.Ran:
			require.Nil(h.t, h.ran, "one step is run")
			h.ran = &e
		case protocol.Fail:
			h.ended = true
			require.NotEmpty(h.t, h.ends)
			require.ErrorContains(h.t, e.Err, h.ends)
		}
	}
	return out
}

// end closes the connection: what is in flight ends, and nothing is left over.
func (h *hostReplay) end() {
	h.t.Helper()
	require.Empty(h.t, h.sent)
	require.Equal(h.t, h.ends != "", h.ended)
	require.NotNil(h.t, h.ran, "the setup step is over")
	if h.start == "" {
		require.NoError(h.t, h.ran.Err)
	} else {
		require.ErrorContains(h.t, h.ran.Err, h.start)
		require.Empty(h.t, h.d.targets, "what was announced is withdrawn")
	}
	protocoltest.WantLost(h.t, h.d, len(h.waiting))
}
