// The worker's end of elizaOS's remote plugins, on standard input and output: what
// bootstrap of @elizaos/plugin-worker-runtime does, and what this host has besides: invoke, a
// method more of the runtime, and models whose answers come in parts. It runs in Node.js and
// in Bun.

import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const send = message => process.stdout.write(`${JSON.stringify(message)}\n`)

/** A failure as the wire has it. */
export function toWireError(error) {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error) }
  const wire = { name: error.name, message: error.message }
  if (error.stack)
    wire.stack = error.stack
  if (error.code !== undefined)
    wire.code = String(error.code)
  if (error.cause !== undefined)
    wire.cause = toWireCause(error.cause)
  return wire
}

function toWireCause(cause) {
  if (cause instanceof Error)
    return { name: cause.name, message: cause.message, ...(cause.stack && { stack: cause.stack }) }
  try {
    return JSON.parse(JSON.stringify(cause))
  }
  catch {
    return String(cause)
  }
}

/** The failure that the other end reported, with its stack behind a line that says so. */
function fromWireError(wire) {
  const error = new Error(wire?.message ?? 'the host reported a failure without a reason')
  error.name = wire?.name ?? 'Error'
  if (wire?.code !== undefined)
    error.code = wire.code
  if (wire?.cause !== undefined)
    error.cause = wire.cause
  error.stack = `${wire?.stack ?? `${error.name}: ${error.message}`}\n    at <remote worker boundary>\n${error.stack}`
  return error
}

/** Which of the host's calls is served, by its requestId. */
const serving = new AsyncLocalStorage()

/** The calls that the plugin makes of the host. */
class RuntimeProxy {
  #last = 0
  #waiting = new Map()
  #streams = new Map()

  /** With onChunk the answer may come in parts: it is given each, and may throw to have no more. */
  call(method, args, { onChunk } = {}) {
    this.#last = (this.#last + 1) >>> 0
    const requestId = this.#last
    return new Promise((resolve, reject) => {
      this.#waiting.set(requestId, { resolve, reject, onChunk })
      // "within" is this host's own: for the sake of which of its calls this one is made.
      send({
        type: 'host-rpc', requestId, api: 'runtime', method, args, within: serving.getStore() ?? null,
        ...(onChunk && { streamReply: true }),
      })
    })
  }

  answered({ requestId, ok, payload, error, streamId }) {
    const waiting = this.#waiting.get(requestId)
    this.#waiting.delete(requestId)
    if (ok && streamId !== undefined && payload === undefined && waiting?.onChunk)
      this.#streams.set(streamId, waiting)
    else if (ok)
      waiting?.resolve(payload ?? null)
    else
      waiting?.reject(fromWireError(error))
  }

  chunk({ streamId, chunk }) {
    const waiting = this.#streams.get(streamId)
    try {
      waiting?.onChunk(chunk)
    }
    catch (error) {
      this.#streams.delete(streamId)
      send({ type: 'stream-end', streamId, error: toWireError(error) })
      waiting.reject(error)
    }
  }

  /** Takes the end of a stream, and tells whether it was one. */
  ended({ streamId, value, error }) {
    const waiting = this.#streams.get(streamId)
    this.#streams.delete(streamId)
    if (error)
      waiting?.reject(fromWireError(error))
    else
      waiting?.resolve(value ?? null)
    return waiting !== undefined
  }
}

