package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// newHost makes a host that runs what is compiled in, for one test.
func newHost(t *testing.T) *actors.Host {
	t.Helper()
	host, err := actors.New(actors.Options{Dialects: []protocol.Dialect{airi.Dialect{}}, Programs: programs()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Shutdown(context.Background())) })
	return host
}

// greeterCalled is the manifest of a greeter under another name.
func greeterCalled(name string) *manifest.Manifest {
	builtin := "builtin:greeter"
	return &manifest.Manifest{
		Dialect: manifest.DialectAIRI, APIVersion: manifest.APIVersionAIRI, Kind: manifest.KindAIRI,
		Name: name, Entrypoints: manifest.Entrypoints{Go: &builtin},
	}
}

// What is printed after a start stands below all that led to it.
func TestJournal_catchesUpWithWhatHasHappened(t *testing.T) {
	host := newHost(t)
	var shown []string
	j := follow(host, eventQueue, func(e actors.Event) {
		if e, ok := e.(actors.PhaseChanged); ok && e.To == lifecycle.Ready {
			shown = append(shown, e.Plugin)
		}
	})
	for i := range 200 {
		name := fmt.Sprintf("greeter-%d", i)
		_, err := host.Start(context.Background(), greeterCalled(name), actors.StartOptions{})
		require.NoError(t, err)
		j.catchUp()
		require.Equal(t, name, shown[len(shown)-1])
	}
}

func TestJournal_remembersUntilTheEnd(t *testing.T) {
	host := newHost(t)
	j := follow(host, eventQueue, func(actors.Event) {})
	m := greeterCalled("greeter")
	unknown := "builtin:nobody"
	m.Entrypoints.Go = &unknown
	_, err := host.Start(context.Background(), m, actors.StartOptions{})
	require.ErrorContains(t, err, "is compiled into this host")
	require.Equal(t, map[string]trace{"greeter": {failedIn: lifecycle.Loading}}, j.catchUp())
	require.NoError(t, host.Shutdown(context.Background()))
	require.Zero(t, j.wait())
	require.Equal(t, lifecycle.Loading, j.catchUp()["greeter"].failedIn, "also when nothing happens any more")
}

func TestJournal_keepsACycleUntilItIsOver(t *testing.T) {
	j := &journal{traces: map[string]trace{}, show: func(actors.Event) {}}
	from := actors.Origin{Plugin: "a"}
	cycle := []string{"a", "b", "a"}
	j.take(actors.Waiting{Origin: from, For: []string{"tool:b"}, Cycle: cycle})
	j.take(actors.Waiting{Origin: from, For: []string{"tool:b"}, Because: []string{"b failed"}})
	require.Equal(t, trace{cycle: cycle}, j.traces["a"], "b was the first to give up")
	j.take(phase("a", lifecycle.WaitingDeps, lifecycle.Failed, ""))
	require.Equal(t, trace{failedIn: lifecycle.WaitingDeps, cycle: cycle}, j.traces["a"])

	j.take(phase("b", lifecycle.WaitingDeps, lifecycle.Prepared, ""))
	require.Equal(t, trace{}, j.traces["b"])
}
