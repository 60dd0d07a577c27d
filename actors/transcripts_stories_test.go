package actors_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// What was done to the reference host in each transcript, as its notes tell, done
// to this one. The names of the notes are the transcripts'.

// starts is a start, and no more.
func starts(module string) func(*lab) {
	return func(l *lab) { l.note("start", l.start(l.plugin(module), l.options())) }
}

// failsToStart is a start that fails, and what can be done with such a session.
func failsToStart(module string) func(*lab) {
	return func(l *lab) { failing(l, l.plugin(module), l.options()) }
}

func failing(l *lab, m *manifest.Manifest, opts actors.StartOptions) {
	l.note("start", l.start(m, opts))
	l.note("session kept", l.phase(session))
	l.note("init after failure", l.init(session))
	l.note("stop after failure", l.stop(session))
}

// withoutEntrypoint has the plugin's code where nobody looks for it.
func withoutEntrypoint(entries manifest.Entrypoints, rt manifest.Runtime) func(*lab) {
	return func(l *lab) {
		m := l.plugin("trivial")
		m.Entrypoints = entries
		failing(l, m, actors.StartOptions{Runtime: rt})
	}
}

func failAbsoluteEntrypoint(l *lab) {
	m := l.manifest("abs", "trivial")
	m.Entrypoints.Electron = new("/srv/airi/plugins/trivial.mjs")
	l.note("start", l.start(m, l.options()))
}

func failTransport(l *lab) {
	l.note("start", l.start(l.plugin("trivial"), l.options()))
	l.note("sessions", len(l.host.Sessions()))
}

func nameTrim(l *lab) {
	l.note("spaces", l.start(l.manifest("  spaced name  ", "trivial"), l.options()))
	l.note("blank", l.start(l.manifest("   ", "trivial"), l.options()))
}

func initErrors(l *lab) {
	l.note("init unknown", l.init(session))
	_, err := l.host.Load(l.t.Context(), l.plugin("gated"), l.options())
	require.NoError(l.t, err)
	first := later(func() string { return l.init(session) })
	l.await(`"phase":"preparing"`)
	l.note("concurrent init", l.init(session))
	close(l.gate)
	l.note("init", <-first)
	l.note("init when ready", l.init(session))
}

func twoSessions(l *lab) {
	l.start(l.manifest("first", "trivial"), l.options())
	l.note("failed one", l.start(l.manifest("broken", "import-throws"), l.options()))
	l.start(l.manifest("second", "trivial"), l.options())
	l.stop(session)
	l.start(l.manifest("third", "trivial"), l.options())
}

// Stopping and reloading

func stopPhases(l *lab) {
	stop := func(n int, name string) {
		l.note("stop "+name, l.stop(fmt.Sprintf("plugin-session-%d", n)))
	}
	_, err := l.host.Load(l.t.Context(), l.manifest("p-loaded", "trivial"), l.options())
	require.NoError(l.t, err)
	stop(0, "loaded")
	l.note("machine", l.phase("plugin-session-0"))
	l.start(l.manifest("p-ready", "trivial"), l.options())
	stop(1, "ready")
	l.note("machine", l.phase("plugin-session-1"))
	needy := actors.StartOptions{RequireConfiguration: true}
	l.start(l.manifest("p-confneeded", "trivial"), needy)
	stop(2, "configuration-needed")
	l.note("machine (forced)", l.phase("plugin-session-2"))
	l.start(l.manifest("p-configured", "trivial"), needy)
	l.apply("plugin-session-3", protocol.Config{ID: "c", Revision: 1, SchemaVersion: 1})
	stop(3, "configured")
	l.note("machine (forced)", l.phase("plugin-session-3"))
	l.note("stop unknown", l.stop("plugin-session-99"))
	l.note("stop twice", l.stop("plugin-session-1"))
	l.note("sessions left", len(l.host.Sessions()))
}

func stopDuringInit(l *lab) {
	started := later(func() string { return l.start(l.plugin("gated"), l.options()) })
	l.await(`"phase":"preparing"`)
	l.note("stop", l.stop(session))
	l.note("phase after stop", l.phase(session))
	close(l.gate)
	l.note("init", <-started)
	l.note("phase after init settled", l.phase(session))
}

func stopWhileWaiting(l *lab) {
	opts := actors.StartOptions{Requires: []string{"cap:late"}}
	started := later(func() string { return l.start(l.plugin("trivial"), opts) })
	l.await(`"waiting-deps"`)
	l.note("stop", l.stop(session))
	l.note("phase after stop", l.phase(session))
	l.set("cap:late", lifecycle.CapReady, "")
	l.note("init", <-started)
	l.note("phase after capability became ready", l.phase(session))
	l.note("still listed", len(l.host.Sessions()))
}

func reload(l *lab) {
	info, err := l.host.Start(l.t.Context(), l.manifest("counter", "counter"), l.options())
	require.NoError(l.t, err)
	first := l.report()
	l.note("first", fmt.Sprintf("%s %s %s", info.ID, info.Module, first))
	info, err = l.host.Reload(l.t.Context(), info.ID, l.options())
	require.NoError(l.t, err)
	again := l.report()
	l.note("reloaded", fmt.Sprintf("%s %s %s cwd kept=%v %s", info.ID, info.Module, info.Phase, again.Cwd == first.Cwd, again))
	l.note("old phase", l.phase(session))
	l.note("reload old id", l.reload(session, l.options()))
	l.note("reload with requireConfiguration", l.reload(info.ID, actors.StartOptions{RequireConfiguration: true}))
	var left []string
	for _, s := range l.host.Sessions() {
		left = append(left, s.ID+":"+string(s.Phase))
	}
	l.note("sessions", l.json(left))
}

// Configuration

func configNeeded(l *lab) {
	l.note("start requireConfiguration", l.start(l.plugin("plain"), actors.StartOptions{RequireConfiguration: true}))
	config := protocol.Config{ID: "cfg", Revision: 1, SchemaVersion: 1, Full: json.RawMessage(`{"token":"x"}`)}
	l.note("apply", l.apply(session, config))
	config = protocol.Config{ID: "cfg", Revision: 2, SchemaVersion: 1, Patch: json.RawMessage(`{"token":"y"}`), BaseRevision: new(int64(1))}
	l.note("apply again", l.apply(session, config))
	l.note("markConfigurationNeeded from configured", l.mark(session, ""))
	l.note("init again", l.init(session))
	l.catchUp()
	l.note("setupModules ever called", slices.ContainsFunc(l.lines, func(text string) bool {
		return strings.Contains(text, setupModulesLine)
	}))
}

func configNeededFromReady(l *lab) {
	l.start(l.plugin("plain"), l.options())
	l.note("mark", l.mark(session, "manual-check"))
	l.note("mark twice", l.mark(session, "manual-check"))
	config := protocol.Config{ID: "c", Revision: 2, SchemaVersion: 1, Full: json.RawMessage(`{"mode":"manual"}`)}
	l.note("apply", l.apply(session, config))
	l.note("phase", l.phase(session))
	l.note("stop", l.stop(session))
}

func configNeededWithCaps(l *lab) {
	l.set("cap:a", lifecycle.CapReady, "")
	l.note("start", l.start(l.plugin("plain"), actors.StartOptions{
		RequireConfiguration: true, Requires: []string{"cap:a"},
	}))
}
