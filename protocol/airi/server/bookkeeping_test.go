package server

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Peers come, go, announce, rename themselves and take each other's identities, in any
// order; what the server keeps agrees with itself after every step, and nothing is left
// when all are gone.
func TestServer_bookkeepingHoldsInAnyOrder(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 8))
		r := newRig(t, Options{Verify: tokens, Limits: Limits{Away: 3, Modules: 3, Sessions: 12, Conns: 8, Registry: 700}})
		r.held = true
		live := map[string]bool{}
		for i := range 300 {
			name := fmt.Sprint(random.IntN(6))
			act(r, random, name, i, live)
			wantBooks(t, r, seed)
			if random.IntN(10) == 0 {
				r.wait(time.Duration(random.IntN(5000)) * time.Millisecond)
				wantBooks(t, r, seed)
			}
		}
		for name := range live {
			r.end(name)
		}
		r.wait(time.Hour)
		require.Empty(t, r.server.sessions)
		require.Empty(t, r.server.seats)
		require.Empty(t, r.server.conns)
		require.Empty(t, r.server.peers)
		require.Empty(t, r.server.groups)
		require.Empty(t, r.server.aliases)
		require.Empty(t, r.timers)
		require.Zero(t, r.server.away)
		require.Zero(t, r.server.list.bytes)
		wantFactsToFit(t, r.facts)
	}
}

func act(r *rig, random *rand.Rand, name string, i int, live map[string]bool) {
	if !live[name] {
		live[name] = true
		r.open(name)
		return
	}
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	id := pick("", "1", "2", "3", "4")
	switch random.IntN(9) {
	case 0:
		delete(live, name)
		r.end(name)
	case 1, 2, 3:
		r.say(name, event("module:authenticate", `{"token":"token-`+pick("1", "1", "1", "2")+`"}`, ""))
	case 4:
		r.say(name, byModule(pick("m", "n"), "p", id))
	case 5, 6:
		r.say(name, byExtension(pick("m", "n"), "p", id))
	case 7:
		r.say(name, event("module:consumer:"+pick("register", "register", "unregister"), `{"event":"`+pick("x", "y")+`"}`, ""))
	case 8:
		switch random.IntN(3) {
		case 0:
			r.say(name, event("peer:authenticate", `{"token":"token-1","peerId":"`+pick("q", "r")+`"}`, ""))
		case 1:
			r.step(Dismiss{Session(random.IntN(i + 1)), "by hand"})
		default:
			r.say(name, event("x", `{}`, `,"route":{"delivery":{"mode":"consumer"}}`))
		}
	}
}

func wantBooks(t *testing.T, r *rig, seed uint64) {
	t.Helper()
	s := r.server
	bytes, seated, away := 0, 0, 0
	require.Len(t, s.order, len(s.conns))
	for _, c := range s.order {
		require.Same(t, c, s.conns[c.id])
		for _, m := range c.modules {
			require.Same(t, c, m.conn, "seed %d", seed)
			require.Same(t, m, s.sessions[m.session], "seed %d", seed)
		}
		seated += len(c.modules)
	}
	for _, m := range s.sessions {
		bytes += len(m.entry)
		if m.conn == nil {
			away++
			require.Contains(t, r.timers, Timer{Kind: TimerGrace, Session: m.session}, "seed %d", seed)
		}
		if key := m.Identity.key(); key != "" {
			require.Same(t, m, s.seats[key], "seed %d", seed)
		}
	}
	require.Equal(t, len(s.sessions), seated+away, "seed %d", seed)
	require.Equal(t, away, s.away, "seed %d", seed)
	require.Equal(t, bytes, s.list.bytes, "seed %d", seed)
	require.LessOrEqual(t, bytes, 700+entryForm)
	require.LessOrEqual(t, away, 3)
}

// wantFactsToFit holds what is told of each session to an order: first announced once,
// away and back in turns, gone once and last.
func wantFactsToFit(t *testing.T, facts []Effect) {
	t.Helper()
	const here, gone, waits = 1, 2, 3
	state := map[Session]int{}
	move := func(id Session, from []int, to int) {
		require.Contains(t, from, state[id], "session %d", id)
		state[id] = to
	}
	for _, f := range facts {
		switch f := f.(type) {
		case Announced:
			switch f.How {
			case First:
				move(f.Session, []int{0}, here)
			case Again, Swapped:
				move(f.Session, []int{here}, here)
			case Returned:
				move(f.Session, []int{waits}, here)
			}
		case Away:
			move(f.Session, []int{here}, waits)
		case Gone:
			move(f.Session, []int{here, waits}, gone)
		}
	}
	for id, s := range state {
		require.Equal(t, gone, s, "session %d", id)
	}
}
