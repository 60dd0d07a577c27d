// Handlers of every form of Eventa's, and what they have seen.
import { setTimeout as sleep } from 'node:timers/promises'
import { defineInvokeEventa, defineInvokeHandler, defineStreamInvokeHandler } from '@moeru/eventa'

export function setupModules({ channels: { host } }) {
  const handle = (key, handler) => defineInvokeHandler(host, defineInvokeEventa(`model:NODE-${key}`), handler)
  const stream = (key, handler) => defineStreamInvokeHandler(host, defineInvokeEventa(`model:NODE-${key}`), handler)

  const seen = []
  let awaited = () => {}
  function note(what) {
    seen.push(what)
    awaited()
  }
  const aborted = signal => new Promise(resolve => signal.addEventListener('abort', resolve))

  handle('SEEN', async ({ n }) => {
    while (seen.length < n) {
      await new Promise(resolve => awaited = resolve)
    }
    return seen.splice(0)
  })
  handle('DOUBLE', ({ n }) => n * 2)
  stream('COUNT', async function* ({ n, ms }) {
    for (let i = 1; i <= n; i++) {
      if (ms) await sleep(ms)
      yield i
    }
  })
  handle('SUM', async (numbers) => {
    let sum = 0
    for await (const n of numbers) sum += n
    return sum
  })
  stream('TOTALS', async function* (numbers) {
    let sum = 0
    for await (const n of numbers) yield sum += n
  })
  handle('FAIL', () => fail())
  stream('FAIL-STREAM', async function* () {
    yield 1
    fail()
  })
  handle('HANG', async (_, { abortController: { signal } }) => {
    signal.addEventListener('abort', () => note(`aborted: ${signal.reason?.message ?? signal.reason}`))
    note('hangs')
    await aborted(signal)
    return 'too late'
  })
  stream('HANG-STREAM', async function* (_, { abortController: { signal } }) {
    signal.addEventListener('abort', () => note('stream aborted'))
    yield 1
    await aborted(signal)
  })
  handle('HANG-FED', async (numbers) => {
    try {
      for await (const n of numbers) note(`read ${n}`)
      note('read all')
    }
    catch (error) {
      note(`cut: ${error.name}`)
    }
  })
}

function fail() {
  throw Object.assign(new RangeError('it broke'), { code: 'E_BROKE', data: { depth: 3 } })
}
