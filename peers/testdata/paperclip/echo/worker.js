import { definePlugin, runWorker } from '@paperclipai/plugin-sdk'

const key = { scopeKind: 'instance', stateKey: 'bench' }

// fan asks the host for a state `calls` times, `flight` of them at once, and tells
// how long each took.
async function fan(ctx, { calls = 1, flight = 1 }) {
  const took = []
  let left = calls
  const began = process.hrtime.bigint()
  await Promise.all(Array.from({ length: Math.min(flight, calls) }, async () => {
    while (left-- > 0) {
      const asked = process.hrtime.bigint()
      await ctx.state.get(key)
      took.push(Number(process.hrtime.bigint() - asked) / 1e3)
    }
  }))
  const elapsed = Number(process.hrtime.bigint() - began) / 1e3
  took.sort((a, b) => a - b)
  return { calls: took.length, elapsedMicros: elapsed, p50Micros: took[took.length >> 1] ?? 0 }
}

const plugin = definePlugin({
  async setup(ctx) {
    ctx.data.register('echo', async (params) => params)
    ctx.actions.register('fan', (params) => fan(ctx, params))
  },
})

export default plugin
runWorker(plugin, import.meta.url)
