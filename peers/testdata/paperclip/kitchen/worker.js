import { definePlugin, runWorker } from '@paperclipai/plugin-sdk'

// What the handlers were given, to be asked for as the data "seen".
const seen = { events: [], jobs: [], webhooks: [], configs: [] }
let host

// The services of the host, one action each.
const services = {
  config: (ctx, { companyId }) => ctx.config.get(companyId),
  'state.get': (ctx, { where }) => ctx.state.get(where),
  'state.set': (ctx, { where, value }) => ctx.state.set(where, value),
  'state.delete': (ctx, { where }) => ctx.state.delete(where),
  emit: (ctx, { name, companyId, payload }) => ctx.events.emit(name, companyId, payload),
  secret: (ctx, { ref, companyId }) => ctx.secrets.resolve(ref, { companyId }),
  metric: (ctx, { name, value, tags }) => ctx.metrics.write(name, value, tags),
  track: (ctx, { name, dimensions }) => ctx.telemetry.track(name, dimensions),
  span: (ctx, { name, attributes }) => {
    const span = ctx.tracer.startSpan(name, { attributes })
    span.setStatus({ code: 1 })
    span.end()
  },
  activity: (ctx, entry) => ctx.activity.log(entry),
  'entities.upsert': (ctx, { entity }) => ctx.entities.upsert(entity),
  'entities.list': (ctx, { query }) => ctx.entities.list(query),
  folder: (ctx, { method, companyId, key, more }) => ctx.localFolders[method](companyId, key, ...more),
  log: (ctx, { level, message, meta }) => ctx.logger[level](message, meta),
  async fetch(ctx, { url, init }) {
    const response = await ctx.http.fetch(url, init)
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
  },
}

const plugin = definePlugin({
  async setup(ctx) {
    host = ctx
    ctx.data.register('echo', async (params) => params)
    ctx.data.register('seen', async () => seen)
    ctx.data.register('manifest', async () => ({ id: ctx.manifest.id, version: ctx.manifest.version }))
    for (const [name, call] of Object.entries(services)) {
      ctx.actions.register(name, async (params) => call(ctx, params))
    }
    ctx.actions.register('who', async (params, context) => ({ params, ...context }))
    ctx.actions.register('fail', async ({ message, code }) => {
      throw Object.assign(new Error(message), code === undefined ? {} : { code })
    })
    const declared = Object.fromEntries(ctx.manifest.tools.map((tool) => [tool.name, tool]))
    ctx.tools.register('add', declared.add, async ({ a, b }, run) => ({ content: String(a + b), data: { sum: a + b, run } }))
    ctx.tools.register('refuse', declared.refuse, async () => ({ error: 'the kitchen is closed' }))
    ctx.jobs.register('sync', async (job) => { seen.jobs.push(job) })
    ctx.events.on('issue.created', async (event) => { seen.events.push(event) })
    ctx.events.on('plugin.kitchen.*', async (event) => { seen.events.push(event) })
    ctx.logger.info('the kitchen is open', { id: ctx.manifest.id })
  },
  async onHealth() {
    return { status: 'ok', message: 'warm', details: { jobs: seen.jobs.length } }
  },
  async onValidateConfig(config) {
    switch (config.mode) {
      case 'bad': return { ok: false, errors: ['mode is bad'] }
      case 'odd': return { ok: true, warnings: ['mode is odd'] }
      default: return { ok: true }
    }
  },
  async onConfigChanged(config) {
    seen.configs.push(config)
  },
  async onWebhook(input) {
    seen.webhooks.push(input)
  },
  async onApiRequest(request) {
    const { routeKey, method, path, params, query, body } = request
    return { status: method === 'POST' ? 201 : 200, headers: { 'x-kitchen': routeKey }, body: { path, params, query, body } }
  },
  async onEnvironmentValidateConfig({ config }) {
    return config.broken ? { ok: false, errors: ['the shed is broken'] } : { ok: true, normalizedConfig: config }
  },
  async onEnvironmentProbe() {
    return { ok: true, summary: 'dry' }
  },
  async onEnvironmentAcquireLease({ runId }) {
    return { providerLeaseId: `lease-of-${runId}`, metadata: {} }
  },
  async onEnvironmentReleaseLease() {},
  async onEnvironmentExecute({ command, args = [] }) {
    const line = [command, ...args].join(' ')
    host.execution.log('stdout', `${line}\n`)
    return { exitCode: 0, timedOut: false, stdout: `${line}\n`, stderr: '' }
  },
  async onShutdown() {
    host.logger.info('the kitchen is closed')
  },
})

export default plugin
runWorker(plugin, import.meta.url)
