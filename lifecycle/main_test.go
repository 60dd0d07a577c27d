package lifecycle

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// update rewrites the golden files: go test ./lifecycle -update.
var update = flag.Bool("update", false, "rewrite the golden files below testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machines are all there are.
var machines = []*Machine{Session, Worker, Route, Capability}

// wantGolden compares got with a file below testdata, or rewrites the file.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	require.Equal(t, string(want), got)
}

// story is one life: the events that happen to it and the states they lead to.
type story struct {
	name   string
	events []Event
	states []State
}

// wantStory tells a story from the initial state on.
func wantStory(t *testing.T, m *Machine, s story) {
	t.Helper()
	state, got := m.Initial(), make([]State, 0, len(s.events))
	for _, ev := range s.events {
		next, err := m.Fire(s.name, state, ev)
		require.NoError(t, err)
		state = next
		got = append(got, state)
	}
	require.Equal(t, s.states, got)
}

// wantIllegal checks that an event is refused in a state, with this text.
func wantIllegal(t *testing.T, m *Machine, from State, ev Event, text string) {
	t.Helper()
	require.False(t, m.Can(from, ev))
	state, err := m.Fire("hello", from, ev)
	require.EqualError(t, err, text)
	require.Equal(t, from, state)
}
