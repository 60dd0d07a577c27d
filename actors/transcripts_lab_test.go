package actors_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/bridge"

	"github.com/airi-host/airi-host/internal/need"
)

// home is where the plugins of a lab live.
type home uint8

const (
	// inNode runs the modules of testdata/modules, each in its own process.
	inNode home = 1 << iota
	// inMemory runs programs that do the same, compiled in.
	inMemory
)

func (h home) String() string { return map[home]string{inNode: "node", inMemory: "memory"}[h] }

// labPatience bounds whatever a test waits for on a loaded machine.
const labPatience = 60 * time.Second

// newNode returns what runs modules, for all labs of a test.
func newNode(t *testing.T) *bridge.Node {
	t.Helper()
	need.Node(t)
	node := &bridge.Node{}
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	return node
}

// lab is a host that is watched while a scenario is played on it.
//
// Its plugins can call three services of the lab: "lab:gate" answers once the
// scenario opens the gate, "lab:report" takes what a plugin has to say, and
// "lab:next" gives a puppet its next order. These calls are not recorded.
type lab struct {
	t    *testing.T
	home home
	host *actors.Host
	sub  *actors.Subscription
	// reference is what is to be compared with.
	reference transcript

	gate    chan struct{}
	orders  chan order
	told    chan outcome
	reports chan json.RawMessage

	notes []string
	lines []string
	masks masks
	// phases are the last of each session that ever was.
	phases map[string]lifecycle.State
}

// newLab makes a host as the reference's was made for the transcript. node may
// be nil in memory; adjust may be nil, too.
func newLab(t *testing.T, in home, node *bridge.Node, reference transcript, adjust func(*actors.Options)) *lab {
	t.Helper()
	l := &lab{
		t: t, home: in, reference: reference,
		gate: make(chan struct{}), orders: make(chan order), told: make(chan outcome), reports: make(chan json.RawMessage, 16),
		phases: map[string]lifecycle.State{},
	}
	opts := actors.Options{
		Runtime:  manifest.Electron, // the reference host's default
		Dialects: []protocol.Dialect{airi.Dialect{}},
		Programs: labPrograms(),
		Services: l.services(),
		Versions: reference.versions,
	}
	if node != nil {
		opts.Launch = actors.CommandLauncher(node.Command)
	}
	if adjust != nil {
		adjust(&opts)
	}
	var err error
	l.host, err = actors.New(opts)
	require.NoError(t, err)
	t.Cleanup(l.close)
	l.sub = l.host.Subscribe(actors.KindChannel|actors.KindWire|actors.KindPhase, 0)
	return l
}

func (l *lab) services() map[string]protocol.Service {
	return map[string]protocol.Service{
		"lab:gate": protocol.ServiceFunc(func(ctx context.Context, _ protocol.Call) (json.RawMessage, error) {
			select {
			case <-l.gate:
				return nil, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}),
		"lab:report": protocol.ServiceFunc(func(_ context.Context, c protocol.Call) (json.RawMessage, error) {
			l.reports <- c.Input
			return nil, nil
		}),
		"lab:next": protocol.ServiceFunc(l.next),
	}
}

func (l *lab) next(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	if len(c.Input) > 0 {
		var o outcome
		if err := json.Unmarshal(c.Input, &o); err != nil {
			return nil, err
		}
		select {
		case l.told <- o:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	select {
	case o := <-l.orders:
		return json.Marshal(o)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lab) close() {
	ctx, cancel := context.WithTimeout(context.Background(), labPatience)
	defer cancel()
	require.NoError(l.t, l.host.Shutdown(ctx))
}

// take records what the host tells.
func (l *lab) take(e actors.Event) {
	switch e := e.(type) {
	case actors.PhaseChanged:
		l.phases[e.Session] = e.To
	case actors.Channel:
		l.record(line{Session: e.Session, Type: e.Name, Payload: e.Payload, Phase: string(e.Phase)})
	case actors.Wire:
		// Events are on the channel already; what is left are invokes.
		f, ok := e.Message.(airi.Frame)
		if ok && f.InvokeType != nil && !strings.HasPrefix(f.ID, airi.ReservedPrefix) && !strings.HasPrefix(f.ID, "lab:") {
			l.record(line{Session: e.Session, Type: f.ID, Payload: f.Body, Phase: string(e.Phase), InvokeType: f.InvokeType})
		}
	}
}

func (l *lab) record(e line) { l.lines = append(l.lines, l.masks.line(l.t, e)) }

// catchUp records all that was told before the last call of the host returned.
func (l *lab) catchUp() {
	l.host.Subscribe(actors.KindPhase, 1).Close() // the router gets to this when it has told all
	for {
		select {
		case e := <-l.sub.C:
			l.take(e)
		default:
			return
		}
	}
}

// await returns when a line matches.
func (l *lab) await(pattern string) {
	l.t.Helper()
	match := regexp.MustCompile(pattern).MatchString
	patience := time.After(labPatience)
	for !slices.ContainsFunc(l.lines, match) {
		select {
		case e := <-l.sub.C:
			l.take(e)
		case <-patience:
			l.t.Fatalf("waited %s in vain for a line like %s", labPatience, pattern)
		}
	}
}

// recording ends the scenario and returns what was recorded.
func (l *lab) recording() recording {
	var r recording
	for _, s := range l.host.Sessions() {
		r.Sessions = append(r.Sessions, sessionText(s.ID, s.Module, string(s.Phase)))
	}
	l.close()
	for e := range l.sub.C {
		l.take(e)
	}
	require.Zero(l.t, l.sub.Dropped())
	dir := strings.NewReplacer(modules(l.t), "<dir>")
	for _, text := range l.notes {
		r.Notes = append(r.Notes, dir.Replace(text))
	}
	for _, text := range l.lines {
		r.Lines = append(r.Lines, dir.Replace(text))
	}
	return r
}

// manifest describes a plugin whose code is one of testdata/modules, or the
// program of the same name.
func (l *lab) manifest(name, module string) *manifest.Manifest {
	l.t.Helper()
	m := &manifest.Manifest{
		Dialect: manifest.DialectAIRI, APIVersion: manifest.APIVersionAIRI, Kind: manifest.KindAIRI,
		Name: name, Dir: modules(l.t),
	}
	if l.home == inMemory {
		m.Entrypoints.Go = new("builtin:" + module)
	} else {
		m.Entrypoints.Electron = new("./" + module + ".mjs")
	}
	return m
}

// modules is the directory of the modules.
func modules(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata/modules")
	require.NoError(t, err)
	return dir
}

// plugin is the manifest of most scenarios.
func (l *lab) plugin(module string) *manifest.Manifest { return l.manifest("lab-plugin", module) }

// session is the id of the first session.
const session = "plugin-session-0"

// options say that the peer supports what it did in the transcript.
func (l *lab) options() actors.StartOptions {
	return actors.StartOptions{Compatibility: l.reference.peer}
}
