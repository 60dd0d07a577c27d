package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// slowly is a plugin whose init waits for a file, and whose worker keeps in another one what
// the host calls of it before that.
func slowly(begin, ends string) string {
	return `process.stdin.on('data', (data) => {
		if (!globalThis.ready && String(data).includes('"worker-rpc"')) appendFileSync('` + begin + `.early', String(data))
	})
	await bootstrap({
		name: 'slowly', models: { M: async () => 'called' },
		init: async () => {
			while (!existsSync('` + begin + `')) await new Promise(done => setTimeout(done, 10))
			` + ends + `
			globalThis.ready = true
		},
	})`
}

func slowlyDir(t *testing.T, begin, ends string) string {
	t.Helper()
	return elizaWorker(t, "slowly", `{}`, "import { bootstrap } from './bootstrap.mjs'\nimport { appendFileSync, existsSync } from 'node:fs'\n"+slowly(begin, ends))
}

// states are all states that the offer of a key has had.
func states(events *actors.Subscription, key string) (all []lifecycle.State, reason string) {
	for {
		select {
		case e := <-events.C:
			if c := e.(actors.CapabilityChanged); string(c.Key) == key {
				all, reason = append(all, c.To), c.Reason
			}
		default:
			return all, reason
		}
	}
}

// What is announced is not ready: who calls it waits, and the worker hears nothing of it.
func TestElizaWorker_announcedIsNotReady(t *testing.T) {
	for _, runtime := range elizaRuntimes {
		t.Run(runtime, func(t *testing.T) {
			onlyIn(t, runtime)
			begin := filepath.Join(t.TempDir(), "begin")
			h := elizas(t, ecosystems.Options{}, slowlyDir(t, begin, ""))
			started := make(chan error, 1)
			go func() { started <- h.StartAll(context.Background(), h.Found.Manifests, nil, nil)[0].Err }()
			eventually(t, func() bool { return stateOf(h, "model:M") == lifecycle.CapAnnounced }, "no announcement")

			_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:M", Deadline: time.Now().Add(200 * time.Millisecond)})
			require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
			require.ErrorContains(t, err, "not ready: configured")

			waits := make(chan string, 1)
			go func() {
				result, err := h.Invoke(context.Background(), protocol.Call{Key: "model:M", Deadline: time.Now().Add(10 * time.Second)})
				waits <- fmt.Sprint(string(result), err)
			}()
			require.NoError(t, os.WriteFile(begin, nil, 0o600))
			require.Equal(t, `"called"<nil>`, <-waits)
			require.NoError(t, <-started)
			require.NoFileExists(t, begin+".early")
		})
	}
}

// stateOf is that of an offer; "" where there is none.
func stateOf(h *ecosystems.Host, key string) lifecycle.State {
	for _, o := range h.Offers() {
		if string(o.Key) == key {
			return o.State
		}
	}
	return ""
}

// A worker whose init fails never was ready: what it announced is withdrawn, in init's words.
func TestElizaWorker_isNeverReadyWhereInitFails(t *testing.T) {
	for _, runtime := range elizaRuntimes {
		t.Run(runtime, func(t *testing.T) {
			onlyIn(t, runtime)
			begin := filepath.Join(t.TempDir(), "begin")
			h := elizas(t, ecosystems.Options{}, slowlyDir(t, begin, `throw new Error('no key for the sky')`))
			changes := h.Subscribe(actors.KindCapability, 0)
			defer changes.Close()
			started := make(chan error, 1)
			go func() { started <- h.StartAll(context.Background(), h.Found.Manifests, nil, nil)[0].Err }()
			eventually(t, func() bool { return stateOf(h, "model:M") == lifecycle.CapAnnounced }, "no announcement")
			waits := make(chan error, 1)
			go func() {
				_, err := h.Invoke(context.Background(), protocol.Call{Key: "model:M", Deadline: time.Now().Add(patience)})
				waits <- err
			}()
			require.NoError(t, os.WriteFile(begin, nil, 0o600))
			require.ErrorContains(t, <-started, "no key for the sky")
			require.ErrorContains(t, <-waits, "no key for the sky")
			all, reason := states(changes, "model:M")
			require.Equal(t, []lifecycle.State{lifecycle.CapAnnounced, lifecycle.CapWithdrawn}, all)
			require.Contains(t, reason, "no key for the sky")
			require.NoFileExists(t, begin+".early")
		})
	}
}

