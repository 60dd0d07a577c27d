package bridge_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestProcess_endsWhenStdinIsClosed(t *testing.T) {
	w := start(t, `
setInterval(() => {}, 1000)
process.on('exit', () => console.log('bye'))
export function init() {}`)
	w.ready()
	w.run(protocol.StepStop)
	require.NoError(t, w.stdin.Close())
	w.wantExit(0)
	require.Equal(t, "bye\n", w.stdout.String())
}

func TestProcess_endsWhenTheWireIsClosed(t *testing.T) {
	w := start(t, `setInterval(() => {}, 1000); export function init() {}`)
	w.ready()
	require.NoError(t, w.in.Close())
	w.wantExit(0)
}

func TestProcess_takesConsoleOutputForALog(t *testing.T) {
	w := start(t, `
console.log('{"type":"module:fake","payload":{"body":1}}')
for (let i = 0; i < 20000; i++) console.log('line ' + i)
console.error('oops')
export function init({ channels }) {
  channels.host.emit({ id: 'through', type: 'event' })
  for (let i = 0; i < 20000; i++) console.log("more " + i)
  process.exit(3)
}`)
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	w.wantEvent("through", "")
	w.wantExit(3)
	require.Equal(t, 40_001, strings.Count(w.stdout.String(), "\n"), "none is lost by the exit")
	require.Equal(t, "oops\n", w.stderr.String())
}

func TestProcess_losesNothingThatWasEmitted(t *testing.T) {
	for name, end := range map[string]string{
		"a flood and an exit": "process.exit(3)",
		"an exit handler":     "process.on('exit', () => say(5000)); process.exit(3)",
		"an exit code":        "process.exitCode = 3; process.stdin.emit('end')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, `export function init({ channels }) {
  const say = n => channels.host.emit({ id: 'n', type: 'event' }, n)
  for (let i = 0; i < 5000; i++) say(i)
  `+end+`
}`)
			w.run(protocol.StepLoad)
			w.step(protocol.Run{Step: protocol.StepInit})
			for n := range 5000 {
				w.wantEvent("n", strconv.Itoa(n))
			}
			if name == "an exit handler" {
				w.wantEvent("n", "5000")
			}
			w.wantExit(3)
			require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(next[protocol.Ran](w).Err))
		})
	}
}

func TestProcess_saysWhatItCrashedOf(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"uncaught exception": {
			"export function init() {\n  setTimeout(() => { throw new TypeError('boom') })\n}",
			"plugin lab-plugin: uncaught exception at main.mjs:2:28: boom",
		},
		"unhandled rejection": {
			"export function init() {\n  Promise.reject(new Error('boom'))\n}",
			"plugin lab-plugin: unhandled rejection at main.mjs:2:18: boom",
		},
		"rejection of no Error": {
			"export function init() {\n  Promise.reject(7)\n}",
			`plugin lab-plugin: unhandled rejection: This error originated either by throwing inside of an async function without a catch block, or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason "7".`,
		},
		"thrown string": {
			"export function init() {\n  setTimeout(() => { throw 'text' })\n}",
			"plugin lab-plugin: uncaught exception: text",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, row.text)
			w.run(protocol.StepLoad)
			w.step(protocol.Run{Step: protocol.StepInit})
			require.EqualError(t, next[protocol.Fail](w).Err, row.want)
			w.wantExit(1)
		})
	}
}

func TestProcess_letsAModuleCatchItsOwn(t *testing.T) {
	w := start(t, `
process.on('uncaughtException', e => channel.emit({ id: 'caught', type: 'event' }, e.message))
let channel
export function init({ channels }) {
  channel = channels.host
  setTimeout(() => { throw new Error('boom') })
}`)
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	w.wantEvent("caught", `"boom"`)
	w.run(protocol.StepStop)
}

// A host's frame that is none must not end a module.
func TestProcess_survivesGarbageFromTheHost(t *testing.T) {
	w := start(t, "export function init() {}")
	_, err := w.in.WriteString("garbage\n\n{\"type\":5}\n{\"type\":\"x\"}\nnull\n[]\n{\"type\":\"airi-host:bridge:dance-send\",\"payload\":{}}\n")
	require.NoError(t, err)
	w.ready()
	require.NoError(t, w.stdin.Close())
	w.wantExit(0)
	require.Equal(t, 5, strings.Count(w.stderr.String(), "airi-host: what came from the host is no frame\n"))
}

func TestProcess_theModuleSeesItselfAsTheScript(t *testing.T) {
	w := start(t, `import { fileURLToPath } from 'node:url'
export function init({ channels }) {
  channels.host.emit({ id: 'argv', type: 'event' }, process.argv.length === 2 && process.argv[1] === fileURLToPath(import.meta.url))
}`)
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	w.wantEvent("argv", "true")
}

// A module that emits faster than the host reads is slowed down; what it emits
// does not pile up in it.
func TestProcess_aFloodIsSlowedDown(t *testing.T) {
	w := start(t, `export function init({ channels }) {
  let before = process.memoryUsage.rss()
  let most = before
  for (let i = 0; i < 2000; i++) {
    channels.host.emit({ id: 'flood', type: 'event' }, 'x'.repeat(100_000))
    most = Math.max(most, process.memoryUsage.rss())
  }
  channels.host.emit({ id: 'grown', type: 'event' }, Math.round((most - before) / 1024 / 1024))
}`)
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	for range 2000 {
		require.Equal(t, "flood", next[protocol.Emitted](w).Event.Name)
	}
	grown, err := next[protocol.Emitted](w).Event.JSON()
	require.NoError(t, err)
	mebibytes, err := strconv.Atoi(string(grown))
	require.NoError(t, err)
	require.Less(t, mebibytes, 120, "of 200 that were emitted")
}
