package airi

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// owed is what a link's driver still owes, and is owed, by the promises of protocol.
type owed struct {
	t         *testing.T
	d         *remote
	time      time.Time
	calls     map[protocol.CallID]bool
	serves    map[protocol.RequestID]bool
	seenServe map[protocol.RequestID]bool
	offered   map[string]bool
	running   protocol.Step
	lastCall  protocol.CallID
	absent    bool
	closed    bool
}

func newOwed(t *testing.T, negotiates bool) *owed {
	t.Helper()
	return &owed{
		t: t, time: now, d: newRemote(Remote{Session: 7, Negotiates: negotiates}, protocol.Settings{Plugin: "p", MaxPending: 3}, Collecting{Items: 2}),
		calls: map[protocol.CallID]bool{}, serves: map[protocol.RequestID]bool{}, seenServe: map[protocol.RequestID]bool{}, offered: map[string]bool{},
	}
}

// end closes the link, after which nothing is owed.
func (o *owed) end() {
	o.t.Helper()
	o.step(protocol.Closed{})
	o.closed = true
	require.Empty(o.t, o.calls)
	require.Empty(o.t, o.serves)
	require.Empty(o.t, o.running)
}

// step gives an input and holds its effects to the promises.
func (o *owed) step(in protocol.Input) {
	o.t.Helper()
	o.time = o.time.Add(time.Millisecond)
	for _, e := range o.d.Step(o.time, in, nil) {
		o.take(e)
	}
}

func (o *owed) take(e protocol.Effect) {
	o.t.Helper()
	switch e := e.(type) {
	case protocol.Send:
		require.False(o.t, o.closed)
		_, err := remoteCodec{}.Encode(nil, e.Message)
		require.NoError(o.t, err)
	case protocol.Complete:
		require.True(o.t, o.calls[e.ID], "call %d is completed once, if nobody cancelled it", e.ID)
		delete(o.calls, e.ID)
	case protocol.Progress:
		require.True(o.t, o.calls[e.ID])
	case protocol.Serve:
		require.False(o.t, o.seenServe[e.ID])
		o.serves[e.ID], o.seenServe[e.ID] = true, true
	case protocol.Fed:
		require.True(o.t, o.serves[e.ID])
	case protocol.FedEnd:
		require.True(o.t, o.serves[e.ID])
	case protocol.Abandon:
		require.True(o.t, o.serves[e.ID], "request %d is abandoned once, if it was not answered", e.ID)
		delete(o.serves, e.ID)
	case protocol.Ran:
		require.Equal(o.t, o.running, e.Step)
		o.running = ""
	case protocol.Offered:
		o.offered[e.Offer.Key] = true
	case protocol.Retracted:
		require.True(o.t, o.offered[e.Key])
		delete(o.offered, e.Key)
	case protocol.Absent:
		o.absent = true
	case protocol.Present:
		require.True(o.t, o.absent)
		o.absent = false
	}
}

// Whatever comes in which order, each call is completed once, each request answered or
// abandoned, each step ends once, and nothing is kept beyond its bounds.
func TestRemote_keepsItsPromisesInAnyOrder(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			o := newOwed(t, seed%2 == 0)
			for range 300 {
				o.act(r)
				o.bounded()
			}
			o.end()
			for range 20 {
				o.act(r)
			}
			require.Empty(t, o.calls)
			require.Empty(t, o.serves)
		})
	}
}

// FuzzRemote_received gives a driver with calls of each sort, a step and a request in flight
// any records at all, divided by NUL: the promises are kept.
func FuzzRemote_received(f *testing.F) {
	for _, line := range recordedFrames(f) {
		f.Add([]byte(line))
	}
	for _, record := range []string{
		older("greet-receive-airi-host-7-1", "airi-host-7-1", `"invokeType":4`) + "\x00" + older("greet-receive-airi-host-7-1", "airi-host-7-1", `"x":1`),
		older("clock-send", "theirs", `"x":1`) + "\x00away gone\n\x00back\n\x00" + older("clock-send-abort", "theirs", `"x":1`),
		"said e\n{}\x00said e\n{}\x00swapped\n\x00life module:status\n" + ready, "life module:configuration:needed\n" + needs + "\x00life module:prepared\n",
		"announced\n{\"possibleEvents\":[\"a\",\"a\"]}\x00announced\n{}\x00life module:contribute:capability:offer\n{\"capability\":{\"id\":\"a\"}}",
	} {
		f.Add([]byte(record))
	}
	f.Fuzz(func(t *testing.T, records []byte) {
		o := newOwed(t, len(records)%2 == 0)
		for i, key := range []string{"greet", validateTag, "event:e"} {
			o.calls[protocol.CallID(i)] = true
			o.step(protocol.Invoke{ID: protocol.CallID(i), Call: protocol.Call{Key: key, Input: raw("{}")}})
		}
		o.running = protocol.StepInit
		o.step(protocol.Run{Step: protocol.StepInit})
		o.step(protocol.Received{Message: formed{Frame{ID: "clock-send", Body: raw(`{"invokeId":"theirs"}`)}, olderForm}})
		for record := range bytes.SplitSeq(records, []byte{0}) {
			messages, _ := remoteCodec{}.Decode(record) // what is none is nothing
			for _, m := range messages {
				o.step(protocol.Received{Message: m})
				o.bounded()
			}
		}
		o.end()
	})
}

