// What a module should not do on its channel.
import { writeSync } from 'node:fs'
import { defineEventa, defineInvoke, defineInvokeEventa, defineInvokeHandler, defineStreamInvoke, defineStreamInvokeHandler } from '@moeru/eventa'

export function setupModules({ channels: { host } }) {
  const handle = (key, handler) => defineInvokeHandler(host, defineInvokeEventa(`model:${key}`), handler)
  const stream = (key, handler) => defineStreamInvokeHandler(host, defineInvokeEventa(`model:${key}`), handler)
  const ask = key => defineInvoke(host, defineInvokeEventa(`model:${key}`))
  const tally = (all, of) => all.reduce((sum, one) => ({ ...sum, [of(one)]: (sum[of(one)] ?? 0) + 1 }), {})

  handle('ECHO', x => x)
  handle('FLOOD', ({ n }) => {
    for (let i = 0; i < n; i++) host.emit(defineEventa('flood'), { i, text: 'x'.repeat(100) })
    return n
  })
  handle('HUGE', ({ bytes }) => {
    host.emit(defineEventa('huge'), 'x'.repeat(bytes))
    return 'said'
  })
  handle('FRAMES', ({ frames, times }) => {
    for (let i = 0; i < times; i++) {
      for (const frame of frames) writeSync(4, `${frame}\n`)
    }
    return 'written'
  })
  handle('THROW-IN-LISTENERS', () => {
    for (const id of ['model:ECHO-send', 'model:ECHO-send-abort', 'model:ENDLESS-send']) {
      host.on(defineEventa(id), () => { throw new Error('listener exploded') })
    }
    return 'listens'
  })
  stream('ENDLESS', async function* ({ text = 'x' }, { abortController: { signal } }) {
    while (!signal.aborted) {
      yield text
      await new Promise(setImmediate)
    }
  })
  handle('INVOKE-AT-ONCE', async ({ n }) => {
    const all = await Promise.allSettled(Array.from({ length: n }, () => ask('SLOW')(1)))
    return tally(all, one => one.status === 'fulfilled' ? 'answered' : one.reason.code)
  })
  handle('ABORT-AT-ONCE', async ({ n }) => {
    const controllers = Array.from({ length: n }, () => new AbortController())
    const all = controllers.map(({ signal }) => ask('SLOW')(1, { signal }).catch(e => e.name))
    await new Promise(setImmediate)
    for (const c of controllers) c.abort()
    return tally(await Promise.all(all), one => one)
  })
  handle('FEED-ENDLESS', async () => {
    let enough = false
    const numbers = new ReadableStream({
      async pull(c) {
        await new Promise(setImmediate)
        enough ? c.close() : c.enqueue('x'.repeat(1000))
      },
    })
    try {
      return await ask('STUCK')(numbers)
    }
    catch (e) {
      return e.code
    }
    finally {
      enough = true
    }
  })
  handle('FOLLOW-ENDLESS', async ({ n }) => {
    const reader = defineStreamInvoke(host, defineInvokeEventa('model:FAST'))(1).getReader()
    for (let i = 0; i < n; i++) await reader.read()
    await reader.cancel()
    return n
  })
  handle('OFFER', ({ n }) => {
    for (let i = 0; i < n; i++) handle(`NEW-${i}`, () => i)
    return n
  })
}
