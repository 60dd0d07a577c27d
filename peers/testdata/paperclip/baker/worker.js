import { definePlugin, runWorker } from '@paperclipai/plugin-sdk'

const seen = []
const saw = (what) => { seen.push(what) }
const said = (text) => `paperclip: ${text}`
const bread = (company) => ({ scopeKind: 'company', scopeId: company, stateKey: 'bread' })

// invoke calls what another plugin offers.
async function invoke(ctx, { key, input, plugin, ms }) {
  const url = new URL(`http://airi-host.invalid/invoke/${encodeURIComponent(key)}`)
  if (plugin) url.searchParams.set('plugin', plugin)
  if (ms) url.searchParams.set('timeoutMs', ms)
  const response = await ctx.http.fetch(String(url), { method: 'POST', body: JSON.stringify(input ?? null) })
  const body = await response.text()
  return response.status === 200 ? { result: JSON.parse(body) } : { failed: JSON.parse(body).error }
}

const plugin = definePlugin({
  async setup(ctx) {
    const tool = (name, run) => ctx.tools.register(`paperclip-${name}`, ctx.manifest.tools.find((one) => one.name === `paperclip-${name}`), run)
    tool('say', async ({ text }) => ({ content: said(text) }))
    tool('seen', async () => ({ data: seen }))
    tool('fail', async () => { throw Object.assign(new RangeError('burnt'), { code: 7, data: { tray: 3 } }) })
    tool('hang', async () => new Promise((resolve) => setTimeout(resolve, 300, { content: 'late' })))
    tool('tell', async (_, { companyId }) => {
      await ctx.events.emit('news', companyId, { from: 'paperclip' })
      return {}
    })
    tool('relay', async (order) => ({ data: await invoke(ctx, order) }))
    // keep keeps something for the company of its call, and tells what there was.
    tool('keep', async ({ loaves }, { companyId }) => {
      const was = await ctx.state.get(bread(companyId))
      if (loaves !== undefined) await ctx.state.set(bread(companyId), loaves)
      return { data: { company: companyId, was } }
    })
    // round has another plugin call back: its relay, a tool or an action.
    tool('round', async ({ through, loaves }, { companyId }) => {
      const order = { key: 'tool:paperclip-keep', input: { loaves } }
      return { data: { company: companyId, ...(await invoke(ctx, { key: through, input: through.startsWith('action:') ? { params: order } : order })) } }
    })
    ctx.actions.register('paperclip-say', async ({ text }) => ({ success: true, text: said(text) }))
    ctx.data.register('paperclip-say', async ({ text }) => said(text))
    ctx.jobs.register('paperclip-say', async () => saw('job'))
    ctx.events.on('paperclip-say', async ({ payload }) => saw(`event ${payload.text}`))
    ctx.events.on('town.news', async ({ payload }) => saw(`news ${payload.from}`))
    ctx.events.on('plugin.paperclip.news', async ({ payload }) => saw(`news ${payload.from}`))
  },
  async onWebhook({ rawBody }) { saw(`webhook ${rawBody}`) },
  async onApiRequest({ query }) { return { status: 200, headers: {}, body: said(query.text) } },
  async onEnvironmentValidateConfig({ config }) { return { ok: true, normalizedConfig: config } },
  async onEnvironmentProbe() { return { ok: true, summary: 'paperclip' } },
  async onEnvironmentAcquireLease() { return { providerLeaseId: 'lease', metadata: {} } },
  async onEnvironmentReleaseLease() {},
  async onEnvironmentExecute() { return { exitCode: 0, timedOut: false, stdout: '', stderr: '' } },
})

export default plugin
runWorker(plugin, import.meta.url)
