package actors_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// No transcript can show it, since the reference host never sets up a plugin that
// was configured by hand.
func TestConfiguration_anotherDuringSetupRunsItAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, inMemory, nil, transcript{}, nil)
	started := later(func() string { return l.start(l.plugin("gated-setup"), l.options()) })
	l.await(setupModulesLine)
	applied := later(func() string {
		return l.apply(session, protocol.Config{ID: "c", Revision: 2, SchemaVersion: 1})
	})
	l.await(`"revision":2`)
	close(l.gate)
	require.Equal(t, "ok ready", <-started)
	require.Equal(t, "ok ready", <-applied)
	text := l.recording().text()
	require.Equal(t, 2, strings.Count(text, setupModulesLine), text)
	require.Equal(t, 1, strings.Count(text, `"phase":"ready"`), text)
}

const setupModulesLine = " lab:setup-modules "
