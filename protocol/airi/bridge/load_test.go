package bridge_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

const hooks = `{
  async init({ channels }) { channels.host.emit({ id: 'lab:init', type: 'event' }) },
  async setupModules({ channels }) { channels.host.emit({ id: 'lab:setup', type: 'event' }, { by: this === undefined ? 'none' : typeof this }) },
}`

// A module may come in any of the shapes that the reference host takes, and in
// either module system.
func TestLoad_takesEveryShape(t *testing.T) {
	for name, row := range map[string]struct{ file, text string }{
		"named setup":           {"main.mjs", "export async function setup() { return " + hooks + " }"},
		"default with setup":    {"main.mjs", "export default { setup: () => (" + hooks + ") }"},
		"default with hooks":    {"main.mjs", "export default " + hooks},
		"named hooks":           {"main.mjs", "const h = " + hooks + "\nexport const { init, setupModules } = h"},
		"definePlugin":          {"main.mjs", "import { definePlugin } from '@proj-airi/plugin-sdk'\nexport default definePlugin('lab', '1.0.0', async () => (" + hooks + "))"},
		"setup before hooks":    {"main.mjs", "export const setup = () => (" + hooks + ")\nexport const init = () => false"},
		"commonjs object":       {"main.cjs", "module.exports = " + hooks},
		"commonjs definePlugin": {"main.cjs", "const { definePlugin } = require('@proj-airi/plugin-sdk/plugin')\nmodule.exports = definePlugin('lab', '1.0.0', () => (" + hooks + "))"},
		"commonjs named":        {"main.cjs", "exports.setup = () => (" + hooks + ")"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startIn(t, plugin(t, map[string]string{row.file: row.text}), row.file)
			w.step(protocol.Run{Step: protocol.StepLoad})
			require.NoError(t, next[protocol.Ran](w).Err)
			w.step(protocol.Run{Step: protocol.StepInit})
			w.wantEvent("lab:init", "")
			require.NoError(t, next[protocol.Ran](w).Err)
			w.step(protocol.Run{Step: protocol.StepSetup})
			w.wantEvent("lab:setup", `{"by":"object"}`)
			require.NoError(t, next[protocol.Ran](w).Err)
			w.run(protocol.StepStop)
		})
	}
}

// What a module does wrong while it starts is said in its own words and with its
// own line, in the step in which the reference host would notice.
func TestStart_failsWithTheModulesWords(t *testing.T) {
	for name, row := range map[string]struct {
		text     string
		step     protocol.Step
		message  string
		name, at string
	}{
		"no hooks": {
			"export const other = 1", protocol.StepLoad,
			"Failed to resolve plugin module. The entrypoint must export either definePlugin(...) or Plugin hooks.", "Error", "",
		},
		"default function": {
			"export default function init() {}", protocol.StepLoad,
			"Failed to resolve plugin module. The entrypoint must export either definePlugin(...) or Plugin hooks.", "Error", "",
		},
		"default null": {
			"export default null", protocol.StepLoad,
			"The default export of main.mjs is null: export definePlugin(...), or an object with init or setupModules.", "TypeError", "",
		},
		"import throws":          {"\n\nthrow new Error('import exploded')", protocol.StepLoad, "import exploded", "Error", "main.mjs:3:7"},
		"import throws no Error": {"throw 'just a string'", protocol.StepLoad, "Failed to load plugin.", "", ""},
		"setup throws":           {"export function setup() {\n  throw new RangeError('setup() exploded')\n}", protocol.StepLoad, "setup() exploded", "RangeError", "main.mjs:2:9"},
		"a missing file":         {"import './gone.mjs'", protocol.StepLoad, "", "Error", ""},
		"bad syntax":             {"export const a = 1\nconst b = ;", protocol.StepLoad, "Unexpected token ';'", "SyntaxError", "main.mjs:2"},
		"a missing export": {
			"import { defineNothing } from '@proj-airi/plugin-sdk'", protocol.StepLoad,
			"The requested module '@proj-airi/plugin-sdk' does not provide an export named 'defineNothing'", "SyntaxError", "main.mjs:1",
		},
		"setup returns nothing": {
			"export const setup = () => {}", protocol.StepInit,
			"The plugin's setup() returned undefined: return an object with init or setupModules.", "TypeError", "",
		},
		"init returns false":     {"export const init = async () => false", protocol.StepInit, "Plugin initialization aborted by plugin: lab-plugin", "", ""},
		"init throws":            {"export async function init() {\n  await null\n  throw new Error('init exploded')\n}", protocol.StepInit, "init exploded", "Error", "main.mjs:3:9"},
		"init throws empty":      {"export async function init() { throw new Error('') }", protocol.StepInit, "", "Error", "main.mjs:1:38"},
		"init throws a string":   {"export async function init() { throw 'just a string' }", protocol.StepInit, "Plugin host initialization failed.", "", ""},
		"init throws an object":  {"export async function init() { throw { message: 'no Error' } }", protocol.StepInit, "Plugin host initialization failed.", "", ""},
		"init throws a function": {"export async function init() { throw () => 1 }", protocol.StepInit, "Plugin host initialization failed.", "", ""},
		"setupModules throws":    {"export async function setupModules() { throw new Error('setupModules exploded') }", protocol.StepSetup, "setupModules exploded", "Error", "main.mjs:1:46"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, row.text)
			for _, s := range []protocol.Step{protocol.StepLoad, protocol.StepInit, protocol.StepSetup} {
				err := w.tryRun(s)
				if s != row.step {
					require.NoError(t, err)
					continue
				}
				var peer *protocol.PeerError
				require.ErrorAs(t, err, &peer)
				if name != "a missing file" { // Node.js words that one, with paths in it
					require.Equal(t, row.message, peer.Message)
				}
				require.Equal(t, row.name, peer.Name)
				require.Equal(t, row.at, peer.At)
				return
			}
		})
	}
}

