package actors_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// rogueAppends has tools that can be seen to have run: each adds a line to a file.
func rogueAppends(w *rogue) {
	w.tools["wait"] = func(ask) string {
		appendLine()
		<-awaitFile("release")
		return `{"content":"late"}`
	}
	w.tools["take"] = func(ask) string { time.Sleep(300 * time.Millisecond); return `{"data":1}` }
	w.tools["die"] = func(ask) string { appendLine(); os.Exit(1); return "" }
	w.tools["heard"] = func(ask) string {
		all, _ := json.Marshal(w.heard)
		return `{"data":` + string(all) + `}`
	}
	w.serve()
}

func appendLine() {
	file, err := os.OpenFile("ran", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString("ran\n")
	}
	if err != nil {
		os.Exit(2)
	}
}

func wantRuns(t *testing.T, m *manifest.Manifest, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(m.Dir, "ran"))
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

// TestProbe_aDeadlineFreesItsCaller has no cancel to look for, and no progress that
// would prolong a call: this wire has neither, so that the worker is told nothing.
func TestProbe_aDeadlineFreesItsCaller(t *testing.T) {
	p := newTrial(t, nil)
	m := p.worker("appends", "wait", "heard", "hello")
	p.start(m)
	late := overdue(t, p.host, protocol.Call{Key: "tool:wait"})
	require.EqualError(t, late, "tool:wait of plugin appends did not answer before the deadline (the call's own deadline)")
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(late))
	newer := p.begin("appends", "hello", `{}`)
	release(t, m)
	require.Equal(t, answer{result: `{"content":"hello"}`}, <-newer, "the late answer is not its own")
	require.Equal(t, map[string]uint64{paperclip.DroppedLate: 1}, p.inspect("appends").Dropped)
	p.wantCall("appends", "heard", `{}`, `{"data":["initialize","executeTool","executeTool","executeTool"]}`)
	wantRuns(t, m, "ran\n")
}

func TestProbe_aCallWhoseWorkerDiedIsNotMadeAgain(t *testing.T) {
	p := newTrial(t, restarting)
	m := p.worker("appends", "die", "hello")
	p.start(m)
	for crashes, waits := range []bool{false, true} {
		err := (<-p.invoke(protocol.Call{Key: "tool:die", Wait: waits})).err
		require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
		p.wantPhase("appends", lifecycle.Ready, crashes+2)
		p.wantCall("appends", "hello", `{}`, `{"content":"hello"}`)
	}
	wantRuns(t, m, "ran\nran\n")
}

func TestProbe_theLimitThatFiredIsNamed(t *testing.T) {
	const short = 100 * time.Millisecond
	p := newTrial(t, func(o *actors.Options) { o.Timeouts.Call = short })
	start := func(name string, own time.Duration) {
		m := p.worker("hangs", "hang")
		m.Name, m.Host.Timeouts.Call, m.Host.Timeouts.Stop = name, own, short
		p.start(m)
	}
	start("usual", 0)
	start("own", short)
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	for _, test := range []struct {
		ctx  context.Context
		call protocol.Call
		want string
	}{
		{t.Context(), protocol.Call{Plugin: "usual"}, "the host's limit timeouts.call"},
		{t.Context(), protocol.Call{Plugin: "own"}, "the plugin's limit airi-host.timeouts.call"},
		{ctx, protocol.Call{Plugin: "own", Deadline: time.Now().Add(time.Hour)}, "the caller's deadline"},
		{t.Context(), protocol.Call{Plugin: "own", Deadline: time.Now().Add(-time.Hour)}, "the call's own deadline"},
	} {
		test.call.Key = "tool:hang"
		_, err := p.host.Invoke(test.ctx, test.call)
		require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
		require.ErrorContains(t, err, "before the deadline ("+test.want+")")
	}
}

func TestProbe_noTimeoutAndANegativeOneAreTheDefault(t *testing.T) {
	for name, given := range map[string]time.Duration{"none": 0, "negative": -time.Second} {
		t.Run(name, func(t *testing.T) {
			p := newTrial(t, func(o *actors.Options) { o.Timeouts.Call = given })
			p.start(p.worker("appends", "take"))
			p.wantCall("appends", "take", `{}`, `{"data":1}`)
		})
	}
}
