package gateway

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol/airi"
)

// What a session sends before it knows that a connection is over was for that one: nobody
// gets it, for the session gives it up as soon as it knows.
func TestLink_whatIsLateGoesNowhere(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.announce("bot", "1")
	r.wantPhase("bot", lifecycle.Ready)
	member := func() *member {
		r.gateway.mu.Lock()
		defer r.gateway.mu.Unlock()
		return r.gateway.members[1]
	}()
	for _, verb := range []string{airi.NoteSwapped, airi.NoteAway} {
		l := newLink(r.gateway, member, "bot\x001")
		frame := func(id string) {
			require.NoError(t, l.Send([]byte(`{"type":"`+id+`","payload":{"body":1}}`)))
		}
		l.push([]byte("said x\n{}"))
		l.push(airi.AppendNote(nil, airi.Note{Verb: verb, Rest: "gone"}))
		l.push([]byte("announced\n{}"))
		frame("late-1")
		for _, next := range []string{"said x\n{}", verb + " gone\n"} {
			record, err := l.TryRecv()
			require.NoError(t, err)
			require.Equal(t, next, string(record))
			frame("late-2")
		}
		require.NoError(t, l.Send(airi.AppendNote(nil, airi.Note{Verb: airi.NoteKnows})))
		frame("known-" + verb)
		require.Equal(t, "known-"+verb, p.nextEventa())
	}
}

// nextEventa waits for the next frame of Eventa's, and returns its id.
func (p *peer) nextEventa() string {
	p.r.Helper()
	return string(p.until(func(record []byte) (json.RawMessage, bool) {
		var in struct{ Type string }
		require.NoError(p.r, json.Unmarshal(record, &in))
		return json.RawMessage(in.Type), in.Type != ""
	}))
}
