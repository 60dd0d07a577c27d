package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/manifest/evaluate"
	"github.com/airi-host/airi-host/peers"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/transport/process"
)

// spared is how many workers are left alone.
const spared = 2

// plugin is one of those that run.
type plugin struct {
	name string
	man  *manifest.Manifest
	// spared is left alone; rogue has the deeds of the fixture of that name.
	spared, rogue bool
}

// newFlock makes the plugins: those left alone first, of the others every fourth is
// an echo, the rest are rogues.
func newFlock(ctx context.Context, s *scratch, modules string, n int) ([]*plugin, error) {
	var node evaluate.Node
	flock := make([]*plugin, n)
	for i := range flock {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p := &plugin{spared: i < spared}
		p.rogue = !p.spared && i%4 != 0
		fixture := "echo"
		if p.rogue {
			fixture = "rogue"
		}
		p.name = fmt.Sprintf("%s-%d", fixture, i)
		dir := filepath.Join(s.dir, p.name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
		if err := peers.Unpack(dir, modules, fixture, peers.Changes{ID: p.name}); err != nil {
			return nil, err
		}
		found := manifest.Discover([]string{dir}, manifest.Options{Evaluate: node.Evaluate})
		if len(found.Manifests) != 1 {
			return nil, fmt.Errorf("%s: expected one plugin, found %d: %v", dir, len(found.Manifests), found.Problems)
		}
		p.man, flock[i] = found.Manifests[0], p
	}
	return flock, nil
}

// What the host is given for the soak.
const (
	// frameLimit is the largest frame, small enough to be passed often.
	frameLimit = 8 << 20
	// keptLines fills each plugin's log within the first storm.
	keptLines = 100
	drainTime = time.Second / 2
	stopTime  = 2 * time.Second
)

// ladder ends those who do not want to end soon; only the last step is patient, so
// that a slow machine does not look like a leak.
var ladder = process.Ladder{CloseStdin: 300 * time.Millisecond, Term: 300 * time.Millisecond, Kill: 30 * time.Second}

// newHost makes a host that starts again what crashes.
func newHost(s *scratch, log slog.Handler) (*actors.Host, error) {
	return actors.New(actors.Options{
		Log: slog.New(log),
		// Of the events none that there is here: what the log gets is the host's own.
		LogEvents: actors.KindWaiting,
		Dialects: []protocol.Dialect{paperclip.Dialect{Plugin: func(protocol.Settings) paperclip.Plugin {
			return paperclip.Plugin{Grants: []string{"plugin.state.read"}, Handles: handled}
		}}},
		Launch: actors.Runner{Command: node, Wire: process.Stdio, Env: s.environment}.Launch,
		Methods: func(protocol.Plugins) map[string]map[string]protocol.Service {
			return map[string]map[string]protocol.Service{
				manifest.DialectPaperclip: {"state.get": protocol.ServiceFunc(kept)},
			}
		},
		Timeouts: actors.Timeouts{Drain: drainTime, Stop: stopTime},
		Limits:   actors.Limits{Frame: frameLimit, LogLines: keptLines},
		Ladder:   ladder,
		Restart: actors.RestartPolicy{
			First: 50 * time.Millisecond, Max: 200 * time.Millisecond, MaxInARow: 1 << 30,
		},
	})
}

// node runs a worker's file.
func node(_ context.Context, file string) ([]string, error) { return []string{"node", file}, nil }

func handled(method string) bool { return method == "state.get" }

// kept is the state that every worker finds.
func kept(context.Context, protocol.Call) (json.RawMessage, error) {
	return json.RawMessage(`"kept"`), nil
}

// scratch is where the run keeps its files, and by what its processes are known.
type scratch struct {
	// dir has the plugins, temp what is made below TMPDIR meanwhile.
	dir, temp string
	// mark is the value of markVar in the environment of every worker.
	mark string
	// restore gives TMPDIR back.
	restore func() error
}

// markVar is the variable by which the processes of a run are known, beside the
// host's own process.MarkerVar.
const markVar = "AIRI_HOST_SOAK"

// newScratch makes a directory, and a TMPDIR of this process in it, so that whatever
// is left there is the run's.
func newScratch() (*scratch, error) {
	dir, err := os.MkdirTemp("", "airi-host-soak-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s := &scratch{dir: dir, temp: filepath.Join(dir, "tmp"), mark: rand.Text()}
	if err := os.Mkdir(s.temp, 0o700); err != nil {
		return nil, err
	}
	before, was := os.LookupEnv("TMPDIR")
	s.restore = func() error {
		if was {
			return os.Setenv("TMPDIR", before)
		}
		return os.Unsetenv("TMPDIR")
	}
	return s, os.Setenv("TMPDIR", s.temp)
}

func (s *scratch) remove() error {
	if err := s.restore(); err != nil {
		return err
	}
	return os.RemoveAll(s.dir)
}

func (s *scratch) environment(*manifest.Manifest) map[string]string {
	return map[string]string{markVar: s.mark}
}
