import { definePlugin, runWorker } from '@paperclipai/plugin-sdk'

const key = { scopeKind: 'instance', stateKey: 'bench' }

// fan asks `calls` times, `flight` of them at once, and tells how long each took.
async function fan({ calls = 1, flight = 1 }, ask) {
  const took = []
  let left = calls
  const began = process.hrtime.bigint()
  await Promise.all(Array.from({ length: Math.min(flight, calls) }, async () => {
    while (left-- > 0) {
      const asked = process.hrtime.bigint()
      await ask()
      took.push(Number(process.hrtime.bigint() - asked) / 1e3)
    }
  }))
  const elapsed = Number(process.hrtime.bigint() - began) / 1e3
  took.sort((a, b) => a - b)
  return { calls: took.length, elapsedMicros: elapsed, p50Micros: took[took.length >> 1] ?? 0 }
}

// cross calls another plugin's model, which gives back what it gets.
function cross(http, { size = 0 }) {
  const body = JSON.stringify({ text: 'x'.repeat(size) })
  return async () => {
    const answer = await http.fetch('http://airi-host.invalid/invoke/model:ECHO', { method: 'POST', body })
    const back = await answer.text()
    if (back !== body) throw new Error(`expected ${size} characters back, got ${answer.status} ${back.slice(0, 200)}`)
  }
}

const plugin = definePlugin({
  async setup(ctx) {
    ctx.data.register('echo', async (params) => params)
    ctx.actions.register('fan', (params) => fan(params, () => ctx.state.get(key)))
    ctx.actions.register('cross', (params) => fan(params, cross(ctx.http, params)))
  },
})

export default plugin
runWorker(plugin, import.meta.url)
