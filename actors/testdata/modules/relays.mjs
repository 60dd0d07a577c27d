// Calls of what others offer, in every form of Eventa's.
import { defineInvoke, defineInvokeEventa, defineInvokeHandler, defineStreamInvoke, defineStreamInvokeHandler } from '@moeru/eventa'

export function setupModules({ channels: { host } }) {
  const handle = (key, handler) => defineInvokeHandler(host, defineInvokeEventa(`model:RELAY-${key}`), handler)
  const stream = (key, handler) => defineStreamInvokeHandler(host, defineInvokeEventa(`model:RELAY-${key}`), handler)
  const ask = key => defineInvoke(host, defineInvokeEventa(key))
  const follow = key => defineStreamInvoke(host, defineInvokeEventa(key))
  const described = ({ name, message, code, data, ...rest }) => ({ name, message, code, data, ...rest })

  handle('ASK', ({ key, input }) => ask(key)(input))
  handle('CATCH', ({ key, input }) => ask(key)(input).catch(e => [e instanceof Error, described(e)]))
  handle('FEED', ({ key, items }) => ask(key)(ReadableStream.from(items)))
  stream('STREAM', async function* ({ key, input }) {
    for await (const item of follow(key)(input)) yield item
  })
  stream('BOTH', async function* ({ key, items }) {
    for await (const item of follow(key)(ReadableStream.from(items))) yield item
  })
  handle('CATCH-STREAM', async ({ key, input }) => {
    const got = []
    try {
      for await (const item of follow(key)(input)) got.push(item)
    }
    catch (e) {
      got.push([e instanceof Error, described(e)])
    }
    return got
  })

  // What is given up: told in which order things happen.
  let giveUp = () => {}
  handle('HANG', async ({ key, input }) => {
    const controller = new AbortController()
    giveUp = () => controller.abort(new Error('had enough'))
    return ask(key)(input, { signal: controller.signal }).catch(e => e.name)
  })
  handle('HANG-STREAM', async ({ key, input }) => {
    const reader = follow(key)(input).getReader()
    const { value } = await reader.read()
    await reader.cancel()
    return value
  })
  handle('HANG-FED', async ({ key }) => {
    const controller = new AbortController()
    const items = new ReadableStream({
      start(c) {
        c.enqueue(1)
        giveUp = () => controller.abort(new Error('had enough'))
      },
    })
    return ask(key)(items, { signal: controller.signal }).catch(e => e.name)
  })
  handle('GIVE-UP', () => {
    giveUp()
    return 'given up'
  })
}
