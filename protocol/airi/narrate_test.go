package airi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

const (
	atStart      = "Host requested configuration before activation."
	noPlugin     = "Failed to resolve plugin module. The entrypoint must export either definePlugin(...) or Plugin hooks."
	noEntrypoint = "Plugin entrypoint is required for runtime `%s`. Define one of `entrypoints.<runtime>`, `entrypoints.default`, or `entrypoints.electron` in the plugin manifest."
	stoppedEarly = "Invalid plugin lifecycle transition: stopped -> prepared for module lab-plugin-0"
	noModule     = "Cannot find module '/srv/airi/plugins/%s' imported from /srv/airi/mar12/packages/plugin-sdk/dist/core-DsbbBSC7.mjs"
)

// narrated has, by transcript of the reference host and session, what a host with
// our narration says on the channel.
func narrated() map[string][]protocol.Event {
	lab := module("lab-plugin", 0)
	spaced := protocol.Module{Name: "  spaced name  ", ID: "spaced name-0", Plugin: "spaced name"}
	blank := protocol.Module{Name: "   ", Index: 1, ID: "plugin-1", Plugin: "plugin"}
	first, broken, second, third := module("first", 0), module("broken", 1), module("second", 2), module("third", 3)
	stories := map[string][]protocol.Event{
		"host-caps-required-already-ready#0": tell(boot(lab), waited(lab, 15*time.Second, "cap:a")(), prepare(lab), finish(lab)),
		"host-caps-required-partial#0":       tell(boot(lab), waited(lab, 15*time.Second, "cap:a", "cap:b")("cap:b"), prepare(lab), finish(lab)),
		"host-caps-required-wait#0":          tell(boot(lab), waited(lab, 2*time.Second, "cap:a", "cap:b")("cap:a", "cap:b"), prepare(lab), finish(lab)),
		"host-caps-required-timeout-zero#0": tell(boot(lab), waited(lab, 0, "cap:missing")("cap:missing"),
			fail(lab, "Capability `cap:missing` is not ready after 0ms.")),
		"host-caps-required-timeout#0": tell(boot(lab), waited(lab, 25*time.Millisecond, "cap:missing")("cap:missing"),
			fail(lab, "Capability `cap:missing` is not ready after 25ms.")),
		"host-caps-required-two-timeout#0": tell(boot(lab), waited(lab, 25*time.Millisecond, "cap:m1", "cap:m2")("cap:m1", "cap:m2"),
			fail(lab, "Capability `cap:m1` is not ready after 25ms.")),

		"host-compat-downgraded-both#0": negotiatedAs(lab,
			protocol.VersionRequest{Protocol: "v2", API: "v2", SupportedProtocol: []string{"v1"}, SupportedAPI: []string{"v1"}},
			protocol.VersionResult{Protocol: "v1", API: "v1", Mode: "downgraded"}),
		"host-compat-downgraded-host-order#0": negotiatedAs(lab,
			protocol.VersionRequest{Protocol: "v4", API: "v1", SupportedProtocol: []string{"v2", "v1", "v3"}},
			protocol.VersionResult{Protocol: "v3", API: "v1", Mode: "downgraded"}),
		"host-compat-downgraded-protocol-only#0": negotiatedAs(lab,
			protocol.VersionRequest{Protocol: "v2", API: "v1", SupportedProtocol: []string{"v1"}},
			protocol.VersionResult{Protocol: "v1", API: "v1", Mode: "downgraded"}),
		"host-compat-empty-peer-list#0": negotiatedAs(lab,
			protocol.VersionRequest{Protocol: "v1", API: "v1", SupportedProtocol: []string{}, SupportedAPI: []string{"", "  "}},
			protocol.VersionResult{Protocol: "v1", API: "v1", Mode: "exact"}),
		"host-compat-exact-listed#0": negotiatedAs(lab,
			protocol.VersionRequest{Protocol: "v1", API: "v1", SupportedProtocol: []string{"v1", "v2"}, SupportedAPI: []string{"v1"}},
			protocol.VersionResult{Protocol: "v1", API: "v1", Mode: "exact"}),
		"host-compat-blank-host-version#0": rejected(lab, protocol.VersionRequest{Protocol: "", API: "  "},
			`protocol: Host does not support preferred version "".; api: Host does not support preferred version "".`),
		"host-compat-case-sensitive#0": rejected(lab,
			protocol.VersionRequest{Protocol: "v1", API: "v1", SupportedProtocol: []string{"V1"}},
			"protocol: No overlapping supported versions. host=[v1]; peer=[V1]."),
		"host-compat-rejected-api-only#0": rejected(lab,
			protocol.VersionRequest{Protocol: "v1", API: "v1", SupportedAPI: []string{"v7"}},
			"api: No overlapping supported versions. host=[v1]; peer=[v7]."),
		"host-compat-rejected-both#0": rejected(lab,
			protocol.VersionRequest{Protocol: "v2", API: "v2", SupportedProtocol: []string{"v9"}, SupportedAPI: []string{"v9", "v8"}},
			"protocol: No overlapping supported versions. host=[v2]; peer=[v9].; api: No overlapping supported versions. host=[v2]; peer=[v9, v8]."),
		"host-compat-rejected-protocol-only#0": rejected(lab,
			protocol.VersionRequest{Protocol: "v2", API: "v1", SupportedProtocol: []string{"v9"}},
			"protocol: No overlapping supported versions. host=[v2]; peer=[v9]."),

		"host-config-needed-from-ready#0": tell(boot(lab), prepare(lab), finish(lab),
			moments(lab, protocol.Moment{What: protocol.MomentConfigurationNeeded, Reason: "manual-check"}),
			configure(lab, protocol.Config{ID: "c", Revision: 2, SchemaVersion: 1, Full: raw(`{"mode":"manual"}`)})),
		"host-config-needed-with-caps#0": tell(boot(lab), waited(lab, 15*time.Second, "cap:a")(), prepare(lab), need(lab)),
		"host-config-needed#0": tell(boot(lab), prepare(lab), need(lab),
			configure(lab, protocol.Config{ID: "cfg", Revision: 1, SchemaVersion: 1, Full: raw(`{"token":"x"}`)}),
			configure(lab, protocol.Config{ID: "cfg", Revision: 2, SchemaVersion: 1, Patch: raw(`{"token":"y"}`), BaseRevision: new(int64(1))})),

		"host-fail-absolute-entrypoint#0":      tell(fail(module("abs", 0), fmt.Sprintf(noModule, "srv/airi/plugins/trivial.mjs"))),
		"host-fail-missing-file#0":             tell(fail(lab, fmt.Sprintf(noModule, "does-not-exist.mjs"))),
		"host-fail-default-function#0":         tell(fail(lab, noPlugin)),
		"host-fail-no-hooks#0":                 tell(fail(lab, noPlugin)),
		"host-fail-default-null#0":             tell(fail(lab, "Cannot read properties of null (reading 'init')")),
		"host-fail-define-setup-throws#0":      tell(fail(lab, "setup() exploded")),
		"host-fail-import-throws#0":            tell(fail(lab, "import exploded")),
		"host-fail-empty-string-entrypoint#0":  tell(fail(lab, fmt.Sprintf(noEntrypoint, "node"))),
		"host-fail-no-entrypoint-node#0":       tell(fail(lab, fmt.Sprintf(noEntrypoint, "node"))),
		"host-fail-no-entrypoint#0":            tell(fail(lab, fmt.Sprintf(noEntrypoint, "electron"))),
		"host-fail-define-returns-undefined#0": tell(boot(lab), fail(lab, "Cannot read properties of undefined (reading 'init')")),
		"host-fail-init-false#0":               tell(boot(lab), fail(lab, "Plugin initialization aborted by plugin: lab-plugin")),
		"host-fail-init-throws-empty#0":        tell(boot(lab), fail(lab, "")),
		"host-fail-init-throws-string#0":       tell(boot(lab), fail(lab, wordless[protocol.StepInit])),
		"host-fail-init-throws#0":              tell(boot(lab), fail(lab, "init exploded")),
		"host-fail-setup-modules-throws#0":     tell(boot(lab), prepare(lab), configure(lab, standard(lab)), fail(lab, "setupModules exploded")),
		"host-providers-resolver-throws#0":     tell(boot(lab), prepare(lab), configure(lab, standard(lab)), fail(lab, "resolver exploded")),
		// The first of the two events of this moment met the listener that throws.
		"host-fail-throwing-listener#0": append(untilPrepared(lab), tell(fail(lab, "listener exploded"))...),

		"host-start-name-trim#0":         started(spaced),
		"host-start-name-trim#1":         started(blank, spaced, blank),
		"host-two-sessions-registry#0":   started(first),
		"host-two-sessions-registry#1":   tell(fail(broken, "import exploded")),
		"host-two-sessions-registry#2":   started(second, first, broken, second),
		"host-two-sessions-registry#3":   started(third, broken, second, third),
		"host-reload#0":                  started(module("counter", 0)),
		"host-reload#1":                  started(module("counter", 1)),
		"host-reload#2":                  tell(boot(module("counter", 2)), prepare(module("counter", 2)), need(module("counter", 2))),
		"host-stop-during-plugin-init#0": tell(boot(lab), fail(lab, stoppedEarly)),
		"host-stop-while-waiting-deps#0": tell(boot(lab), waited(lab, 15*time.Second, "cap:late")("cap:late"), fail(lab, stoppedEarly)),
		"host-stop-phases#1":             started(module("p-ready", 1)),
		"host-stop-phases#2":             tell(boot(module("p-confneeded", 2)), prepare(module("p-confneeded", 2)), need(module("p-confneeded", 2))),
		"host-stop-phases#3": tell(boot(module("p-configured", 3)), prepare(module("p-configured", 3)), need(module("p-configured", 3)),
			configure(module("p-configured", 3), protocol.Config{ID: "c", Revision: 1, SchemaVersion: 1})),
	}
	for _, plain := range []string{
		"caps-required-empty-array", "compat-exact-default", "init-errors", "manifest-schema",
		"providers-default", "providers-override", "providers-withdrawn",
		"start-default-object", "start-define-async", "start-define-plugin", "start-named-setup", "start-plain-plugin",
	} {
		stories["host-"+plain+"#0"] = started(lab)
	}
	return stories
}

