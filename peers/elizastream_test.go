package peers

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/protocol"
)

// streaming is a worker whose models answer in parts, and one that asks for such an answer.
const streaming = `{
	name: 'streaming',
	models: {
		WORDS: async function* () { yield 'a'; yield 'b' },
		NUMBERS: async function* () { yield 1; yield { n: 2 } },
		WHOLE: async function* () { yield 'part'; return { all: true } },
		BREAKS: async function* () { yield 1; throw Object.assign(new Error('out of words'), { code: 'E_WORDS' }) },
		DIES: async function* () { yield 1; await new Promise(done => setTimeout(done, 50)); process.exit(3) },
		WAITS: async function* (_runtime, _params, { signal }) {
			globalThis.left = 'not yet'
			yield 'begun'
			await new Promise(done => signal.addEventListener('abort', done))
			globalThis.left = 'left'
		},
		LEFT: async () => globalThis.left,
		FLOOD: async function* (_runtime, _params, { signal }) {
			globalThis.left = 0
			while (!signal.aborted) { globalThis.left++; yield 'x'.repeat(1000); if (globalThis.left % 100 === 0) await new Promise(done => setImmediate(done)) }
		},
		ASK: async function* (runtime, { model, leave }) {
			const parts = []
			const whole = await runtime.useModel(model, {}, { onChunk: (part) => {
				parts.push(part)
				if (leave) throw new Error('enough')
			} }).catch(error => [error.message, error.code])
			return { parts, whole }
		},
		RELAY: async function* (runtime, { key }) {
			const parts = []
			const whole = await runtime.invoke(key, {}, { onChunk: part => parts.push(part) })
			return { parts, whole }
		},
	},
}`

// Models answer in parts, to the host and, through it, to another worker.
func TestElizaWorker_streams(t *testing.T) {
	for _, runtime := range elizaRuntimes {
		t.Run(runtime, func(t *testing.T) {
			onlyIn(t, runtime)
			h := startElizas(t, ecosystems.Options{}, elizaWorker(t, "streaming", `{}`, bootstrapped(streaming)))
			for _, c := range []struct {
				key, input string
				items      []string
				result     string
			}{
				{"model:WORDS", ``, []string{`"a"`, `"b"`}, `"ab"`},
				{"model:NUMBERS", ``, []string{`1`, `{"n":2}`}, `[1,{"n":2}]`},
				{"model:WHOLE", ``, []string{`"part"`}, `{"all":true}`},
				{"model:LEFT", ``, nil, ``}, // a model that answers plainly
				{"model:ASK", `{"model":"WORDS"}`, nil, `{"parts":["a","b"],"whole":"ab"}`},
				{"model:ASK", `{"model":"LEFT"}`, nil, `{"parts":[],"whole":null}`},
				{"model:ASK", `{"model":"BREAKS"}`, nil, `{"parts":[1],"whole":["out of words","E_WORDS"]}`},
				{"model:ASK", `{"model":"WAITS","leave":true}`, nil, `{"parts":["begun"],"whole":["enough",null]}`},
				{"model:RELAY", `{"key":"model:WORDS"}`, nil, `{"parts":["a","b"],"whole":"ab"}`},
			} {
				items, result, err := says(t, h, c.key, c.input)
				require.NoError(t, err, c.key)
				require.Equal(t, c.items, items, c.key)
				if c.result == "" {
					c.result = `null`
				}
				require.JSONEq(t, c.result, result, c.key)
			}
			wantLeft(t, h, `"left"`) // by who asked, and the host has told it to the model
			whole, err := h.Invoke(t.Context(), protocol.Call{Key: "model:WORDS"})
			require.NoError(t, err)
			require.Equal(t, `"ab"`, string(whole), "to who does not follow")
			_, err = h.Invoke(t.Context(), protocol.Call{Key: "model:BREAKS"})
			require.ErrorContains(t, err, "out of words")

			items, _, err := says(t, h, "model:BREAKS", ``)
			require.Equal(t, []string{`1`}, items)
			require.ErrorContains(t, err, "out of words")
		})
	}
}

// wantLeft waits until the worker tells that its stream was left.
func wantLeft(t *testing.T, h *ecosystems.Host, want string) {
	t.Helper()
	eventually(t, func() bool {
		left, err := h.Invoke(t.Context(), protocol.Call{Key: "model:LEFT"})
		require.NoError(t, err)
		return string(left) == want
	}, "a stream that goes on")
}

// A stream ends with its call, and a worker that streams is told.
func TestElizaWorker_streamsThatEndEarly(t *testing.T) {
	for _, runtime := range elizaRuntimes {
		t.Run(runtime, func(t *testing.T) {
			onlyIn(t, runtime)
			o := ecosystems.Options{Host: actors.Options{Restart: actors.RestartPolicy{First: time.Millisecond}}}
			h := startElizas(t, o, elizaWorker(t, "streaming", `{}`, bootstrapped(streaming)))

			ctx, cancel := context.WithCancel(t.Context())
			_, err := h.Invoke(ctx, protocol.Call{Key: "model:WAITS", Progress: func(json.RawMessage) error { cancel(); return nil }})
			require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(err), err)
			wantLeft(t, h, `"left"`)

			_, err = h.Invoke(t.Context(), protocol.Call{
				Key: "model:WAITS", Deadline: time.Now().Add(200 * time.Millisecond), Progress: func(json.RawMessage) error { return nil },
			})
			require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
			wantLeft(t, h, `"left"`)

			// One that is read too slowly is ended at its bound.
			dropped := h.Subscribe(actors.KindDropped, 0)
			defer dropped.Close()
			tooSlow := sync.OnceFunc(func() { <-dropped.C })
			_, err = h.Invoke(t.Context(), protocol.Call{Key: "model:FLOOD", Deadline: time.Now().Add(patience), Progress: func(json.RawMessage) error {
				tooSlow()
				return nil
			}})
			require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err), err)
			require.ErrorContains(t, err, "model:FLOOD of plugin streaming sends faster than its caller takes")
			before, err := h.Invoke(t.Context(), protocol.Call{Key: "model:LEFT"})
			require.NoError(t, err)
			eventually(t, func() bool {
				now, err := h.Invoke(t.Context(), protocol.Call{Key: "model:LEFT"})
				require.NoError(t, err)
				is := string(now) == string(before)
				before = now
				return is
			}, "a flood that goes on")

			items, _, err := says(t, h, "model:DIES", ``)
			require.Equal(t, []string{`1`}, items)
			require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
		})
	}
}
