package actors_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/transport/process"
)

// The probes are what breaks hosts of plugins, with real processes that speak
// Paperclip's wire, badly. In each of them a neighbor answers calls throughout, and
// at its end nothing has panicked and no process is left.

// trial is a host on which something is tried.
type trial struct {
	t    *testing.T
	host *actors.Host
	// dir is where its workers live.
	dir string
	// mark is in the environment of all its processes.
	mark string
	log  *diary
	seen *sightings
	// endNeighbor ends the calls of the neighbor and checks them.
	endNeighbor func()
}

// steady restarts at once, or nearly so.
var steady = actors.RestartPolicy{First: 50 * time.Millisecond, Jitter: -1}

// hasty is a ladder for workers that the tests have to see ended by force.
var hasty = process.Ladder{CloseStdin: 500 * time.Millisecond, Term: 2 * time.Second, Kill: 10 * time.Second}

// newTrial makes a host. A plugin that crashes on it is not started again, unless
// adjust says so.
func newTrial(t *testing.T, adjust func(*actors.Options)) *trial {
	t.Helper()
	t.Parallel()
	p := &trial{t: t, dir: t.TempDir(), mark: rand.Text(), log: &diary{}}
	opts := actors.Options{
		Log:      slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Dialects: []protocol.Dialect{paperclip.Dialect{Plugin: func(protocol.Settings) paperclip.Plugin { return paperclip.Plugin{Company: "c"} }}},
		Launch: actors.Runner{Wire: process.Stdio, Env: func(*manifest.Manifest) map[string]string {
			// A worker with the race detector would take a second to exit.
			return map[string]string{markVar: p.mark, "GORACE": "atexit_sleep_ms=0"}
		}}.Launch,
		Restart: actors.RestartPolicy{Disabled: true},
		Ladder:  hasty,
	}
	if adjust != nil {
		adjust(&opts)
	}
	var err error
	p.host, err = actors.New(opts)
	require.NoError(t, err)
	p.seen = watch(p.host)
	t.Cleanup(p.close)
	p.start(p.worker("neighbor", "hello"))
	p.endNeighbor = sync.OnceFunc(p.keepNeighbor())
	return p
}

// close checks what holds at the end of every probe.
func (p *trial) close() {
	if p.endNeighbor != nil {
		p.endNeighbor()
	}
	p.shutdown()
	p.wantProcesses(0)
	require.NotContains(p.t, p.log.text(), "panic")
}

// shutdown ends the host; it may be called again.
func (p *trial) shutdown() {
	ctx, cancel := context.WithTimeout(context.Background(), labPatience)
	defer cancel()
	require.NoError(p.t, p.host.Shutdown(ctx))
	<-p.seen.over
}

// keepNeighbor calls the neighbor until what it returns is called, which checks that
// every call was answered.
func (p *trial) keepNeighbor() func() {
	stop, over := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			result, err := p.host.Invoke(context.Background(), protocol.Call{
				Key: "tool:hello", Plugin: "neighbor", Deadline: time.Now().Add(labPatience),
			})
			if err == nil && string(result) != `{"content":"hello"}` {
				err = &protocol.Error{Message: string(result)}
			}
			if err != nil {
				over <- err
				return
			}
			select {
			case <-stop:
				over <- nil
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(stop)
		require.NoError(p.t, <-over, "the neighbor")
	}
}

// worker is the manifest of one of the rogues, with tools that the manifest declares.
func (p *trial) worker(name string, tools ...string) *manifest.Manifest {
	p.t.Helper()
	binary, err := os.Executable()
	require.NoError(p.t, err)
	dir, err := os.MkdirTemp(p.dir, name)
	require.NoError(p.t, err)
	m := &manifest.Manifest{
		Dialect: manifest.DialectPaperclip, Name: name, Dir: dir,
		Host:      manifest.HostFields{Command: []string{binary}, Env: map[string]string{rogueVar: name}},
		Paperclip: &manifest.Paperclip{ID: name, Raw: json.RawMessage(`{"id":"` + name + `","apiVersion":1}`)},
	}
	for _, one := range tools {
		m.Paperclip.Tools = append(m.Paperclip.Tools, manifest.PaperclipTool{Name: one})
	}
	return m
}

// told gives a worker its argument.
func told(m *manifest.Manifest, arg string) *manifest.Manifest {
	m.Host.Env = maps.Clone(m.Host.Env)
	m.Host.Env[argVar] = arg
	return m
}

// start brings a worker to ready.
func (p *trial) start(m *manifest.Manifest) actors.SessionInfo {
	p.t.Helper()
	info, err := p.host.Start(p.t.Context(), m, actors.StartOptions{})
	require.NoError(p.t, err)
	require.Equal(p.t, lifecycle.Ready, info.Phase)
	return info
}

// wantCall calls a tool of a plugin, and checks what it answers.
func (p *trial) wantCall(plugin, tool, input, want string) {
	p.t.Helper()
	got := <-p.begin(plugin, tool, input)
	require.NoError(p.t, got.err)
	require.Equal(p.t, want, got.result)
}

// answer is what came of a call.
type answer struct {
	result string
	err    error
}

// begin calls a tool of a plugin and does not wait.
func (p *trial) begin(plugin, tool, input string) <-chan answer {
	return p.invoke(protocol.Call{Key: "tool:" + tool, Plugin: plugin, Input: json.RawMessage(input)})
}

func (p *trial) invoke(c protocol.Call) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		result, err := p.host.Invoke(context.Background(), c)
		done <- answer{string(result), err}
	}()
	return done
}

func (p *trial) inspect(name string) actors.Inspection {
	p.t.Helper()
	got, err := p.host.Inspect(name)
	require.NoError(p.t, err)
	return got
}

// wantProcesses checks how many processes of this trial live; on Linux, since no
// other system tells.
func (p *trial) wantProcesses(n int) {
	p.t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	var pids []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environ, []byte(markVar+"="+p.mark+"\x00")) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	require.Len(p.t, pids, n)
}
