package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// A host that is to stop does not wait for a plugin that hangs over its new configuration,
// nor for it to take back the old one.
func TestRun_stopsInTimeWhileAConfigurationIsTaken(t *testing.T) {
	need.Node(t)
	t.Parallel()
	const drain = time.Second
	state, dir := t.TempDir(), writePlugin(t, "hangs", `
		let begun = 0
		export const setupModules = () => {
			if (++begun === 1) return
			console.log('asked again')
			return new Promise(() => {})
		}`)
	settle(t, state, `{"plugins": {"hangs": {"config": {"a": 1}}}}`)
	c := startService(t, "run", "--state", state, "--drain", drain.String(), dir)
	c.wantLine(t, `^serving 1 plugin;`)
	settle(t, state, `{"plugins": {"hangs": {"config": {"a": 2}}}}`)
	c.signal(t, syscall.SIGHUP)
	c.wantLogged(t, "asked again")
	began := time.Now()
	c.signal(t, syscall.SIGTERM)
	c.wantExit(t, exitDone)
	require.Less(t, time.Since(began), drain+2*time.Second)
}
