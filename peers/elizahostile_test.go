package peers

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// lying is a worker that answers for others, twice, under ids of no call, announces again and
// again, and has words behind its end.
const lying = `import { createInterface } from 'node:readline'
import { writeSync } from 'node:fs'

const send = message => writeSync(1, JSON.stringify(message) + '\n')
const announce = (type, descriptor) => send({ type, descriptor: { name: 'lying', mode: 'remote', ...descriptor } })
const refusals = []
const model = id => ({ rpc: true, id })
createInterface({ input: process.stdin }).on('line', (line) => {
	const { type, requestId, args, error } = JSON.parse(line)
	if (type === 'host-rpc-result' && requestId?.asked)
		refusals.push(error)
	if (type !== 'worker-rpc')
		return
	if (args.params === 'refusals') {
		send({ type: 'worker-rpc-result', requestId, ok: true, payload: refusals })
		return
	}
	if (args.params === 'die') {
		process.on('exit', () => send({ type: 'worker-rpc-result', requestId: requestId - 1, ok: true, payload: 'behind the end' }))
		process.exit(7)
	}
	const answer = (id, payload) => send({ type: 'worker-rpc-result', requestId: id, ok: true, payload })
	answer(requestId + 1, 'of the next one')
	answer(requestId - 1, 'of the one before')
	answer({ id: requestId }, 'of an object')
	answer(undefined, 'of nobody')
	answer('x'.repeat(100_000), 'of a long id')
	for (const streamId of ['host-stream:1', 'stream:1', null, requestId]) {
		send({ type: 'stream-chunk', streamId, chunk: 1 })
		send({ type: 'stream-end', streamId, value: 1 })
	}
	send({ type: 'worker-action-callback', callbackId: 'action-callback:1', payload: 1 })
	send({ type: 'host-rpc-result', requestId, ok: true })
	send({ type: 'host-rpc', api: 'runtime', method: 'getSetting', args: {} })
	for (const method of ['explode', 'tool:greet', '', 7, undefined])
		send({ type: 'host-rpc', requestId: { asked: true }, api: 'runtime', method, args: {} })
	send({ type: 'init-complete' })
	send({ type: 'event', name: 'plugin.init.failed', payload: {} })
	announce('worker-announce-plugin', { models: { OTHER: model('o') } })
	for (let i = 0; i < 50; i++)
		announce('worker-announce-dynamic', { name: 'another', models: { OTHER: model('o') } })
	announce('worker-announce-dynamic', { models: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ['N' + i, model('n' + i)])) })
	for (let i = 0; i < 1000; i++)
		writeSync(1, 'no frame\n')
	answer(requestId, args.params)
	answer(requestId, 'again')
})
announce('worker-announce-plugin', { models: { ECHO: model('e') } })
send({ type: 'init-complete' })
`

// A worker that lies harms its own calls alone, and what is not taken of it is counted.
func TestElizaWorker_thatLies(t *testing.T) {
	for _, runtime := range elizaRuntimes {
		t.Run(runtime, func(t *testing.T) {
			onlyIn(t, runtime)
			h := startElizas(t, ecosystems.Options{Host: actors.Options{Restart: actors.RestartPolicy{First: 1, Jitter: -1}}},
				elizaWorker(t, "lying", `{}`, lying), elizaWorker(t, "honest", `{}`, bootstrapped(`{ name: 'honest', models: { HONEST: async () => 'yes' } }`)))
			dropped := h.Subscribe(actors.KindDropped, 0)
			defer dropped.Close()
			for i := range 20 {
				got, err := h.Invoke(t.Context(), protocol.Call{Key: "model:ECHO", Input: json.RawMessage(strconv.Itoa(i))})
				require.NoError(t, err)
				require.Equal(t, strconv.Itoa(i), string(got))
			}
			for _, o := range h.Offers() {
				if o.Owner.Plugin == "lying" {
					require.Equal(t, "model:ECHO", string(o.Key), "nothing else was taken")
				}
			}
			var refusals []struct{ Name, Message, Code string }
			got, err := h.Invoke(t.Context(), protocol.Call{Key: "model:ECHO", Input: json.RawMessage(`"refusals"`)})
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(got, &refusals))
			require.Len(t, refusals, 100)
			for _, no := range refusals {
				require.Equal(t, "UnsupportedMethodError", no.Name)
				require.Equal(t, "UNSUPPORTED_METHOD", no.Code)
			}
			got, err = h.Invoke(t.Context(), protocol.Call{Key: "model:HONEST"})
			require.NoError(t, err)
			require.Equal(t, `"yes"`, string(got))

			_, err = h.Invoke(t.Context(), protocol.Call{Key: "model:ECHO", Input: json.RawMessage(`"die"`)})
			require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
			got, err = h.Invoke(t.Context(), protocol.Call{Key: "model:ECHO", Input: json.RawMessage(`1`), Wait: true})
			require.NoError(t, err)
			require.Equal(t, `1`, string(got))

			counts := map[string]uint64{}
			for len(dropped.C) > 0 {
				if d := (<-dropped.C).(actors.Dropped); d.Plugin == "lying" {
					counts[d.What] = max(counts[d.What], d.Count)
				}
			}
			for _, what := range []string{
				eliza.DroppedUnknown, eliza.DroppedLate, eliza.DroppedCallback, eliza.DroppedOther, eliza.DroppedRequest, eliza.DroppedAnnounce, eliza.DroppedStray,
			} {
				require.NotZero(t, counts[what], what)
			}
			require.GreaterOrEqual(t, counts[eliza.DroppedStray], uint64(1000))
		})
	}
}
