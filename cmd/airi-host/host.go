package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/testdata/plugins/greeter"
)

// programs are the plugins that are compiled into this binary.
func programs() map[string]protocol.Program {
	return map[string]protocol.Program{"greeter": greeter.Plugin()}
}

// house is a host with what the command line wires to it.
type house struct {
	*actors.Host
	log  *slog.Logger
	node *bridge.Node
	// roster has the plugins' manifests.
	roster *roster
	// configs are their configurations.
	configs *configurations
	// homes are where elizaOS's keep files.
	homes *ecosystems.Homes
	// kept is where plugins' logs are kept; nil for nowhere.
	kept *logFiles
	// paperclip are the services of its workers.
	paperclip *paperclip
	// telemetry is where spans and events are sent to.
	telemetry *telemetry
	// grants are what they are permitted.
	grants *grants
	// disabled are those that are not to be started.
	disabled *disabled
	// granted is what is to be told of grants once the host is followed.
	granted []actors.Granted
	// jobs runs the plugins' jobs; nil where nobody would remember it.
	jobs *timetable
	// gateway are AIRI's peers on websockets; nil where none are served.
	gateway *gateway.Gateway
	// tapped closes when the last frame was logged; nil when none is.
	tapped <-chan struct{}
}

// open makes a host that is to run the plugins of the list on a state. What it is asked
// once has one answer: then a plugin that crashes is not started again. Its close must
// follow.
func (c *cli) open(list []*manifest.Manifest, st *state, once bool) (*house, error) {
	log, err := c.logger()
	if err != nil {
		return nil, err
	}
	c.settings.tellUnknown(list, log)
	st.tellOpen(log)
	h := &house{
		log: log, node: &bridge.Node{Program: c.settings.Runtimes.Node}, roster: newRoster(list, c.manifests(true)),
		configs: &st.configs, grants: &st.grants, disabled: &st.disabled, homes: ecosystems.NewHomes(st.elizaDir(), c.settings.signs),
	}
	taps := debugs(debugWire) && log.Enabled(context.Background(), slog.LevelDebug)
	var hidden *hush
	if taps || c.keepsLogs(st) {
		hidden = newHush(c.settings)
		hidden.textOnly = !taps
	}
	st.grants.owns = func(plugin string) bool { return h.roster.get(plugin) != nil }
	h.roster.saw, h.granted = h.sees(st), st.grants.seeAll(context.Background(), st.disabled.without(list))
	id := uuid.NewString()
	if h.telemetry, err = c.settings.openTelemetry(id, log); err != nil {
		return nil, err
	}
	h.telemetry.count(c.metrics)
	h.paperclip = &paperclip{st: st, manifestOf: h.roster.get, hidden: hidden, telemetry: h.telemetry.taker()}
	options := c.hostOptions(h, st, once)
	options.ID = id
	if h.Host, err = actors.New(options); err == nil && c.keepsLogs(st) {
		if h.kept, err = c.keepLogs(h.Host, st, hidden, log); err != nil {
			err = errors.Join(err, h.Shutdown(context.Background()), h.node.Close())
		}
	}
	if err != nil {
		h.telemetry.close(log)
		return nil, err
	}
	if taps {
		h.tapped = tapWire(h.Host, options.Dialects, h.speaks, log, hidden, c.settings.queues().frames)
	}
	return h, nil
}

// loggedKinds are the events that the host's log has: calls for who debugs.
func loggedKinds(log *slog.Logger) actors.Kind {
	kinds := actors.KindLog | actors.KindDropped | actors.KindGrants
	if log.Enabled(context.Background(), slog.LevelDebug) {
		kinds |= actors.KindCall
	}
	return kinds
}

