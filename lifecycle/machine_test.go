package lifecycle

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every state and event there is, and one of each that there is not: the automaton
// agrees with the table in each cell.
func TestMachine_everyCell(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			for _, from := range append(m.States(), "elsewhere", "") {
				for _, ev := range append(m.Events(), "SOMETHING", "") {
					wantCell(t, m, from, ev)
				}
			}
		})
	}
}

// wantCell fires one event in one state and compares with the table.
func wantCell(t *testing.T, m *Machine, from State, ev Event) {
	t.Helper()
	want, possible := m.next[from][ev]
	require.Equal(t, possible, m.Can(from, ev), "Can(%q, %q)", from, ev)

	to, err := m.Fire("hello", from, ev)
	if possible {
		require.NoError(t, err, "Fire(%q, %q)", from, ev)
		require.Equal(t, want, to, "Fire(%q, %q)", from, ev)
		return
	}
	require.Equal(t, from, to, "Fire(%q, %q)", from, ev)
	var illegal *IllegalError
	require.ErrorAs(t, err, &illegal, "Fire(%q, %q)", from, ev)
	require.Equal(t, &IllegalError{
		Machine: m.Name(), Session: "hello", From: from, To: m.onlyGoal(ev), Event: ev,
		possible: m.possible[from],
	}, illegal)
}

// Every pair of states: Move goes where an edge goes, and nowhere else.
func TestMachine_everyMove(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			for _, from := range append(m.States(), "elsewhere") {
				targets := make(map[State]bool)
				for _, to := range m.next[from] {
					targets[to] = true
				}
				for _, to := range append(m.States(), "elsewhere") {
					wantMove(t, m, from, to, targets[to])
				}
			}
		})
	}
}

// wantMove asks for one state in another.
func wantMove(t *testing.T, m *Machine, from, to State, possible bool) {
	t.Helper()
	got, err := m.Move("hello", from, to)
	if possible {
		require.NoError(t, err, "Move(%q, %q)", from, to)
		require.Equal(t, to, got)
		return
	}
	require.Equal(t, from, got)
	require.Equal(t, &IllegalError{
		Machine: m.Name(), Session: "hello", From: from, To: to, possible: m.possible[from],
	}, err)
}

func TestMachine_moveTakesTheFirstEventInReadingOrder(t *testing.T) {
	require.Equal(t, WorkerStart, Worker.by[WorkerBackoff][WorkerStarting])
	require.Equal(t, WorkerGiveUp, Worker.by[WorkerCrashed][WorkerStopped])
}

func TestMachine_everyStateIsReachable(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			require.ElementsMatch(t, m.States(), reachable(m, m.Initial()))
		})
	}
}

// A life can always be brought to an end, or to where it rests if it has none.
func TestMachine_everyStateReachesAnEnd(t *testing.T) {
	rests := map[*Machine]State{Worker: WorkerStopped, Capability: CapWithdrawn}
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			ends := append(m.Terminals(), rests[m])
			for _, from := range m.States() {
				require.True(t, slices.ContainsFunc(reachable(m, from), func(s State) bool {
					return slices.Contains(ends, s)
				}), "from %s", from)
			}
		})
	}
}

// reachable lists what Fire can reach from a state, itself included.
func reachable(m *Machine, from State) []State {
	found := []State{from}
	for i := 0; i < len(found); i++ {
		for _, ev := range m.Events() {
			if to, err := m.Fire("hello", found[i], ev); err == nil && !slices.Contains(found, to) {
				found = append(found, to)
			}
		}
	}
	return found
}

func TestMachine_terminals(t *testing.T) {
	require.Equal(t, []State{Stopped}, Session.Terminals())
	require.Equal(t, []State{RouteClosed}, Route.Terminals())
	require.Empty(t, Worker.Terminals())
	require.Empty(t, Capability.Terminals())
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			for _, state := range m.States() {
				exits := slices.ContainsFunc(m.Events(), func(ev Event) bool { return m.Can(state, ev) })
				require.Equal(t, exits, !slices.Contains(m.Terminals(), state), state)
			}
		})
	}
}

func TestMachine_initial(t *testing.T) {
	require.Equal(t, Loading, Session.Initial())
	require.Equal(t, WorkerStopped, Worker.Initial())
	require.Equal(t, RouteReserved, Route.Initial())
	require.Equal(t, CapAnnounced, Capability.Initial())
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			require.Equal(t, m.Initial(), m.States()[0])
		})
	}
}

func TestMachine_handsOutCopies(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			states, events, terminals := m.States(), m.Events(), m.Terminals()
			clear(m.States())
			clear(m.Events())
			clear(m.Terminals())
			require.Equal(t, states, m.States())
			require.Equal(t, events, m.Events())
			require.Equal(t, terminals, m.Terminals())
		})
	}
}

// Many lives at once share one machine, and none sees another's state.
func TestMachine_concurrentLives(t *testing.T) {
	lives := [][]State{
		{Loading, Loaded, Authenticating, Authenticated, Announced, Preparing, Prepared, Configured, Ready, Stopped},
		{Loading, Failed, Stopped},
		{Loading, Loaded, Authenticating, Authenticated, Failed, Stopped},
		{Loading, Loaded, Authenticating, Authenticated, Announced, ConfigurationNeeded, Configured, Ready, Degraded, Ready},
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 50 {
				liveOnce(t, lives[i%len(lives)])
			}
		})
	}
	wg.Wait()
}

// liveOnce walks through a life by Move and tries an impossible move at each step.
func liveOnce(t *testing.T, life []State) {
	t.Helper()
	state := life[0]
	for _, to := range life[1:] {
		if _, err := Session.Move("hello", state, Loading); err == nil {
			t.Errorf("%s -> %s was possible", state, Loading)
		}
		next, err := Session.Move("hello", state, to)
		if err != nil || next != to {
			t.Errorf("%s -> %s: got %s, %v", state, to, next, err)
			return
		}
		state = next
	}
}

func TestMachine_canAllocatesNothing(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() {
		Session.Can(Ready, SessionStop)
		Session.Can(Stopped, SessionStop)
	}))
}

func BenchmarkMachine_Fire(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Session.Fire("hello-0", Ready, SessionDegraded); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMachine_FireParallel(b *testing.B) {
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := Session.Fire("hello-0", Ready, SessionDegraded); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkMachine_FireIllegal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Session.Fire("hello-0", Ready, SessionLoaded); err == nil {
			b.Fatal("READY took SESSION_LOADED")
		}
	}
}

func BenchmarkMachine_Move(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Session.Move("hello-0", Ready, Degraded); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMachine_Can(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if !Session.Can(Ready, SessionStop) {
			b.Fatal("ready cannot stop")
		}
	}
}

func BenchmarkMachine_automaton(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Session.automaton()
	}
}