function runtimeOf(proxy) {
  return {
    getService: serviceType => proxy.call('getService', { serviceType }),
    useModel: (modelType, params, options) => proxy.call('useModel', { modelType, params }, options),
    getMemory: memoryId => proxy.call('getMemory', { memoryId }),
    createMemory: (memory, tableName) => proxy.call('createMemory', { memory, tableName: tableName ?? null }),
    updateMemory: async (memory) => { await proxy.call('updateMemory', { memory }) },
    emitEvent: async (name, payload) => { await proxy.call('emitEvent', { name, payload }) },
    getSetting: key => proxy.call('getSetting', { key }),
    setSetting: async (key, value) => { await proxy.call('setSetting', { key, value }) },
    composeState: (message, options) => proxy.call('composeState', { message, options: options ?? null }),
    actionCallback: (callbackId, response, actionName) => proxy.call('actionCallback', { callbackId, response, actionName: actionName ?? null }),
    // This host's own: any capability of any plugin, by its key.
    invoke: (key, input, { onChunk, ...options } = {}) => proxy.call('invoke', { ...options, key, input }, { onChunk }),
  }
}

const services = new WeakMap()

/** The running service of a class: it is started by the first call. A start that fails may be tried again. */
function serviceOf(type, runtime) {
  if (!services.has(type)) {
    const starting = Promise.resolve(type.start(runtime))
    services.set(type, starting)
    starting.catch(() => services.delete(type))
  }
  return services.get(type)
}

/** What a plugin has, with an id for each function in the place of it. */
function describe(plugin, registry) {
  let n = 0
  const ref = (surface, target, run) => {
    const id = `${surface}:${target}:${++n}`
    registry.set(id, { surface, run })
    return { rpc: true, id }
  }
  const turn = run => (runtime, args) => run(runtime, args.message, args.state)
  const out = { name: plugin.name, mode: 'remote' }
  if (plugin.description)
    out.description = plugin.description
  if (plugin.priority !== undefined)
    out.priority = plugin.priority
  if (plugin.actions?.length) {
    out.actions = plugin.actions.map((action) => {
      const run = fn => (runtime, args) => fn(runtime, args.message, args.state, args.options, callbackOf(args.callbackId), args.responses)
      const { name, similes, description, examples } = action
      const described = { name, handler: ref('action', name, run(action.handler)), similes, description, examples }
      return action.validate ? { ...described, validate: ref('action', `${name}.validate`, run(action.validate)) } : described
    })
  }
  if (plugin.providers?.length) {
    out.providers = plugin.providers.map(({ name, get, description, dynamic, position, private: hidden }) =>
      ({ name, get: ref('provider', name, turn(get)), description, dynamic, position, private: hidden }))
  }
  if (plugin.models) {
    out.models = Object.fromEntries(Object.entries(plugin.models).map(([type, run]) =>
      [type, ref('model', type, (runtime, args, context) => run(runtime, args.params, context))]))
  }
  if (plugin.events) {
    out.events = Object.fromEntries(Object.entries(plugin.events).map(([name, handlers]) =>
      [name, handlers.map((run, i) => ref('event', `${name}#${i}`, async (_runtime, payload) => { await run(payload) }))]))
  }
  if (plugin.services?.length) {
    out.services = plugin.services.map((type) => {
      const described = { serviceType: type.serviceType, rpcMethods: [...type.rpcMethods] }
      if (type.capabilityDescription)
        described.capabilityDescription = type.capabilityDescription
      for (const method of type.rpcMethods) {
        described[`rpc:${method}`] = ref('service', `${type.serviceType}.${method}`, async (runtime, { args }) => {
          const service = await serviceOf(type, runtime)
          if (typeof service[method] !== 'function')
            throw new Error(`${type.serviceType}.${method} is not a function`)
          return service[method](...args)
        })
      }
      return described
    })
  }
  if (plugin.evaluators?.length) {
    out.evaluators = plugin.evaluators.map(({ name, handler, description, validate }) => {
      const described = { name, handler: ref('evaluator', name, turn(handler)), description }
      return validate ? { ...described, validate: ref('evaluator', `${name}.validate`, turn(validate)) } : described
    })
  }
  if (plugin.routes?.length) {
    out.routes = plugin.routes.map(({ path, type, name, public: open, publicReason, isMultipart, routeHandler }) => ({
      path, type, name, public: open, publicReason, isMultipart,
      ...(routeHandler && { routeHandler: ref('route', `${type ?? 'GET'} ${path}`, (_runtime, args) => routeHandler(args.ctx)) }),
    }))
  }
  return out
}

