package actors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/transport/process"
)

// A sweep holds nobody to memory and processes, on whatever system.
func swept(opts *actors.Options) {
	launch := opts.Launch
	opts.Launch = func(ctx context.Context, m *manifest.Manifest, e manifest.Entry) (process.Spec, error) {
		spec, err := launch(ctx, m, e)
		spec.Reach = process.ReachSweep
		return spec, err
	}
}

func TestProbe_aLimitThatIsNotInForceIsWarnedOfOnceAStart(t *testing.T) {
	p := newTrial(t, swept)
	m := p.worker("limited", "hello")
	m.Host.Env[rogueVar] = "neighbor"
	m.Host.Limits.Worker = manifest.WorkerLimits{MemoryBytes: 1 << 30, Processes: 30, CPUTime: time.Hour}
	info := p.start(m)
	p.wantWarnings(info.ID, 1)
	info, err := p.host.Reload(t.Context(), info.ID, actors.StartOptions{})
	require.NoError(t, err)
	p.wantWarnings(info.ID, 1)
	p.wantCall("limited", "hello", `{}`, `{"content":"hello"}`)
	require.NotContains(t, p.log.text(), "level=WARN msg=\"the worker runs without limits that were asked for\" plugin=neighbor", "none were asked for")
}

// wantWarnings counts the records of one session about its limits.
func (p *trial) wantWarnings(session string, n int) {
	p.t.Helper()
	var found []string
	for line := range strings.Lines(p.log.text()) {
		if strings.Contains(line, "without limits") && strings.Contains(line, "session="+session+" ") {
			found = append(found, line)
		}
	}
	require.Len(p.t, found, n)
	const why = "not in force (it takes a cgroup of the worker's own: the host asked for no more)"
	require.Contains(p.t, found[0], fmt.Sprintf("level=WARN msg=%q plugin=limited", "the worker runs without limits that were asked for"))
	require.Contains(p.t, found[0], "limit of 30 processes: "+why)
	require.Contains(p.t, found[0], "memory limit of 1073741824 bytes: "+why)
	require.NotContains(p.t, found[0], "CPU", "that one is in force")
}
