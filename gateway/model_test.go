package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// model does what peers may do, in any order, and holds the gateway to what it promises:
// one session for an identity, the same one when another connection takes it over or its
// own comes back, an end for every call, and one view of who is there.
type model struct {
	*rig
	random *rand.Rand
	peers  []*peer
	calls  sync.WaitGroup
	ended  atomic.Int64
	began  int64
}

func (m *model) identity() (plugin, instance string) {
	return fmt.Sprint("bot-", m.random.IntN(2)), fmt.Sprint(m.random.IntN(2))
}

func (m *model) peer() *peer {
	if len(m.peers) == 0 || len(m.peers) < 6 && m.random.IntN(4) == 0 {
		m.peers = append(m.peers, m.dial())
	}
	return m.peers[m.random.IntN(len(m.peers))]
}

// send sends what may be for a connection that has ended.
func (m *model) send(p *peer, format string, a ...any) { _ = p.Send(fmt.Appendf(nil, format, a...)) }

func (m *model) announce(p *peer, plugin, instance string) {
	events := []string{`"echo"`, `"chat"`, `"more"`}[:m.random.IntN(4)]
	list := strings.Join(events, ",")
	if m.random.IntN(3) == 0 {
		m.send(p, `{"type":"extension:module:announce","data":{"name":"m","identity":{"id":%q,"extension":{"id":%q}},"possibleEvents":[%s]}}`, instance, plugin, list)
		return
	}
	m.send(p, `{"type":"module:announce","data":{"name":"m","identity":{"kind":"plugin","plugin":{"id":%q},"id":%q},"possibleEvents":[%s]}}`, plugin, instance, list)
}

// call calls something, and does not wait for it.
func (m *model) call() {
	plugin, instance := m.identity()
	c := protocol.Call{Key: []string{"echo", "event:chat", "more"}[m.random.IntN(3)], Deadline: time.Now().Add(300 * time.Millisecond)}
	if m.random.IntN(2) == 0 {
		c.Plugin, c.Instance = plugin, instance
	}
	m.began++
	m.calls.Go(func() {
		_, _ = m.host.Invoke(m.Context(), c)
		m.ended.Add(1)
	})
}

// does does one thing.
func (m *model) does() {
	p := m.peer()
	plugin, instance := m.identity()
	switch m.random.IntN(12) {
	case 0, 1, 2, 3:
		m.announce(p, plugin, instance)
	case 4:
		_ = p.Close()
		m.peers = slices.DeleteFunc(m.peers, func(other *peer) bool { return other == p })
	case 5:
		m.send(p, `{"type":"module:status","data":{"phase":%q,"reason":"so"}}`, []string{"degraded", "ready", "failed", "preparing"}[m.random.IntN(4)])
	case 6:
		m.send(p, `{"type":"module:status:change","data":{"phase":%q}}`, []string{"announced", "configuration-needed", "ready"}[m.random.IntN(3)])
	case 7:
		m.send(p, `{"id":"%d","type":"nobody-send","payload":{"body":{"invokeId":"i%d","content":{}}}}`, m.random.Uint32(), m.random.Uint32())
	case 8:
		m.send(p, `{"type":"chat","data":{}}`)
	case 9:
		if m.random.IntN(3) == 0 {
			m.send(p, `{"type":"module:compatibility:request","data":{"protocolVersion":"v1","apiVersion":"v1"}}`)
		} else {
			m.send(p, `{"type":"module:prepared","data":{}}`)
		}
	case 10:
		if all := m.guests(); len(all) > 0 {
			one := all[m.random.IntN(len(all))].ID
			m.calls.Go(func() { _, _ = m.host.Stop(m.Context(), one) })
		}
	default:
		m.call()
	}
}

func (m *model) guests() []actors.SessionInfo {
	return slices.DeleteFunc(m.host.Sessions(), func(s actors.SessionInfo) bool { return s.Instance == "" })
}

// agree tells whether the gateway and the host see the same, and nobody is on the way.
func (m *model) agree() bool {
	var ours, hosts []string
	for _, one := range m.modules() {
		if one.Session != "" {
			ours = append(ours, fmt.Sprintf("%s/%s %s", one.Plugin, one.Instance, one.Session))
		} else if one.Reason == "" {
			return false
		}
	}
	seen := map[string]bool{}
	for _, s := range m.guests() {
		hosts = append(hosts, fmt.Sprintf("%s/%s %s", s.Plugin, s.Instance, s.ID))
		who := s.Plugin + "/" + s.Instance
		require.False(m, seen[who], "two sessions of %s", who)
		seen[who] = true
	}
	slices.Sort(ours)
	slices.Sort(hosts)
	return slices.Equal(ours, hosts)
}

func (m *model) settles() {
	m.Helper()
	require.Eventually(m, m.agree, patience, time.Millisecond, "the gateway: %+v; the host: %+v", m.modules(), m.guests())
}

// takesOver has an identity's session taken over by a new connection, after the old one's
// end or before it: it stays the same.
func (m *model) takesOver() {
	m.Helper()
	plugin, instance := "bot-9", fmt.Sprint(m.random.IntN(2))
	last := ""
	var before *peer
	for range 4 {
		p := m.dial()
		if before != nil && m.random.IntN(2) == 0 {
			require.NoError(m, before.Close())
			<-before.Done()
		}
		p.announce(plugin, instance, `"possibleEvents":["echo"]`)
		p.until(isAnnounced(plugin))
		var now actors.SessionInfo
		require.Eventually(m, func() bool {
			for _, s := range m.guests() {
				if s.Plugin == plugin && s.Instance == instance {
					now = s
					return s.Phase == lifecycle.Ready
				}
			}
			return false
		}, patience, time.Millisecond, "%+v", m.modules())
		if last != "" {
			require.Equal(m, last, now.ID, "the session stays")
		}
		last, before = now.ID, p
	}
	m.peers = append(m.peers, before)
}

func TestGateway_whateverPeersDoInWhateverOrder(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			o := brief()
			o.Server.Grace = []time.Duration{5 * time.Millisecond, time.Minute}[seed%2]
			o.LinkRecords = int(1 + seed%5)
			m := &model{rig: start(t, o), random: rand.New(rand.NewPCG(seed, 7))}
			for round := range 4 {
				for range 60 {
					m.does()
				}
				m.calls.Wait()
				m.settles()
				if seed%2 == 1 && round%2 == 1 {
					m.takesOver()
					m.settles()
				}
			}
			require.Equal(t, m.began, m.ended.Load())
			for _, p := range m.peers {
				_ = p.Close()
			}
			if seed%2 == 0 {
				m.wantIdle()
			}
		})
	}
}

// isAnnounced knows the list in which a plugin is.
func isAnnounced(plugin string) func([]byte) (json.RawMessage, bool) {
	return func(record []byte) (json.RawMessage, bool) {
		return nil, bytes.Contains(record, []byte(`"registry:modules:sync"`)) && bytes.Contains(record, []byte(`"id":"`+plugin+`"`))
	}
}