// hostOptions wires a house's host to the settings, to the state, and to all that the house
// has but for the host itself.
func (c *cli) hostOptions(h *house, st *state, once bool) actors.Options {
	mark, _ := ownMark() // so that the next host that serves ends what this one leaves
	if !once {
		mark = sweep(context.Background(), h.log)
	}
	bounds := c.settings.bounds(once)
	o := actors.Options{
		Version:   version(),
		Owner:     mark,
		Log:       h.log,
		LogEvents: loggedKinds(h.log),
		Dialects:  c.dialects(h, st),
		Programs:  programs(),
		Methods: func(p protocol.Plugins) map[string]map[string]protocol.Service {
			return map[string]map[string]protocol.Service{
				manifest.DialectPaperclip: h.paperclip.services(p, c.settings),
				manifest.DialectEliza:     services.ElizaRuntime(p, h, h.paperclip.options(c.settings)),
			}
		},
		Launch:   limited(c.settings, ecosystems.Launch(h.node, h.homes)),
		Timeouts: bounds.Timeouts,
		Limits:   bounds.Limits,
		Ladder:   bounds.Ladder,
		Restart:  bounds.Restart,

		MayInvoke: st.grants.mayInvoke,
		Denied:    st.denied,
		Unstarted: h.offDuty,
	}
	if st.crashes != nil { // else the interface would hold a nil pointer
		o.Memory = st.crashes
	}
	if c.metrics != nil {
		o.Observe = c.metrics.Observe
	}
	h.telemetry.into(&o)
	return o
}

// dialects are the ecosystems, by the settings and grants as they are when they are asked.
func (c *cli) dialects(h *house, st *state) []protocol.Dialect {
	policy := func() ecosystems.Policy {
		p := c.settings.now().policy()
		p.Grants, p.Denied, p.Key = st.grants.begin, st.deniedEliza, h.homes.Key
		return p
	}
	return ecosystems.Dialects(h.roster.get, policy, func(dialect, method string) bool {
		return h.HandlesMethod(dialect, method)
	})
}

// close stops all plugins within the drain time, or at once when now ends, and then
// the host.
func (h *house) close(now context.Context, drain time.Duration) error {
	ctx, cancel := context.WithTimeout(now, drain)
	defer cancel()
	err := errors.Join(h.closeGateway(ctx), h.Shutdown(ctx))
	if h.tapped != nil {
		<-h.tapped
	}
	if ctx.Err() != nil {
		h.log.Warn("what did not stop in time was killed", "drain", drain.String(), "interrupted", now.Err() != nil)
	}
	if err := h.kept.close(); err != nil {
		h.log.Warn("not all that plugins said is kept", "error", err)
	}
	h.telemetry.close(h.log)
	return errors.Join(err, h.node.Close())
}

// manifests says how manifests are read; those that are code are evaluated only
// where exec says so.
func (c *cli) manifests(exec bool) manifest.Options {
	opts := c.settings.now().manifests()
	opts.Builtins = slices.Sorted(maps.Keys(programs()))
	if exec {
		opts.Evaluate = c.modules.Evaluate
	}
	return opts
}

// discover finds the plugins of directories, and tells what is wrong with them and
// what it passes over. What is sound is run, whatever else there is. Manifests that are
// code are evaluated until ctx ends: then nothing is told, and what was found is not all.
// Where waits is true, plugins may come yet: that there is none is no error then.
func (c *cli) discover(ctx context.Context, dirs []string, waits bool) (manifest.Found, error) {
	opts := c.manifests(true)
	opts.Evaluate = func(_ context.Context, module string) ([]byte, error) { return c.modules.Evaluate(ctx, module) }
	found := manifest.Discover(dirs, opts)
	if ctx.Err() != nil {
		return found, context.Cause(ctx)
	}
	if waits {
		found = awaiting(found, dirs)
	}
	c.printFound(found)
	if len(found.Manifests) == 0 && !waits {
		return found, fmt.Errorf("there is no plugin to run in %s", strings.Join(dirs, ", "))
	}
	return found, nil
}

// awaiting is what was found where a directory without a plugin is no problem: one is
// awaited there.
func awaiting(found manifest.Found, dirs []string) manifest.Found {
	for _, dir := range dirs {
		dir = absolute(dir)
		before := len(found.Problems)
		found.Problems = slices.DeleteFunc(found.Problems, func(p manifest.Problem) bool { return absolute(p.File) == dir && !isManifest(dir) })
		if len(found.Problems) < before {
			found.Notes = append(found.Notes, manifest.Note{File: dir, Message: "there is no plugin yet: one that comes is started"})
		}
	}
	return found
}
