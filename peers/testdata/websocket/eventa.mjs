// A peer with Eventa's own websocket adapter: its socket is standard input and output, one
// message a line. It handles calls, and makes those that the event "do" asks for.
import { createInterface } from 'node:readline'
import { defineEventa, defineInvoke, defineInvokeEventa, defineInvokeHandler, defineStreamInvoke, defineStreamInvokeHandler } from '@moeru/eventa'
import { createContext } from '@moeru/eventa/adapters/websocket/native'

const socket = { url: 'ws://host', send: text => process.stdout.write(`${text}\n`) }
const { context } = createContext(socket)

defineInvokeHandler(context, defineInvokeEventa('greet'), ({ name }) => ({ hello: name }))
defineInvokeHandler(context, defineInvokeEventa('fail'), () => {
  throw { message: 'plain', code: 7 }
})
defineStreamInvokeHandler(context, defineInvokeEventa('count'), async function* ({ to }) {
  for (let n = 1; n <= to; n++)
    yield n
})
defineInvokeHandler(context, defineInvokeEventa('sum'), async (numbers) => {
  let sum = 0
  for await (const n of numbers)
    sum += n
  return sum
})

function numbers() {
  return new ReadableStream({
    start(c) {
      for (const n of [1, 2, 3])
        c.enqueue(n)
      c.close()
    },
  })
}

const calls = {
  value: key => defineInvoke(context, defineInvokeEventa(key))({ n: 1 }),
  feed: key => defineInvoke(context, defineInvokeEventa(key))(numbers()),
  async stream(key) {
    const items = []
    for await (const item of defineStreamInvoke(context, defineInvokeEventa(key))({ n: 1 }))
      items.push(item)
    return items
  },
}

const done = defineEventa('done')
context.on(defineEventa('do'), async ({ body: { how, key } }) => {
  try {
    context.emit(done, { value: await calls[how](key) })
  }
  catch (error) {
    context.emit(done, { error })
  }
})

createInterface({ input: process.stdin }).on('line', data => socket.onmessage({ data }))
