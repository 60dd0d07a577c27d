import { definePlugin, runWorker } from '@paperclipai/plugin-sdk'

const stored = (company, stateKey) => ({ scopeKind: 'company', scopeId: company, stateKey })
const saying = (attempt) => attempt.then((value) => ({ value }), ({ message, code }) => ({ message, code }))
const pause = (ms) => new Promise((done) => setTimeout(done, ms))

// visit works for the company of its call: it keeps something, lets the others have
// their turn, and tells what it finds then and what it is told of another company.
async function visit(ctx, { n, other }, { companyId }) {
  await ctx.state.set(stored(companyId, `visit-${n}`), `${companyId}/${n}`)
  await pause(n % 5)
  return {
    company: companyId,
    found: await ctx.state.get(stored(companyId, `visit-${n}`)),
    config: await ctx.config.get(),
    spied: await saying(ctx.state.get(stored(other, `visit-${n}`))),
  }
}

const plugin = definePlugin({
  async setup(ctx) {
    const heard = []
    const note = (by) => async ({ eventId, eventType, companyId, payload, actorType, actorId }) => {
      heard.push({ by, eventId, eventType, companyId, payload, actorType, actorId })
    }
    ctx.events.on('season.spring', note('exact'))
    ctx.events.on('season.*', note('pattern'))
    ctx.events.on('order.placed', { companyId: 'globex' }, note('filter'))
    ctx.events.on('plugin.kitchen.*', note('kitchen'))

    // Errands are run by a timer that no call has started.
    const errands = []
    setInterval(() => {
      for (const { company, done } of errands.splice(0)) done(saying(ctx.state.get(stored(company, 'errand'))))
    }, 5)
    let later

    ctx.data.register('heard', async () => heard)
    ctx.data.register('echo', async (params) => ({ waiter: params }))
    ctx.data.register('errand', ({ company }) => new Promise((done) => errands.push({ company, done })))
    // linger answers at once, and goes on for its company when told that it has.
    ctx.actions.register('linger', async (_, { companyId }) => {
      let go
      later = { go: () => go(), done: new Promise((begin) => { go = begin }).then(() => saying(ctx.state.get(stored(companyId, 'x')))) }
    })
    ctx.data.register('lingered', async () => {
      later.go()
      return later.done
    })
    ctx.actions.register('visit', (params, context) => visit(ctx, params, context))
    ctx.data.register('remember', async ({ value }) => {
      const at = { scopeKind: 'instance', stateKey: 'memory' }
      if (value !== undefined) await ctx.state.set(at, value)
      return { remembers: await ctx.state.get(at), pid: process.pid }
    })
    ctx.actions.register('issues', (params) => ctx.issues.list(params))
    ctx.actions.register('unserved', async (params) => [
      await saying(ctx.projects.list(params)), await saying(ctx.activity.log({ ...params, message: 'x' })),
      await saying(ctx.metrics.write('x', 1)), await saying(ctx.state.get(stored('another', 'x'))), await saying(ctx.config.get('another')),
    ])
    ctx.actions.register('fetch', async ({ url, init }) => {
      const response = await ctx.http.fetch(url, init)
      return { status: response.status, body: await response.text() }
    })
    ctx.tools.register('serve', ctx.manifest.tools[0], async ({ dish, ms = 0 }) => {
      if (ms) await pause(ms)
      return { content: dish }
    })
    ctx.data.register('slow', async ({ ms }) => { await pause(ms); return { slept: ms } })
  },
})

export default plugin
runWorker(plugin, import.meta.url)
