package actors_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol/airi/bridge"
)

// The transcripts are what the reference host, in the version of March 2026, told
// on its sessions' channels while its API was called. Here the same calls are made
// of this host, with modules in Node and with programs in memory, and what it
// tells is compared, but for what is declared to be different.

func TestTranscripts_areReplayedInNode(t *testing.T) {
	replayAll(t, inNode, newNode(t))
}

func TestTranscripts_areReplayedInMemory(t *testing.T) {
	replayAll(t, inMemory, nil)
}

func replayAll(t *testing.T, in home, node *bridge.Node) {
	t.Helper()
	for _, s := range scenarios {
		if s.in&in == 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			reference := readTranscript(t, s.name)
			want := s.apply(t, in, reference.recording)
			l := newLab(t, in, node, reference, s.options)
			s.run(l)
			got := l.recording()
			require.Equal(t, want.text(), got.text())
		})
	}
}

func TestTranscripts_allHaveOneScenario(t *testing.T) {
	counts := map[string]int{}
	for _, s := range scenarios {
		counts[s.name]++
	}
	entries, err := os.ReadDir(transcripts)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.TrimPrefix(e.Name(), "host-"), ".")
		require.Equal(t, 1, counts[name], "%s/%s has to have one scenario", transcripts, e.Name())
	}
	require.Len(t, entries, 2*len(counts), "a scenario has no transcript")
}