function callbackOf(callbackId) {
  return async (payload) => {
    if (callbackId)
      send({ type: 'worker-action-callback', callbackId, payload: payload ?? null })
  }
}

/** What init has added to a plugin, as a plugin; undefined where that is nothing. */
function additions(plugin, before) {
  const added = { name: plugin.name }
  for (const surface of ['actions', 'providers', 'services', 'routes', 'evaluators']) {
    const fresh = (plugin[surface] ?? []).filter(one => !before[surface].has(one))
    if (fresh.length)
      added[surface] = fresh
  }
  const models = Object.entries(plugin.models ?? {}).filter(([type]) => !before.models.has(type))
  if (models.length)
    added.models = Object.fromEntries(models)
  const events = Object.entries(plugin.events ?? {})
    .map(([name, handlers]) => [name, handlers.filter(one => !before.events.has(one))])
    .filter(([, handlers]) => handlers.length)
  if (events.length)
    added.events = Object.fromEntries(events)
  return Object.keys(added).length > 1 ? added : undefined
}

function snapshot(plugin) {
  const now = {}
  for (const surface of ['actions', 'providers', 'services', 'routes', 'evaluators'])
    now[surface] = new Set(plugin[surface])
  now.models = new Set(Object.keys(plugin.models ?? {}))
  now.events = new Set(Object.values(plugin.events ?? {}).flat())
  return now
}