// Everything that the reference host says on a channel is said by our narration
// too, to the byte; what the recorded modules themselves said is passed by.
func TestNarrate_saysWhatTheReferenceHostSays(t *testing.T) {
	want := said(t)
	stories := narrated()
	require.Len(t, stories, len(want))
	for name, lines := range want {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, lines, written(t, stories[name]))
		})
	}
}

func TestNarrate_hasItsOwnWordsForDegraded(t *testing.T) {
	lab := module("lab-plugin", 0)
	const self = `module:status {"identity":{"id":"lab-plugin-0","kind":"plugin","plugin":{"id":"lab-plugin"}},`
	require.Equal(t, []string{
		self + `"phase":"degraded","reason":"connection lost"}`,
		self + `"phase":"degraded"}`,
		self + `"phase":"ready"}`,
	}, written(t, tell(moments(lab,
		protocol.Moment{What: protocol.MomentDegraded, Reason: "connection lost"},
		protocol.Moment{What: protocol.MomentDegraded},
		protocol.Moment{What: protocol.MomentRecovered}))))
}

func TestNarrate_leavesALaterEmptyReasonOut(t *testing.T) {
	const self = `{"identity":{"id":"lab-plugin-0","kind":"plugin","plugin":{"id":"lab-plugin"}}`
	require.Equal(t, []string{
		"module:configuration:needed " + self + "}",
		"module:status " + self + `,"phase":"configuration-needed"}`,
	}, written(t, tell(moments(module("lab-plugin", 0), protocol.Moment{What: protocol.MomentConfigurationNeeded}))))
}

