// Runs workers under Paperclip's own worker manager, told by one JSON object a line:
//
//   node manager.mjs NODE_MODULES
//   → {"id":1,"op":"start","plugin":"echo","dir":"…","config":{},"env":{},…}
//   ← {"id":1,"result":{…}}  or  {"id":1,"error":{"message":"…","code":-32002}}
//   ← {"event":"crash","plugin":"echo",…}
//
// Operations: start, call, execute, notify, stop, status, calls, proactive; open, write, kill
// and close of a route, whose bytes are events in base64; and those of a measurement:
// workers, run, memory. It ends when its input does.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const modules = resolve(process.argv[2])
const load = (...parts) => import(pathToFileURL(join(modules, ...parts)))
const { createPluginWorkerManager } = await load('@paperclipai/server/dist/services/plugin-worker-manager.js')
const sdk = await load('@paperclipai/plugin-sdk/dist/index.js')
const { pluginManifestV1Schema } = await load('@paperclipai/shared/dist/index.js')
const { version } = JSON.parse(readFileSync(join(modules, '@paperclipai/server/package.json'), 'utf8'))

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

const manager = createPluginWorkerManager()
const hostCalls = [] // what workers asked, the newest last, bounded by maxHostCalls
const maxHostCalls = 10_000
let echoed = false // whether the manager's log is told as events
process.on('peers:log', (level, bindings, args) => {
  if (echoed) say({ event: 'log', level, plugin: bindings.pluginId, message: args.at(-1), fields: typeof args[0] === 'object' ? args[0] : {} })
})

// memory is a host's services on plain maps, behind the SDK's own gate.
function memory({ config, http, secret }) {
  const state = new Map()
  const at = (p) => JSON.stringify([p.scopeKind, p.scopeId ?? null, p.namespace ?? 'default', p.stateKey])
  const none = async () => {}
  const services = {
    config: { get: async () => config },
    state: {
      get: async (p) => state.get(at(p)) ?? null,
      set: async (p) => void state.set(at(p), p.value),
      delete: async (p) => void state.delete(at(p)),
    },
    events: { emit: none, subscribe: none },
    http: { fetch: async () => http },
    secrets: { resolve: async () => secret },
    activity: { log: none },
    metrics: { write: none },
    telemetry: { track: none },
    logger: { log: none },
    tracer: { record: none },
  }
  const missing = (group) => new Proxy({}, {
    get: (_, name) => async () => { throw new Error(`the test host has no ${group}.${String(name)}`) },
  })
  return new Proxy(services, { get: (all, group) => all[group] ?? missing(String(group)) })
}

// kept notes each call of a worker before it is handled.
function kept(plugin, handlers) {
  return Object.fromEntries(Object.entries(handlers).map(([method, handle]) => [method, async (params, context) => {
    hostCalls.push({ plugin, method, params, context })
    if (hostCalls.length > maxHostCalls) hostCalls.shift()
    return handle(params, context)
  }]))
}

function handlersFor(plugin, manifest, request) {
  const { config = {}, http = { status: 200, statusText: 'OK', headers: {}, body: 'fetched' }, secret = 'hush' } = request
  return kept(plugin, sdk.createHostClientHandlers({
    pluginId: plugin, capabilities: manifest.capabilities, services: memory({ config, http, secret }),
  }))
}

async function read(dir) {
  const { paperclipPlugin } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  const { default: manifest } = await import(pathToFileURL(join(dir, paperclipPlugin.manifest)))
  pluginManifestV1Schema.parse(manifest)
  return { manifest, entrypointPath: join(dir, manifest.entrypoints.worker) }
}

async function start(request) {
  const { manifest, entrypointPath } = await read(request.dir)
  const plugin = request.plugin ?? manifest.id
  const handle = await manager.startWorker(plugin, {
    entrypointPath,
    manifest,
    config: request.config ?? {},
    instanceInfo: { instanceId: request.instance ?? 'peers', hostVersion: request.hostVersion ?? version },
    apiVersion: 1,
    hostHandlers: request.handlers ?? handlersFor(plugin, manifest, request),
    autoRestart: request.autoRestart ?? false,
    env: request.env ?? {},
    rpcTimeoutMs: request.timeoutMs,
    proactiveCompanyScopes: request.proactive,
    onStreamNotification: (method, params) => say({ event: 'stream', plugin, method, params }),
  })
  if (request.quiet) return { plugin }
  for (const event of ['crash', 'exit', 'ready']) handle.on(event, (payload) => say({ event, plugin, ...payload }))
  return { plugin, supportedMethods: handle.supportedMethods }
}

function running(plugin) {
  const handle = manager.getWorker(plugin)
  if (!handle) throw new Error(`no worker of ${plugin} was started`)
  return handle
}

// Routes: the terminal that the release has, or a channel.

const routes = new Map() // by their numbers
let lastRoute = 0

async function open({ plugin, kind, input }) {
  const handle = running(plugin)
  const opens = kind === 'duplex' ? handle.openDuplexChannel : (handle.openLoginPtySession ?? handle.openSetupTokenPtySession)
  const session = await opens.call(handle, input)
  const route = ++lastRoute
  routes.set(route, session)
  session.onData((chunk) => say({ event: 'data', route, data: Buffer.from(chunk).toString('base64') }))
  session.wait().then((exit) => say({ event: 'ended', route, exit }))
  return { route }
}

