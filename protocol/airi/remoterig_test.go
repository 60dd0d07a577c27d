package airi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// link is the driver of one remote module, and the words to test it with.
type link struct {
	t *testing.T
	d *remote
}

func newLink(t *testing.T, d Remote, s protocol.Settings) link {
	t.Helper()
	if s.Plugin == "" {
		s.Plugin = "hello"
	}
	r, ok := d.NewDriver(s).(*remote)
	require.True(t, ok)
	return link{t, r}
}

// step gives an input and returns the effects, each as one line: a frame that is sent as
// "send ID BODY", a note as "note VERB REST DATA".
func (l link) step(in protocol.Input) []string {
	l.t.Helper()
	lines := []string{}
	for _, e := range l.d.Step(now, in, nil) {
		lines = append(lines, l.line(e))
	}
	return lines
}

func (l link) line(e protocol.Effect) string {
	l.t.Helper()
	switch e := e.(type) {
	case protocol.Send:
		if n, ok := e.Message.(Note); ok {
			return strings.Join(strings.Fields(fmt.Sprintf("note %s %s %s", n.Verb, n.Rest, n.Data)), " ")
		}
		f, ok := e.Message.(formed)
		require.True(l.t, ok)
		return rig{t: l.t}.line(protocol.Send{Message: f.Frame})
	case protocol.Offered:
		require.True(l.t, e.Offer.Invocable)
		return strings.TrimSpace("offered " + e.Offer.Key + " " + e.Offer.Description + string(e.Offer.Metadata))
	case protocol.Retracted:
		return strings.TrimSpace("retracted " + e.Key + " " + e.Reason)
	case protocol.Absent:
		return "absent " + e.Reason
	case protocol.Present:
		return "present"
	}
	return rig{t: l.t}.line(e)
}

// note gives a note as it stands on the link.
func (l link) note(record string) []string {
	l.t.Helper()
	n, ok := ReadNote([]byte(record))
	require.True(l.t, ok, record)
	return l.step(protocol.Received{Message: n})
}

// life gives what the module says of its life.
func (l link) life(event, data string) []string {
	l.t.Helper()
	return l.note("life " + event + "\n" + data)
}

// receive gives a record of the websocket's.
func (l link) receive(record string) []string {
	l.t.Helper()
	messages, err := remoteCodec{}.Decode([]byte(record))
	require.NoError(l.t, err)
	require.Len(l.t, messages, 1)
	return l.step(protocol.Received{Message: messages[0]})
}

// frame gives a frame of Eventa's in the older form.
func (l link) frame(id, body string) []string {
	l.t.Helper()
	return l.receive(`{"type":"` + id + `","payload":{"body":` + body + `}}`)
}

func (l link) run(s protocol.Step) []string {
	l.t.Helper()
	return l.step(protocol.Run{Step: s})
}

func (l link) invoke(id protocol.CallID, key, input string) []string {
	l.t.Helper()
	return l.step(protocol.Invoke{ID: id, Call: protocol.Call{Key: key, Input: raw(input)}})
}

// emit gives the events of a moment.
func (l link) emit(m protocol.Moment) []string {
	l.t.Helper()
	m.Self = module("hello", 0)
	lines := []string{}
	for _, e := range (Remote{}).Narrate(m) {
		lines = append(lines, l.step(protocol.Emit{Event: e})...)
	}
	return lines
}

// sends tells how the frames are written that an input sends.
func (l link) sends(in protocol.Input) (records []string) {
	l.t.Helper()
	for _, e := range l.d.Step(now, in, nil) {
		if s, ok := e.(protocol.Send); ok {
			record, err := remoteCodec{}.Encode(nil, s.Message)
			require.NoError(l.t, err)
			records = append(records, string(record))
		}
	}
	return records
}
