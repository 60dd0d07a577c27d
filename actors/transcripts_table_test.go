package actors_test

import (
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
)

// scenario is one transcript, host-NAME, and how this host comes to the same.
type scenario struct {
	name string
	// in says where it is played: in Node always where a plugin takes part, in
	// memory too where nothing in it is JavaScript's own.
	in  home
	run func(*lab)
	// options adjusts what the host is made of.
	options func(*actors.Options)
	// differs lists all that is different, and no more.
	differs []difference
}

const everywhere = inNode | inMemory

var scenarios = []scenario{
	// Capabilities
	{name: "caps-invoke", in: inNode, run: capsInvoke, differs: []difference{
		{row: "own-channel", edits: []edit{turns(sessions, "[loaded]", "[ready]"), turns(lines, "[loaded]", "[ready]")}},
		reworded("engine-words", "Cannot read properties of undefined (reading 'key')",
			"plugin lab-plugin: the input of proj-airi:plugin-sdk:apis:protocol:capabilities:wait: expected an object with a string member key"),
	}},
	{name: "caps-registry", in: inMemory, run: capsRegistry},
	{name: "caps-required-already-ready", in: everywhere, run: requires(0, "cap:a", "cap:a")},
	{name: "caps-required-empty-array", in: everywhere, run: requires(0, "")},
	{name: "caps-required-partial", in: everywhere, run: requiredPartial},
	{name: "caps-required-timeout", in: everywhere, run: requires(25*time.Millisecond, "", "cap:missing")},
	{
		name: "caps-required-timeout-zero", in: everywhere, run: requires(0, "", "cap:missing"),
		options: func(o *actors.Options) { o.Timeouts.Capabilities = 25 * time.Millisecond },
		differs: []difference{{row: "timeout-zero", edits: []edit{
			turns(notes, "0ms", "25ms"), turns(lines, "0ms", "25ms"), turns(lines, `"timeoutMs":0`, `"timeoutMs":25`),
		}}},
	},
	{name: "caps-required-two-timeout", in: everywhere, run: requires(25*time.Millisecond, "", "cap:m1", "cap:m2")},
	{name: "caps-required-wait", in: everywhere, run: requiredWait},
	{name: "duplicate-invoke-handler", in: inNode, run: duplicateInvokeHandler, differs: []difference{
		{row: "own-channel", edits: []edit{turns(sessions, "[loaded]", "[ready]")}},
		{row: "own-handler", edits: []edit{lacks(lines, "list-providers-")}},
	}},

	// Negotiation
	{name: "compat-blank-host-version", in: everywhere, run: starts("trivial")},
	{name: "compat-case-sensitive", in: everywhere, run: starts("trivial")},
	{name: "compat-downgraded-both", in: everywhere, run: starts("trivial")},
	{name: "compat-downgraded-host-order", in: everywhere, run: starts("trivial")},
	{name: "compat-downgraded-protocol-only", in: everywhere, run: starts("trivial")},
	{name: "compat-empty-peer-list", in: everywhere, run: starts("trivial")},
	{name: "compat-exact-default", in: everywhere, run: starts("trivial")},
	{name: "compat-exact-listed", in: everywhere, run: starts("trivial")},
	{name: "compat-rejected-api-only", in: everywhere, run: starts("trivial")},
	{name: "compat-rejected-both", in: everywhere, run: starts("trivial")},
	{name: "compat-rejected-protocol-only", in: everywhere, run: starts("trivial")},

	// Configuration
	{name: "config-needed", in: everywhere, run: configNeeded, differs: []difference{
		{row: "configure-when-ready", edits: []edit{
			says("apply again", "THROW Session plugin-session-0 cannot accept configuration during phase ready."),
			endsBefore(lines, `"revision":2`),
		}},
		{row: "configured-to-ready", edits: []edit{
			says("apply", "ok ready"),
			says("setupModules ever called", "true"),
			gains(lines, "", setupModules, status("ready", "")),
		}},
		{row: "configured-to-needed", edits: []edit{
			says("markConfigurationNeeded from configured", "ok configuration-needed"),
			gains(lines, "",
				`plugin-session-0 module:configuration:needed {"identity":`+identity0+`} [configuration-needed]`,
				status("configuration-needed", "")),
			says("init again", "THROW Session plugin-session-0 cannot initialize from phase configuration-needed. Expected loaded."),
			turns(sessions, "[configured]", "[configuration-needed]"),
		}},
	}},
	{name: "config-needed-from-ready", in: everywhere, run: configNeededFromReady, differs: []difference{
		{row: "configured-to-ready", edits: []edit{
			says("apply", "ok ready"),
			says("phase", "ready"),
			gains(lines, "", setupModules, status("ready", "")),
		}},
	}},
	{name: "config-needed-with-caps", in: everywhere, run: configNeededWithCaps},

	// Failures
	{name: "fail-absolute-entrypoint", in: inNode, run: failAbsoluteEntrypoint, differs: []difference{
		reworded("entrypoint-inside", missing("srv/airi/plugins/trivial.mjs"), outside("abs", "electron", "/srv/airi/plugins/trivial.mjs")),
	}},
	{name: "fail-default-function", in: inNode, run: failsToStart("default-function")},
	{name: "fail-default-null", in: inNode, run: failsToStart("default-null"), differs: []difference{
		reworded("engine-words", "Cannot read properties of null (reading 'init')",
			"The default export of default-null.mjs is null: export definePlugin(...), or an object with init or setupModules."),
	}},
	{name: "fail-define-returns-undefined", in: inNode, run: failsToStart("define-returns-undefined"), differs: []difference{
		reworded("engine-words", "Cannot read properties of undefined (reading 'init')",
			"The plugin's setup() returned undefined: return an object with init or setupModules."),
	}},
	{name: "fail-define-setup-throws", in: inNode, run: failsToStart("define-setup-throws")},
	{name: "fail-empty-string-entrypoint", in: inNode, run: withoutEntrypoint(
		manifest.Entrypoints{Node: new(""), Default: new("./trivial.mjs")}, manifest.Node)},
	{name: "fail-import-throws", in: everywhere, run: failsToStart("import-throws")},
	{name: "fail-init-false", in: inNode, run: failsToStart("init-false")},
	{name: "fail-init-throws", in: everywhere, run: failsToStart("init-throws")},
	{name: "fail-init-throws-empty", in: everywhere, run: failsToStart("init-throws-empty")},
	{name: "fail-init-throws-string", in: inNode, run: failsToStart("init-throws-string"), differs: []difference{
		{row: "thrown-value", edits: []edit{says("start", "THROW Plugin host initialization failed.")}},
	}},
	{name: "fail-missing-file", in: inNode, run: failsToStart("does-not-exist"), differs: []difference{
		reworded("engine-words", missing("does-not-exist.mjs"), absent),
	}},
	{name: "fail-no-entrypoint", in: inNode, run: withoutEntrypoint(manifest.Entrypoints{}, manifest.Electron)},
	{name: "fail-no-entrypoint-node", in: inNode, run: withoutEntrypoint(manifest.Entrypoints{Web: new("./trivial.mjs")}, manifest.Node)},
	{name: "fail-no-hooks", in: inNode, run: failsToStart("no-hooks")},
	{name: "fail-setup-modules-throws", in: everywhere, run: failsToStart("setup-modules-throws")},
	{name: "fail-throwing-listener", in: inNode, run: failsToStart("throwing-listener"), differs: []difference{
		{row: "listener-throws", edits: []edit{gains(lines, "module:prepared",
			status("prepared", ""),
			`plugin-session-0 module:configuration:configured {"config":{"configId":"lab-plugin-0:default","full":{},"revision":1,"schemaVersion":1},"identity":`+identity0+`} [configured]`,
			status("configured", ""))}},
	}},
	{
		name: "fail-transport", in: inNode, run: failTransport,
		options: func(o *actors.Options) { o.Launch = nil },
		differs: []difference{{row: "transport", edits: []edit{
			turns(notes, "Only in-memory transport is currently supported by PluginHost alpha. Got: websocket", unrunnable),
			says("sessions", "1"),
			gains(sessions, "", "plugin-session-0 lab-plugin-0 [failed]"),
			gains(lines, "", status("failed", `,"reason":"`+unrunnable+`"`)),
		}}},
	},
	{name: "init-errors", in: everywhere, run: initErrors},

	// Manifests
	{name: "manifest-schema", in: inNode, run: manifestSchema, differs: []difference{
		{row: "name-blank", edits: []edit{turns(notes, manifestBlank+": ok "+manifestBlank, manifestBlank+": invalid: name")}},
		{row: "entrypoint-required", edits: []edit{turns(notes, manifestBare+": ok "+manifestBare, manifestBare+": invalid: entrypoints")}},
	}},
	{name: "resolve-entrypoint", in: inMemory, run: resolveEntrypoint, differs: []difference{
		{row: "entrypoint-inside", edits: []edit{
			turns(notes, "ok /tmp/up.js", "THROW "+outside("lab-plugin", "node", "../up.js")),
			turns(notes, "ok /tmp/p/abs/x.js", "THROW "+outside("lab-plugin", "node", "/abs/x.js")),
			turns(notes, "ok /tmp/p/file:/abs/x.js", `THROW plugin lab-plugin: entrypoints.node: expected a path relative to the manifest, e.g. "./plugin.mjs", found the URL "file:///abs/x.js"`),
		}},
		{row: "lazy-loader", edits: []edit{lacks(notes, "^lazy loader ")}},
	}},

	// Providers
	{name: "providers-default", in: inNode, run: starts("providers")},
	{name: "providers-override", in: inNode, run: providersOverride},
	{name: "providers-resolver-throws", in: inNode, run: providersResolverThrows},
	{name: "providers-withdrawn", in: inNode, run: providersWithdrawn},

	// Starts
	{name: "start-default-object", in: inNode, run: starts("default-object")},
	{name: "start-define-async", in: inNode, run: starts("define-async")},
	{name: "start-define-plugin", in: everywhere, run: starts("trivial")},
	{name: "start-named-setup", in: inNode, run: starts("named-setup")},
	{name: "start-plain-plugin", in: everywhere, run: starts("plain")},
	{name: "start-name-trim", in: everywhere, run: nameTrim, differs: []difference{
		{row: "name-blank", edits: []edit{
			says("blank", "THROW name: a plugin must have a name that is not blank"),
			lacks(lines, "^plugin-session-1 "), lacks(sessions, "^plugin-session-1 "),
		}},
	}},
	{name: "two-sessions-registry", in: everywhere, run: twoSessions},

	// Ends
	{name: "reload", in: everywhere, run: reload, differs: []difference{
		{row: "reload-imports", in: inNode, edits: []edit{turns(notes, "top=1 setup=2", "top=1 setup=1")}},
	}},
	{name: "stop-during-plugin-init", in: everywhere, run: stopDuringInit, differs: stoppedForGood("phase after init settled")},
	{name: "stop-phases", in: everywhere, run: stopPhases, differs: []difference{
		{row: "stop-anywhere", edits: []edit{says("machine (forced)", "stopped")}},
		{row: "configured-to-ready", edits: []edit{gains(lines, "", statusOf("p-configured", 3, "ready", ""))}},
	}},
	{name: "stop-while-waiting-deps", in: everywhere, run: stopWhileWaiting, differs: stoppedForGood("phase after capability became ready")},
}