/** JSON with the members of objects in order, which is what is signed. */
function canonical(value) {
  if (Array.isArray(value))
    return `[${value.map(canonical).join(',')}]`
  if (value && typeof value === 'object')
    return `{${Object.keys(value).sort().map(key => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError('a number that JSON cannot write')
  return JSON.stringify(value)
}

/** Refuses calls that the host has not signed, and those that came before: the host numbers its calls upwards. */
class Guard {
  #key
  #newest = 0

  /** The key is as the host leaves it, in hexadecimal digits. */
  constructor(key) {
    if (!/^[0-9a-f]{64}$/i.test(key))
      throw new Error('the key of calls is not one: expected 64 hexadecimal digits')
    this.#key = Buffer.from(key, 'hex')
  }

  /** Why a call is refused, or undefined. */
  refusal(message) {
    if (!this.#isSigned(message))
      return 'Worker RPC message MAC missing or invalid'
    if (!Number.isSafeInteger(message.requestId) || message.requestId <= this.#newest)
      return 'Worker RPC message came before, or is too old'
    this.#newest = message.requestId
  }

  #isSigned({ requestId, surface, target, args, mac }) {
    if (typeof mac !== 'string' || !/^[0-9a-f]{64}$/i.test(mac))
      return false
    try {
      const text = `${requestId}\n${surface}\n${target}\n${canonical(args ?? null)}`
      return timingSafeEqual(createHmac('sha256', this.#key).update(text).digest(), Buffer.from(mac, 'hex'))
    }
    catch { // it nests too deeply, or holds what is no number
      return false
    }
  }
}

/** The answers that are sent in parts, by the ids of their streams: what ends each. */
const streams = new Map()

/**
 * Takes what a model that is a generator says: to who asked for it part by part, and to others
 * as a whole. That is what the generator returns or, if it returns nothing, what it yielded.
 */
async function stream({ requestId, streamReply }, parts, ending) {
  const streamId = `stream:${requestId}`
  const said = []
  if (streamReply) {
    streams.set(streamId, () => {
      ending.abort()
      parts.return?.().catch(() => {})
    })
    send({ type: 'worker-rpc-result', requestId, ok: true, streamId })
  }
  const end = (outcome) => {
    if (!streamReply)
      send({ type: 'worker-rpc-result', requestId, ok: !outcome.error, ...(outcome.error ? outcome : { payload: outcome.value }) })
    else if (streams.delete(streamId)) // else nobody takes it
      send({ type: 'stream-end', streamId, ...outcome })
  }
  try {
    for (;;) {
      const { value, done } = await parts.next()
      if (done) {
        const whole = said.every(one => typeof one === 'string') ? said.join('') : said
        end({ value: value === undefined ? whole : value })
        return
      }
      said.push(value)
      if (streams.has(streamId))
        send({ type: 'stream-chunk', streamId, chunk: value ?? null })
    }
  }
  catch (error) {
    end({ error: toWireError(error) })
  }
}

/** Nobody takes a stream any more. */
function leave(streamId) {
  const end = streams.get(streamId)
  streams.delete(streamId)
  end?.()
}

async function dispatch(registry, runtime, guard, message) {
  const { requestId, surface, target, args } = message
  const refusal = guard?.refusal(message)
  if (refusal) {
    send({ type: 'worker-rpc-result', requestId, ok: false, error: { name: 'RpcAuthError', message: refusal, code: 'RPC_AUTH_FAILED' } })
    return
  }
  try {
    const handler = registry.get(target)
    if (!handler)
      throw Object.assign(new Error(`Unknown target: ${target}`), { name: 'UnknownTargetError', code: 'UNKNOWN_TARGET' })
    if (handler.surface !== surface)
      throw Object.assign(new Error(`Target ${target} is of surface ${handler.surface}, not ${surface}`), { name: 'SurfaceMismatchError', code: 'SURFACE_MISMATCH' })
    const ending = new AbortController()
    await serving.run(requestId, async () => {
      const payload = await handler.run(runtime, args ?? null, { signal: ending.signal })
      if (surface === 'model' && payload?.[Symbol.asyncIterator])
        await stream(message, payload[Symbol.asyncIterator](), ending)
      else
        send({ type: 'worker-rpc-result', requestId, ok: true, payload: payload ?? null })
    })
  }
  catch (error) {
    send({ type: 'worker-rpc-result', requestId, ok: false, error: toWireError(error) })
  }
}

/** The key that the host has left for this process; undefined where it signs nothing. */
function keyOfHost() {
  const file = join(process.env.ELIZA_REMOTE_PLUGIN_STATE_DIR ?? '', 'rpc.key')
  return process.env.ELIZA_REMOTE_PLUGIN_STATE_DIR && existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/**
 * Announces a plugin, lets it begin, and serves it until standard input ends. Where the host
 * signs its calls, only those are taken that are signed with its key, and each of them once.
 */
export async function bootstrap(plugin, { initConfig = {}, rpcKey = keyOfHost() } = {}) {
  const registry = new Map()
  const guard = rpcKey === undefined ? undefined : new Guard(rpcKey)
  const proxy = new RuntimeProxy()
  const runtime = runtimeOf(proxy)
  createInterface({ input: process.stdin }).on('line', (line) => {
    let message
    try {
      message = JSON.parse(line)
    }
    catch {
      return
    }
    if (message?.type === 'worker-rpc')
      dispatch(registry, runtime, guard, message)
    else if (message?.type === 'host-rpc-result')
      proxy.answered(message)
    else if (message?.type === 'stream-chunk')
      proxy.chunk(message)
    else if (message?.type === 'stream-end' && !proxy.ended(message))
      leave(message.streamId)
  })
  send({ type: 'worker-announce-plugin', descriptor: describe(plugin, registry) })
  const before = snapshot(plugin)
  try {
    await plugin.init?.(initConfig, runtime)
  }
  catch (error) {
    send({ type: 'event', name: 'plugin.init.failed', payload: { error: toWireError(error) } })
    throw error
  }
  const added = additions(plugin, before)
  if (added)
    send({ type: 'worker-announce-dynamic', descriptor: describe(added, registry) })
  send({ type: 'init-complete' })
}
