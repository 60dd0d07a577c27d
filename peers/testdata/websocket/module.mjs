// A module with Eventa's own adapter on its websocket, which reads AIRI's frames as well,
// and says of each that it is none. It makes the calls that standard input asks for, a line
// each; what came of them, and what its handlers saw, stands on standard output.
import { createInterface } from 'node:readline'
import { defineInvoke, defineInvokeEventa, defineInvokeHandler, defineStreamInvoke, defineStreamInvokeHandler } from '@moeru/eventa'
import { createContext } from '@moeru/eventa/adapters/websocket/native'

console.error = () => {} // the adapter's words about AIRI's frames
const [url, name, possibleEvents] = process.argv.slice(2)
const socket = new WebSocket(url)
const { context } = createContext(socket)
const tell = what => console.log(JSON.stringify(what))

const handle = (key, run) => defineInvokeHandler(context, defineInvokeEventa(key), run)
handle('greet', ({ name }) => ({ hello: name }))
handle('quiet', () => {})
handle('fail', () => { throw { message: 'plain', code: 7, data: { tray: 3 } } })
handle('throw', () => { throw new RangeError('burnt') })
handle('hang', (_, { abortController }) => new Promise((resolve) => {
  tell({ saw: 'hang' })
  abortController.signal.addEventListener('abort', () => { tell({ saw: 'aborted' }); resolve('late') })
}))
handle('sum', async (numbers) => {
  let sum = 0
  for await (const n of numbers)
    sum += n
  return sum
})
defineStreamInvokeHandler(context, defineInvokeEventa('count'), async function* ({ to }) {
  for (let n = 1; n <= to; n++)
    yield n
})
defineStreamInvokeHandler(context, defineInvokeEventa('echo'), async function* (items) {
  for await (const item of items)
    yield item
})

function streamOf(items) {
  return new ReadableStream({
    start(c) {
      for (const item of items)
        c.enqueue(item)
      c.close()
    },
  })
}

async function all(items) {
  const found = []
  for await (const item of items)
    found.push(item)
  return found
}

const held = new AbortController()
const calls = {
  value: (tag, input) => defineInvoke(context, tag)(input),
  stream: (tag, input) => all(defineStreamInvoke(context, tag)(input)),
  feed: (tag, items) => defineInvoke(context, tag)(streamOf(items)),
  both: (tag, items) => all(defineStreamInvoke(context, tag)(streamOf(items))),
  hold: (tag, input) => defineInvoke(context, tag)(input, { signal: held.signal }),
  close: async () => { socket.close(); return null },
  announce: async (_, events) => announce(events),
  send: async (_, event) => socket.send(JSON.stringify(event)),
}

const plain = error => error instanceof Error ? { name: error.name, message: error.message, code: error.code, data: error.data } : error

function announce(events) {
  socket.send(JSON.stringify({
    type: 'module:announce',
    data: { name, identity: { kind: 'plugin', plugin: { id: name }, id: '1' }, possibleEvents: events },
  }))
}

socket.addEventListener('open', () => possibleEvents ? announce(JSON.parse(possibleEvents)) : tell('open'))
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { how, key, input } = JSON.parse(line)
  if (how === 'giveUp')
    return held.abort()
  try {
    tell({ result: await calls[how](defineInvokeEventa(key), input) ?? null })
  }
  catch (error) {
    tell({ failed: plain(error) })
  }
})