// act does something that a host or a peer may do.
func (o *owed) act(r *rand.Rand) {
	o.t.Helper()
	if r.IntN(2) == 0 {
		o.peer(r)
		return
	}
	some := protocol.CallID(r.IntN(int(o.lastCall) + 2))
	request := protocol.RequestID(r.IntN(len(o.seenServe) + 2))
	switch r.IntN(9) {
	case 0, 1:
		o.lastCall++
		o.calls[o.lastCall] = true
		key := pick(r, "greet", "event:e", validateTag, "tool:x", "airi-host:x")
		feeds := key == "greet" && r.IntN(2) == 0
		o.step(protocol.Invoke{ID: o.lastCall, Call: protocol.Call{Key: key, Input: raw("{}")}, Follows: r.IntN(2) == 0, Feeds: feeds})
	case 2:
		delete(o.calls, some) // nobody waits for it any more
		o.step(protocol.Cancel{ID: some, Reason: "enough"})
	case 3:
		o.step(pick[protocol.Input](r, protocol.Feed{ID: some, Item: raw("1")}, protocol.FeedEnd{ID: some}))
	case 4:
		o.step(protocol.Report{ID: request, Item: raw("1")})
	case 5, 6:
		delete(o.serves, request)
		o.step(protocol.Reply{ID: request, Result: null})
	case 7:
		if o.running == "" || o.closed {
			o.running = pick(r, allSteps...)
			o.step(protocol.Run{Step: o.running})
		}
	case 8:
		what := pick(r, protocol.MomentCommitted, protocol.MomentConfigured, protocol.MomentFailed, protocol.MomentDegraded)
		for _, e := range narrate(protocol.Moment{What: what, Config: pick(r, tuned, nobodys)}) {
			o.step(protocol.Emit{Event: e})
		}
	}
}

// peer says something that a peer or its websocket's end may say.
func (o *owed) peer(r *rand.Rand) {
	o.t.Helper()
	n := r.IntN(int(o.d.numbered()) + 2)
	ours := fmt.Sprintf("airi-host-7-%d", n)
	record := pick(
		r, "away gone\n", "back\n", "back\n", "swapped\n", "said e\n{}", "said e\n{}", "asked module:status\n{}", "nonsense\n",
		"life module:prepared\n{}", "life module:status\n"+ready, "life module:status\n"+failed, "life module:status\n{\"phase\":\"degraded\"}",
		"life module:status:change\n{\"phase\":\"announced\"}", "life module:configuration:needed\n"+needs,
		"life module:configuration:configured\n{}", "life module:configuration:configured\n{\"config\":{\"configId\":\"x\",\"full\":{}}}",
		"life module:configuration:validate:response\n{}", "life module:configuration:validate:response\n{\"validation\":{\"status\":\"valid\"}}",
		"life module:configuration:plan:response\n{}",
		"life module:contribute:capability:offer\n{\"capability\":{\"id\":\"c\",\"configSchema\":{}}}",
		"life module:contribute:capability:offer\n{\"capability\":{\"id\":\"e\"}}",
		"life module:contribute:capability:activated\n{\"capabilityId\":\"c\",\"active\":true}",
		"life module:contribute:capability:configuration:needed\n{\"capabilityId\":\"e\"}",
		"announced\n{\"possibleEvents\":[\"e\",\"f\"]}", "announced\n{\"possibleEvents\":[\"f\"]}",
		older("greet-receive-"+ours, ours, `"invokeType":4`), older("greet-receive-"+ours, ours, `"x":1`), older("greet-receive-"+ours, ours, `"x":1`),
		older("greet-receive-error-"+ours, ours, `"x":1`), older("greet-receive-stream-end-"+ours, ours, `"x":1`), older("tool:x-receive-"+ours, ours, `"invokeType":4`),
		older("clock-send", fmt.Sprint(n), `"x":1`), older("tool:x-send", fmt.Sprint(n), `"x":1`), older("clock-send-abort", fmt.Sprint(n), `"x":1`),
		older("clock-send-stream-end", fmt.Sprint(n), `"x":1`),
		fmt.Sprintf(`{"deliveryId":"d","hopsRemaining":0,"eventa":{"id":"clock-send","body":{"invokeId":"%d","isReqStream":true}}}`, n),
	)
	messages, err := remoteCodec{}.Decode([]byte(record))
	require.NoError(o.t, err, record)
	for _, m := range messages {
		o.step(protocol.Received{Message: m})
	}
}

func older(id, invokeID, member string) string {
	return fmt.Sprintf(`{"type":"%s","payload":{%s,"body":{"invokeId":"%s","content":{}}}}`, id, member, invokeID)
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func (o *owed) bounded() {
	o.t.Helper()
	d := o.d
	require.LessOrEqual(o.t, len(d.questions), 3)
	require.LessOrEqual(o.t, len(d.hearing), 3)
	require.LessOrEqual(o.t, len(d.eventa.calls), 3)
	require.LessOrEqual(o.t, len(d.eventa.requests), 3)
	require.LessOrEqual(o.t, len(d.eventa.spent.callers), 3)
	require.Equal(o.t, len(d.hearing) == 0, d.heard == 0)
	if len(d.eventa.calls) == 0 {
		require.Zero(o.t, d.eventa.collected)
	}
	if len(d.eventa.requests) == 0 {
		require.Zero(o.t, d.eventa.asking)
	}
	for key, is := range o.offered {
		require.Equal(o.t, is, d.offers[key].offer(key) != nil)
	}
	require.Equal(o.t, d.away != nil || d.life.unwell != "", o.absent)
}

// numbered is the last number that the driver gave to a call.
func (r *remote) numbered() uint64 {
	if r.eventa == nil {
		return 0
	}
	return r.eventa.last
}
