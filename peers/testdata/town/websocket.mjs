// The town's AIRI module on a websocket: airi.mjs, whose names are this one's there, on Eventa's own
// websocket adapter.
import { createContext } from '@moeru/eventa/adapters/websocket/native'
import { setupModules } from './airi.mjs'

console.error = () => {} // the adapter's words about AIRI's frames
const socket = new WebSocket(process.argv[2])
const { context } = createContext(socket)
const heard = {}

setupModules({
  channels: {
    host: context,
    hear: (event, run) => { heard[event] = run },
    failure: () => ({ name: 'RangeError', message: 'burnt', code: 7, data: { tray: 3 } }),
  },
})

// What its adapter does not send, names with a slash in them, it cannot offer.
const offers = [
  ...['tool', 'model', 'action', 'provider', 'evaluator', 'data', 'job', 'webhook'].map(kind => `${kind}:websocket-say`),
  ...['seen', 'fail', 'hang', 'tell', 'relay'].map(name => `tool:websocket-${name}`),
  'model:websocket-count', 'service:websocket.say', 'environment:websocket.probe', 'town:websocket',
]

socket.addEventListener('open', () => socket.send(JSON.stringify({
  type: 'module:announce',
  data: {
    name: 'websocket',
    identity: { kind: 'plugin', plugin: { id: 'websocket' }, id: 'town' },
    possibleEvents: [...offers, ...Object.keys(heard)],
  },
})))
socket.addEventListener('message', ({ data }) => {
  const { json } = JSON.parse(data)
  heard[json?.type]?.(json.data)
})