// sent is what the release's own callers hand to a route: text, or the bytes of a channel.
const sent = ({ kind, data }) => kind === 'duplex' ? Buffer.from(data, 'base64') : Buffer.from(data, 'base64').toString()

// The measurements, in which the process that counts is this one: the host's.

let measured = []

// workers starts what is to be measured, with a bare handler for what it asks.
async function workers({ workers }) {
  const handlers = { 'state.get': async () => 'kept', 'events.subscribe': async () => null }
  for (const { dir } of workers) {
    const { plugin } = await start({ dir, handlers, quiet: true })
    measured.push(plugin)
  }
  return { pids: measured.map((plugin) => manager.getWorker(plugin).diagnostics().pid) }
}

async function echoes({ size, flight, calls }) {
  const params = { key: 'echo', params: { text: 'x'.repeat(size) } }
  const took = new Float64Array(calls)
  let next = 0
  const caller = async () => {
    while (next < calls) {
      const at = next++
      const asked = process.hrtime.bigint()
      const answer = await manager.call(measured[0], 'getData', params)
      took[at] = Number(process.hrtime.bigint() - asked) / 1e3
      if (answer?.text?.length !== size) throw new Error(`call ${at} was answered with ${JSON.stringify(answer).slice(0, 100)}`)
    }
  }
  await Promise.all(Array.from({ length: flight }, caller))
  return { calls, p50Micros: took.sort()[calls >> 1] }
}

const fan = ({ flight, calls }) => manager.call(measured[0], 'performAction', { key: 'fan', params: { calls, flight } }, 120_000)

const place = { driverKey: 'shed', companyId: 'acme', environmentId: 'e', providerLeaseId: 'l' }

// logs has a command write so many chunks.
async function logs({ size, calls }) {
  let units = 0
  const began = process.hrtime.bigint()
  const params = { ...place, config: {}, lease: { providerLeaseId: 'l' }, command: '@log', args: [String(calls), String(size)] }
  await manager.call(measured[0], 'environmentExecute', params, 120_000, (_, chunk) => { units += chunk.length })
  if (units !== size * calls) throw new Error(`the sink was given ${units} of ${size * calls} characters`)
  return { calls, p50Micros: Number(process.hrtime.bigint() - began) / 1e3 / calls }
}

// channels has so many chunks come back.
async function channels({ size, flight, calls }) {
  const channel = await running(measured[0]).openDuplexChannel({ ...place, command: ['@echo'] })
  const chunk = new Uint8Array(size).fill(120)
  const began = process.hrtime.bigint()
  await new Promise((resolve, reject) => {
    let sent = 0
    let back = 0
    const more = () => {
      for (; sent < calls && sent * size - back < flight * size; sent++) channel.write(chunk)
    }
    channel.onData((bytes) => {
      back += bytes.length
      if (back >= size * calls) resolve()
      else more()
    })
    channel.wait().then(() => reject(new Error(`the channel ended: ${back} of ${size * calls} bytes came back`)))
    more()
  })
  const p50Micros = Number(process.hrtime.bigint() - began) / 1e3 / calls
  await channel.close()
  return { calls, p50Micros }
}

const loads = { ask: fan, log: logs, duplex: channels }

async function run({ load }) {
  const began = process.hrtime.bigint()
  const used = process.cpuUsage()
  const { calls, p50Micros } = await (loads[load.kind] ?? echoes)(load)
  const { user, system } = process.cpuUsage(used)
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  return { calls, p50Micros, perSecond: calls / seconds, cpuMicros: (user + system) / calls }
}

const operations = {
  start,
  call: async ({ plugin, method, params = {}, timeoutMs }) => manager.call(plugin, method, params, timeoutMs),
  execute: async ({ plugin, params }) => {
    const log = []
    const result = await manager.call(plugin, 'environmentExecute', params, undefined, (stream, chunk) => { log.push({ stream, chunk }) })
    return { log, result }
  },
  open,
  write: async (request) => routes.get(request.route).write(sent(request)),
  kill: async ({ route }) => routes.get(route).kill(),
  close: async ({ route }) => routes.get(route).close(),
  notify: async ({ plugin, method, params = {} }) => running(plugin).notify(method, params),
  proactive: async ({ plugin, companies }) => manager.setProactiveCompanyScopes(plugin, companies),
  stop: async ({ plugin }) => manager.stopWorker(plugin),
  status: async ({ plugin }) => running(plugin).diagnostics(),
  calls: async ({ plugin }) => hostCalls.filter((call) => !plugin || call.plugin === plugin),
  log: async ({ on }) => { echoed = on },
  workers,
  run,
  memory: async () => ({ bytes: process.memoryUsage().rss }),
}

async function answer(line) {
  const { id, op, ...request } = JSON.parse(line)
  try {
    if (!Object.hasOwn(operations, op)) throw new Error(`unknown operation ${JSON.stringify(op)}`)
    say({ id, result: (await operations[op](request)) ?? null })
  } catch (err) {
    say({ id, error: { message: err?.message ?? String(err), code: err?.code ?? null } })
  }
}

const input = createInterface({ input: process.stdin })
input.on('line', answer)
input.on('close', async () => {
  await manager.stopAll()
  process.exit(0)
})
