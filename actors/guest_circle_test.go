package actors

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/transport/memory"
)

// narrating is a guest's dialect that notes of which moments it is to tell.
type narrating struct {
	airi.Remote
	mu   sync.Mutex
	told []protocol.MomentKind
}

func (n *narrating) Narrate(m protocol.Moment) []protocol.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, m.What)
	return n.Remote.Narrate(m)
}

// Who is in a circle knows the others by its wire: the list of all sessions is made for it
// only where somebody listens.
func TestGuest_ofACircleIsNotToldWhoIsThere(t *testing.T) {
	for name, c := range map[string]struct {
		circle  string
		listens bool
		told    bool
	}{
		"alone": {"", false, true}, "in a circle": {"ring", false, false}, "somebody listens": {"ring", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t)
				if c.listens {
					listen(t, h, KindChannel, nil)
				}
				near, far := memory.Pipe(memory.Options{})
				defer func() { require.NoError(t, far.Close()) }()
				require.NoError(t, far.Send(airi.AppendNote(nil, airi.Note{Verb: airi.NoteAnnounced, Data: []byte(`{"possibleEvents":[]}`)})))
				d := &narrating{}
				_, settled, err := h.Join(t.Context(), Guest{
					Manifest: &manifest.Manifest{Dialect: manifest.DialectAIRI, Name: "bot"}, Instance: "1", Dialect: d, Conn: near, Circle: c.circle,
				})
				require.NoError(t, err)
				require.NoError(t, <-settled)
				require.Equal(t, c.told, slices.Contains(d.told, protocol.MomentSynced))
				require.Contains(t, d.told, protocol.MomentReady)
			})
		})
	}
}
