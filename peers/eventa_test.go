package peers

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// eventaPeer is a process with Eventa's own websocket adapter in it, and the driver of a
// remote module's link at its other end.
type eventaPeer struct {
	t *testing.T
	*script
	driver protocol.Driver
	calls  protocol.CallID
	// effects are those that nobody has waited for yet.
	effects []protocol.Effect
}

func withEachEventa(t *testing.T, test func(*eventaPeer)) {
	t.Helper()
	for _, set := range []string{EventaA14, EventaB11, EventaB14} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			test(&eventaPeer{
				t: t, script: runScriptOf(t, set, "eventa.mjs"),
				driver: airi.Remote{Session: 7}.NewDriver(protocol.Settings{Plugin: "p"}),
			})
		})
	}
}

func (p *eventaPeer) step(in protocol.Input) {
	p.t.Helper()
	for _, e := range p.driver.Step(time.Now(), in, nil) {
		s, ok := e.(protocol.Send)
		if !ok {
			p.effects = append(p.effects, e)
			continue
		}
		record, err := airi.Remote{}.Codec().Encode(nil, s.Message)
		require.NoError(p.t, err)
		_, err = fmt.Fprintf(p.in, "%s\n", record)
		require.NoError(p.t, err)
	}
}

// next is the next effect that is not a sign of life.
func (p *eventaPeer) next() protocol.Effect {
	p.t.Helper()
	for len(p.effects) == 0 {
		messages, err := airi.Remote{}.Codec().Decode([]byte(p.says(p.t)))
		require.NoError(p.t, err)
		for _, m := range messages {
			p.step(protocol.Received{Message: m})
		}
	}
	e := p.effects[0]
	p.effects = p.effects[1:]
	if progress, ok := e.(protocol.Progress); ok && progress.Item == nil {
		return p.next()
	}
	return e
}

func (p *eventaPeer) call(key, input string) protocol.Complete {
	p.t.Helper()
	p.calls++
	p.step(protocol.Invoke{ID: p.calls, Call: protocol.Call{Key: key, Input: json.RawMessage(input)}})
	return p.completed()
}

func (p *eventaPeer) completed() protocol.Complete {
	p.t.Helper()
	done, ok := p.next().(protocol.Complete)
	require.True(p.t, ok)
	require.Equal(p.t, p.calls, done.ID)
	return done
}

// do has the peer make a call, and returns how it reaches the host.
func (p *eventaPeer) do(how, key string) protocol.Serve {
	p.t.Helper()
	event := fmt.Sprintf(`{"how":"%s","key":"%s"}`, how, key)
	record := fmt.Sprintf(`{"id":"%s","type":"do","payload":{"body":%s},"deliveryId":"%s","hopsRemaining":0,"eventa":{"id":"do","body":%s}}`, how+key, event, how+key, event)
	_, err := fmt.Fprintln(p.in, record)
	require.NoError(p.t, err)
	serve, ok := p.next().(protocol.Serve)
	require.True(p.t, ok)
	return serve
}

// done is what the peer got for its call.
func (p *eventaPeer) done() string {
	p.t.Helper()
	e, ok := p.next().(protocol.Emitted)
	require.True(p.t, ok)
	require.Equal(p.t, "done", e.Event.Name)
	payload, err := e.Event.JSON()
	require.NoError(p.t, err)
	return string(payload)
}

// The first call goes out before the peer has said anything, in both forms at once.
func TestEventa_isCalledByTheDriver(t *testing.T) {
	withEachEventa(t, func(p *eventaPeer) {
		require.Equal(p.t, `{"hello":"you"}`, string(p.call("greet", `{"name":"you"}`).Result))
		require.Equal(p.t, &protocol.PeerError{Message: "plain", Code: json.RawMessage("7")}, p.call("fail", "").Err)
		require.Equal(p.t, `[1,2,3]`, string(p.call("count", `{"to":3}`).Result))

		p.calls++
		p.step(protocol.Invoke{ID: p.calls, Call: protocol.Call{Key: "sum"}, Feeds: true})
		for _, item := range []string{"1", "2", "3"} {
			p.step(protocol.Feed{ID: p.calls, Item: json.RawMessage(item)})
		}
		p.step(protocol.FeedEnd{ID: p.calls})
		require.Equal(p.t, "6", string(p.completed().Result))
	})
}

func TestEventa_isAnsweredByTheDriver(t *testing.T) {
	withEachEventa(t, func(p *eventaPeer) {
		s := p.do("value", "tool:x")
		require.False(p.t, s.Follows)
		require.Equal(p.t, `{"n":1}`, string(s.Call.Input))
		p.step(protocol.Reply{ID: s.ID, Result: json.RawMessage(`{"a":1}`)})
		require.Equal(p.t, `{"value":{"a":1}}`, p.done())

		s = p.do("value", "lab:x")
		require.True(p.t, s.Follows)
		p.step(protocol.Reply{ID: s.ID, Result: json.RawMessage(`null`)})
		require.Equal(p.t, `{"value":null}`, p.done())

		s = p.do("value", "lab:y")
		p.step(protocol.Reply{ID: s.ID, Err: &protocol.PeerError{Message: "no"}})
		require.Equal(p.t, `{"error":{"message":"no"}}`, p.done())

		s = p.do("stream", "lab:z")
		p.step(protocol.Report{ID: s.ID, Item: json.RawMessage("1")})
		p.step(protocol.Report{ID: s.ID, Item: json.RawMessage("2")})
		p.step(protocol.Reply{ID: s.ID, Result: json.RawMessage("null")})
		require.Equal(p.t, `{"value":[1,2]}`, p.done())

		s = p.do("stream", "tool:y")
		p.step(protocol.Reply{ID: s.ID, Result: json.RawMessage("9")})
		require.Equal(p.t, `{"value":[9]}`, p.done())

		s = p.do("feed", "lab:sum")
		require.True(p.t, s.Feeds)
		for _, item := range []string{"1", "2", "3"} {
			require.Equal(p.t, protocol.Fed{ID: s.ID, Item: json.RawMessage(item)}, p.next())
		}
		require.Equal(p.t, protocol.FedEnd{ID: s.ID}, p.next())
		p.step(protocol.Reply{ID: s.ID, Result: json.RawMessage("6")})
		require.Equal(p.t, `{"value":6}`, p.done())
	})
}
