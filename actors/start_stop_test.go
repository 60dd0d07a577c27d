package actors

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// Between being loaded and being told to go on a session can be stopped: whoever starts
// it hears that, and not that his own order came too late.
func TestStart_tellsThatThePluginWasStoppedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		who, loaded, err := h.begin(t.Context(), manifestFor("a"), begin{start: &StartOptions{}})
		require.NoError(t, err)
		require.NoError(t, <-loaded)
		stopped, early, late := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		listen(t, h, KindPhase, func(e Event) {
			if e.(PhaseChanged).To == lifecycle.Stopped {
				who.self.tell(initialize{reply: late, starts: true})
			}
		})
		who.self.tell(stop{stopped})
		who.self.tell(initialize{reply: early, starts: true})
		require.NoError(t, <-stopped)
		for _, answer := range []chan error{early, late} {
			_, err := h.outcome(t.Context(), who, answer)
			require.EqualError(t, err, "plugin a was stopped")
			require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(err))
		}
	})
}

func TestStart_ofAPluginThatRunsIsTheCallersFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		startReady(t, h, manifestFor("a"))
		_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
		require.ErrorContains(t, err, "plugin a is already loaded as plugin-session-0")
		require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
	})
}