func TestStart_namesALineBelowThePluginsDirectory(t *testing.T) {
	w := startIn(t, plugin(t, map[string]string{
		"dist/deep/main.mjs":                   "import { help } from '../help.mjs'\nexport const init = () => help()",
		"dist/help.mjs":                        "import { fail } from 'dependency'\nexport function help() {\n  fail()\n}",
		"node_modules/dependency/main.js":      "export function fail() { throw new Error('deep') }",
		"node_modules/dependency/package.json": `{"name":"dependency","type":"module","exports":"./main.js"}`,
	}), "dist/deep/main.mjs")
	w.run(protocol.StepLoad)
	var peer *protocol.PeerError
	require.ErrorAs(t, w.tryRun(protocol.StepInit), &peer)
	require.Equal(t, "dist/help.mjs:3:3", peer.At, "the plugin's own line, not its dependency's")
}

func TestStart_failsByWhatAListenerThrows(t *testing.T) {
	w := start(t, `export function init({ channels }) {
  channels.host.on({ id: 'module:prepared', type: 'event' }, () => { throw new Error('listener exploded') })
}
export function setupModules() { throw new Error('not reached') }`)
	w.run(protocol.StepLoad, protocol.StepInit)
	w.step(protocol.Emit{Event: protocol.Event{Name: "module:prepared"}})
	var peer *protocol.PeerError
	require.ErrorAs(t, w.tryRun(protocol.StepSetup), &peer)
	require.Equal(t, "listener exploded", peer.Message)
	require.Equal(t, "main.mjs:2:76", peer.At)
}

func TestReady_aListenerThatThrowsIsALogLine(t *testing.T) {
	w := start(t, `export function init({ channels }) {
  channels.host.on({ id: 'tick', type: 'event' }, () => { throw new Error('listener exploded') })
}`)
	w.ready()
	w.step(protocol.Emit{Event: protocol.Event{Name: "tick"}})
	w.run(protocol.StepStop)
	require.NoError(t, w.stdin.Close())
	w.wantExit(0)
	require.Contains(t, w.stderr.String(), "airi-host: a listener of tick failed at main.mjs:2:65: listener exploded\n")
}

// own is a copy of Eventa as a plugin may bring it: another instance.
func own(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("dist/eventa.mjs")
	require.NoError(t, err)
	return map[string]string{
		"node_modules/@moeru/eventa/package.json": `{"name":"@moeru/eventa","version":"1.0.0","type":"module","exports":{".":{"import":"./index.mjs","default":"./index.mjs"}}}`,
		"node_modules/@moeru/eventa/index.mjs":    string(text) + "\nexport const isOwn = true",
	}
}

const greets = `
function greeter(eventa, from) {
  return { init({ channels }) {
    eventa.defineInvokeHandler(channels.host, eventa.defineInvokeEventa('greet'), ({ name }) => ({ text: 'hello ' + name, from }))
  } }
}
`

func TestImports_giveEventaInBothModuleSystems(t *testing.T) {
	for name, row := range map[string]struct {
		file, text, from string
		own              bool
	}{
		"import the bridge's":       {"main.mjs", "import * as eventa from '@moeru/eventa'" + greets + "export default greeter(eventa, String(eventa.isOwn))", "undefined", false},
		"import its own":            {"main.mjs", "import * as eventa from '@moeru/eventa'" + greets + "export default greeter(eventa, String(eventa.isOwn))", "true", true},
		"require the bridge's":      {"main.cjs", "const eventa = require('@moeru/eventa')" + greets + "module.exports = greeter(eventa, String(eventa.isOwn))", "undefined", false},
		"one instance for both":     {"main.mjs", "import { createRequire } from 'node:module'\nimport * as eventa from '@moeru/eventa'" + greets + "export default greeter(eventa, String(createRequire(import.meta.url)('@moeru/eventa').defineInvoke === eventa.defineInvoke))", "true", false},
		"the sdk's is the bridge's": {"main.mjs", "import { protocolCapabilityWait } from '@proj-airi/plugin-sdk/plugin/apis'\nimport * as eventa from '@moeru/eventa'" + greets + "export default greeter(eventa, protocolCapabilityWait.sendEvent.id)", "proj-airi:plugin-sdk:apis:protocol:capabilities:wait-send", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			if row.own {
				files = own(t)
			}
			files[row.file] = row.text
			w := startIn(t, plugin(t, files), row.file)
			w.run(protocol.StepLoad)
			w.step(protocol.Run{Step: protocol.StepInit})
			w.wantOffer("greet")
			require.NoError(t, next[protocol.Ran](w).Err)
			w.wantCall("greet", `{"name":"A"}`, `{"text":"hello A","from":"`+row.from+`"}`)
		})
	}
}

func TestImports_leaveOthersAlone(t *testing.T) {
	w := start(t, "import '@proj-airi/plugin-sdk/plugin-host'")
	require.ErrorContains(t, w.tryRun(protocol.StepLoad), "Cannot find package '@proj-airi/plugin-sdk'")
	w = startIn(t, plugin(t, map[string]string{"main.cjs": "require('gone')"}), "main.cjs")
	require.ErrorContains(t, w.tryRun(protocol.StepLoad), "Cannot find module 'gone'")
}
