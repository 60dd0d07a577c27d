package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestSoak_mindsWhoIsLeftAlone(t *testing.T) {
	k := startSoak(t, fewest)
	k.wantUnharmed()
	require.NoError(t, k.book.verdict())
	info, err := k.host.Inspect("echo-1")
	require.NoError(t, err)
	require.True(t, k.scratch.strike(info.Process.PID))
	k.wantCrash(t, "echo-1")
	require.NoError(t, k.revive(t.Context(), k.flock[1]))
	k.wantUnharmed()
	k.wantFault(t, "plugin echo-1, which is left alone, was ready as "+info.ID)
}

// wantCrash waits until the host knows of a crash.
func (k *soak) wantCrash(t *testing.T, name string) {
	t.Helper()
	for {
		info, err := k.host.Inspect(name)
		require.NoError(t, err)
		if info.Worker.Crashes > 0 {
			return
		}
		require.NoError(t, t.Context().Err())
	}
}

func TestSoak_mindsWhatIsLeftBehind(t *testing.T) {
	k := newSoak(settings{}, startScratch(t), nil, t.Output())
	synctest.Test(t, func(t *testing.T) {
		k.before = k.scratch.census()
		k.settle()
		require.NoError(t, k.book.verdict())
		require.NoError(t, os.WriteFile(filepath.Join(k.scratch.temp, "left"), nil, 0o600))
		k.settle()
		require.ErrorContains(t, k.book.verdict(), "30s after the shutdown there are still: ")
		k.wantFault(t, "1 temporary files [left]")
	})
}

// A storm that does not end is a fault, with all stacks.
func TestSoak_showsWhatHangs(t *testing.T) {
	k := newSoak(settings{}, nil, nil, t.Output())
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		require.Error(t, k.await(over))
		require.Contains(t, k.book.stacks, "TestSoak_showsWhatHangs")
		k.wantFault(t, "what was under way has not ended 4m0s after a storm")
		close(over)
		require.NoError(t, k.await(over))
	})
}

func TestSoak_endsEarlyAtAFault(t *testing.T) {
	k := startSoak(t, fewest)
	k.length = storms * opTime
	k.book.fault("enough")
	require.NoError(t, k.weather(t.Context()))
	require.Empty(t, k.calms)
	k.wantFault(t, "enough")
}