func TestNarrate_isSilentOtherwise(t *testing.T) {
	require.Empty(t, Dialect{}.Narrate(protocol.Moment{}))
}

// The payload is encoded later, if at all; what the host does with its lists in
// the meantime does not show.
func TestNarrate_keepsNothingOfTheMoment(t *testing.T) {
	base := int64(1)
	moment := protocol.Moment{
		Asked:    protocol.VersionRequest{SupportedProtocol: []string{"v1"}, SupportedAPI: []string{"v1"}},
		Required: []string{"a"}, Unresolved: []string{"a"},
		Modules: []protocol.Module{module("a", 0)},
		Config:  protocol.Config{BaseRevision: &base},
	}
	var all []protocol.Event
	for what := protocol.MomentAuthenticating; what <= protocol.MomentFailed; what++ {
		moment.What = what
		all = append(all, Dialect{}.Narrate(moment)...)
	}
	before := written(t, all)
	moment.Asked.SupportedProtocol[0], moment.Asked.SupportedAPI[0] = "changed", "changed"
	moment.Required[0], moment.Unresolved[0] = "changed", "changed"
	moment.Modules[0].Name = "changed"
	base = 2
	require.Equal(t, before, written(t, all))
}

// said reads testdata/host: by transcript and session, the host's own events.
func said(t *testing.T) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/host/*.ndjson")
	require.NoError(t, err)
	lines := map[string][]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range bytes.Lines(data) {
			var l struct {
				Session, Type string
				Payload       json.RawMessage
			}
			require.NoError(t, json.Unmarshal(line, &l))
			if strings.HasPrefix(l.Type, "lab:") || strings.HasPrefix(l.Type, servicePrefix) {
				continue
			}
			name := strings.TrimSuffix(filepath.Base(path), ".ndjson") + "#" + strings.TrimPrefix(l.Session, "plugin-session-")
			lines[name] = append(lines[name], l.Type+" "+string(l.Payload))
		}
	}
	require.NotEmpty(t, lines)
	return lines
}

// written is what the events are on a wire, save that Go escapes <, > and &.
func written(t *testing.T, list []protocol.Event) []string {
	t.Helper()
	var lines []string
	for _, e := range list {
		payload, err := e.JSON()
		require.NoError(t, err)
		var plain bytes.Buffer
		enc := json.NewEncoder(&plain)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(e.Payload))
		require.JSONEq(t, plain.String(), string(payload))
		lines = append(lines, e.Name+" "+strings.TrimSpace(plain.String()))
	}
	return lines
}

// A story is told in chapters, which are moments of one module.

func tell(chapters ...[]protocol.Moment) []protocol.Event {
	var all []protocol.Event
	for _, chapter := range chapters {
		for _, m := range chapter {
			all = append(all, Dialect{}.Narrate(m)...)
		}
	}
	return all
}

func module(name string, index int) protocol.Module {
	return protocol.Module{Name: name, Index: index, ID: fmt.Sprintf("%s-%d", name, index), Plugin: name}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func moments(self protocol.Module, list ...protocol.Moment) []protocol.Moment {
	for i := range list {
		list[i].Self = self
	}
	return list
}

// hello is the beginning, up to the negotiation.
func hello(self protocol.Module, asked protocol.VersionRequest, result protocol.VersionResult) []protocol.Moment {
	return moments(self,
		protocol.Moment{What: protocol.MomentAuthenticating, Token: fmt.Sprintf("plugin-session-%d:%s", self.Index, self.ID)},
		protocol.Moment{What: protocol.MomentAuthenticated},
		protocol.Moment{What: protocol.MomentNegotiated, Asked: asked, Result: result})
}

// appear is what follows a negotiation that came to a result.
func appear(self protocol.Module, known ...protocol.Module) []protocol.Moment {
	if known == nil {
		known = []protocol.Module{self}
	}
	return moments(self,
		protocol.Moment{What: protocol.MomentSynced, Modules: known},
		protocol.Moment{What: protocol.MomentAnnounced},
		protocol.Moment{What: protocol.MomentPreparing})
}

func boot(self protocol.Module, known ...protocol.Module) []protocol.Moment {
	return append(hello(self,
		protocol.VersionRequest{Protocol: "v1", API: "v1"},
		protocol.VersionResult{Protocol: "v1", API: "v1", Mode: "exact"}), appear(self, known...)...)
}

func waited(self protocol.Module, timeout time.Duration, required ...string) func(unresolved ...string) []protocol.Moment {
	return func(unresolved ...string) []protocol.Moment {
		return moments(self, protocol.Moment{
			What: protocol.MomentWaiting, Timeout: timeout, Required: required, Unresolved: unresolved,
		})
	}
}

func prepare(self protocol.Module) []protocol.Moment {
	return moments(self, protocol.Moment{What: protocol.MomentPrepared})
}

func need(self protocol.Module) []protocol.Moment {
	return moments(self, protocol.Moment{What: protocol.MomentConfigurationNeeded, AtStart: true, Reason: atStart})
}

func standard(self protocol.Module) protocol.Config {
	return protocol.Config{ID: self.ID + ":default", Revision: 1, SchemaVersion: 1, Full: raw(`{}`)}
}

func configure(self protocol.Module, c protocol.Config) []protocol.Moment {
	return moments(self, protocol.Moment{What: protocol.MomentConfigured, Config: c})
}

func finish(self protocol.Module) []protocol.Moment {
	return append(configure(self, standard(self)), moments(self, protocol.Moment{What: protocol.MomentReady})...)
}

func fail(self protocol.Module, reason string) []protocol.Moment {
	return moments(self, protocol.Moment{What: protocol.MomentFailed, Reason: reason})
}

func started(self protocol.Module, known ...protocol.Module) []protocol.Event {
	return tell(boot(self, known...), prepare(self), finish(self))
}

func untilPrepared(self protocol.Module) []protocol.Event {
	all := tell(boot(self), prepare(self))
	return all[:len(all)-1]
}

func negotiatedAs(self protocol.Module, asked protocol.VersionRequest, result protocol.VersionResult) []protocol.Event {
	return tell(hello(self, asked, result), appear(self), prepare(self), finish(self))
}

func rejected(self protocol.Module, asked protocol.VersionRequest, why string) []protocol.Event {
	why = "Negotiation rejected: " + why
	return tell(hello(self, asked, protocol.VersionResult{
		Protocol: asked.Protocol, API: asked.API, Mode: "rejected", Reason: why,
	}), fail(self, why))
}
