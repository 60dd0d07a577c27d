package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"

	"github.com/airi-host/airi-host/internal/need"
)

// What is measured is done: the module and the bare loop's script look at each answer.
func TestModuleHost_andItsBareLoopTakeTheSameLoads(t *testing.T) {
	need.Node(t)
	for name, open := range subjects {
		if name != "module" && !strings.HasPrefix(name, "bare-") {
			continue
		}
		s := open()
		t.Run(name, func(t *testing.T) {
			list, err := moduleWorkers(t.TempDir())
			require.NoError(t, err)
			require.NoError(t, s.Start(t.Context(), list))
			for _, l := range eventaLoads {
				l.Calls = 300
				r, err := load.Drive(t.Context(), s, l)
				require.NoError(t, err, l.Name)
				require.Positive(t, r.P50Micros, l.Name)
			}
			require.NoError(t, s.Close())
		})
	}
	require.Error(t, (&moduleHost{}).Close())
}

func TestModuleHost_saysWhatIsWrong(t *testing.T) {
	need.Node(t)
	m := &moduleHost{}
	require.ErrorContains(t, m.Start(t.Context(), []load.Worker{{Dir: t.TempDir()}}), `plugin bench-0: entrypoints.node: "./module.mjs" does not exist`)
	require.NoError(t, m.Close())
}

func TestBare_refusesWhatIsNoAnswer(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":2,"result":1}`: `expected the answer to call 1, found`,
		`{"jsonrpc":"2.0","id":1}`:            `expected the answer to call 1, found`,
		`text`:                                `expected the answer to call 1, found "text"`,
	} {
		_, err := resultIn([]byte(line), 1)
		require.ErrorContains(t, err, want)
	}
}