// At the moment at which a plugin is told to be ready a call succeeds.
func TestElizaWorker_isCalledOnceItIsReady(t *testing.T) {
	for _, runtime := range elizaRuntimes {
		t.Run(runtime, func(t *testing.T) {
			onlyIn(t, runtime)
			begin := filepath.Join(t.TempDir(), "begin")
			require.NoError(t, os.WriteFile(begin, nil, 0o600))
			h := elizas(t, ecosystems.Options{}, slowlyDir(t, begin, ""))
			phases := h.Subscribe(actors.KindPhase, 0)
			defer phases.Close()
			called := make(chan error, 10)
			go func() {
				for e := range phases.C {
					if e.(actors.PhaseChanged).To == lifecycle.Ready {
						_, err := h.Invoke(context.Background(), protocol.Call{Key: "model:M", Deadline: time.Now().Add(time.Second)})
						called <- err
					}
				}
			}()
			for range 10 {
				info, err := h.Start(t.Context(), h.Found.Manifests[0], actors.StartOptions{})
				require.NoError(t, err)
				require.NoError(t, <-called)
				_, err = h.Stop(t.Context(), info.ID)
				require.NoError(t, err)
			}
		})
	}
}

// obeying is a plugin whose handlers append to a file, and then wait.
func obeying(file string) string {
	return `await bootstrap({
		name: 'obeying',
		models: {
			WAIT: async () => { ran('w'); await new Promise(done => { globalThis.end = done }); return 'late' },
			HANG: () => new Promise(() => {}),
			END: async () => { globalThis.end(); return 'newer' },
			DIE: async () => { ran('d'); process.exit(3) },
			STREAM: async function* (_runtime, _params, { signal }) { yield 1; await new Promise(done => signal.addEventListener('abort', done)) },
			ENDS: async () => ends,
			ASK: async (runtime, options) => runtime.invoke('model:WAIT', {}, options).catch(error => [error.code, error.message]),
			ECHO: async (runtime, options) => runtime.invoke('model:QUICK', {}, options).catch(error => [error.code, error.message]),
			QUICK: async () => 'quick',
		},
		actions: [{ name: 'PROGRESS', handler: async (_r, _m, _s, { every, times }, callback) => {
			for (let i = 0; i < times; i++) {
				await new Promise(done => setTimeout(done, every))
				await callback({ i })
			}
			await new Promise(() => {})
		} }],
	})
	function ran(what) { appendFileSync('` + file + `', what) }`
}

func obeyingDir(t *testing.T, file string) string {
	t.Helper()
	return elizaWorker(t, "obeying", `{}`, `import { bootstrap } from './bootstrap.mjs'
		import { appendFileSync } from 'node:fs'
		const ends = []
		process.stdin.on('data', data => ends.push(...String(data).split('\n').filter(line => line.includes('"stream-end"'))))
		`+obeying(file))
}

// wantDropped waits until so many of a kind were dropped.
func wantDropped(t *testing.T, events *actors.Subscription, what string, n uint64) {
	t.Helper()
	eventually(t, func() bool {
		select {
		case e := <-events.C:
			d := e.(actors.Dropped)
			return d.What == what && d.Count == n
		default:
			return false
		}
	}, "less that was dropped: "+what)
}

// Calls end by their limits, and what a handler was asked once it does once.
func TestElizaWorker_deadlines(t *testing.T) {
	for _, runtime := range elizaRuntimes {
		t.Run(runtime, func(t *testing.T) {
			onlyIn(t, runtime)
			file := filepath.Join(t.TempDir(), "ran")
			o := ecosystems.Options{Host: actors.Options{Restart: actors.RestartPolicy{First: time.Millisecond, Jitter: -1}}}
			h := startElizas(t, o, obeyingDir(t, file))
			dropped := h.Subscribe(actors.KindDropped, 0)
			defer dropped.Close()
			wantRan := func(want string) {
				t.Helper()
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				require.Equal(t, want, string(text))
			}

			// The caller is free at the deadline; the late answer is for nobody.
			took := patience
			for range 3 { // the machine may be busy with something else once
				began := time.Now()
				_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:HANG", Deadline: began.Add(100 * time.Millisecond)})
				require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
				require.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond)
				took = min(took, time.Since(began))
			}
			require.Less(t, took, 150*time.Millisecond)
			_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:WAIT", Deadline: time.Now().Add(100 * time.Millisecond)})
			require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
			require.ErrorContains(t, err, "the call's own deadline")
			newer, err := h.Invoke(t.Context(), protocol.Call{Key: "model:END"})
			require.NoError(t, err)
			require.Equal(t, `"newer"`, string(newer))
			wantDropped(t, dropped, "late-answer", 1)
			wantRan("w")

			// A stream is cancelled once.
			_, err = h.Invoke(t.Context(), protocol.Call{
				Key: "model:STREAM", Deadline: time.Now().Add(100 * time.Millisecond), Progress: func(json.RawMessage) error { return nil },
			})
			require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
			ends, err := h.Invoke(t.Context(), protocol.Call{Key: "model:ENDS"})
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(string(ends), "AbortError"), string(ends))

			// No answer and negative limits stand for the default, and others count.
			for _, limit := range []string{`0`, `-1`, `"x"`, `null`} {
				got, err := h.Invoke(t.Context(), protocol.Call{Key: "model:ECHO", Input: json.RawMessage(`{"timeoutMs":` + limit + `}`)})
				require.NoError(t, err)
				require.Equal(t, `"quick"`, string(got), limit)
			}
			got, err := h.Invoke(t.Context(), protocol.Call{Key: "model:ASK", Input: json.RawMessage(`{"timeoutMs":50}`)})
			require.NoError(t, err)
			require.Contains(t, string(got), `["timeout",`)
			require.Contains(t, string(got), `the call's own deadline`)
			wantRan("ww")

			// Who dies is not asked again.
			_, err = h.Invoke(t.Context(), protocol.Call{Key: "model:DIE"})
			require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
			_, err = h.Invoke(t.Context(), protocol.Call{Key: "model:QUICK", Wait: true, Deadline: time.Now().Add(patience)})
			require.NoError(t, err)
			wantRan("wwd")
		})
	}
}

// What an action says keeps its call alive, until the deadline of the whole.
func TestElizaWorker_idleLimits(t *testing.T) {
	for _, runtime := range elizaRuntimes {
		t.Run(runtime, func(t *testing.T) {
			onlyIn(t, runtime)
			h := startElizas(t, ecosystems.Options{}, obeyingDir(t, filepath.Join(t.TempDir(), "ran")))
			const idle = 600 * time.Millisecond
			action := func(every, times int, total time.Duration) (said int, took time.Duration, err error) {
				began := time.Now()
				_, err = h.Invoke(t.Context(), protocol.Call{
					Key: "action:PROGRESS", Input: json.RawMessage(`{"options":{"every":` + strconv.Itoa(every) + `,"times":` + strconv.Itoa(times) + `}}`),
					Idle: idle, Deadline: began.Add(total), Progress: func(json.RawMessage) error { said++; return nil },
				})
				return said, time.Since(began), err
			}
			said, took, err := action(300, 14, 6*idle)
			require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
			require.ErrorContains(t, err, "the call's own deadline")
			require.Greater(t, took, 5*idle)
			require.Greater(t, said, 5)

			said, took, err = action(10, 1, 20*idle)
			require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
			require.ErrorContains(t, err, "the call's own idle limit")
			require.Equal(t, 1, said)
			require.Less(t, took, 10*idle)
		})
	}
}
