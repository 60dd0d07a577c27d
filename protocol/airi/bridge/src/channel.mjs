// The Eventa context that a plugin gets as channels.host. What the plugin emits
// goes to the host, what the host sends is emitted here, and neither comes back.
import { setMaxListeners } from 'node:events'
import { createContext } from './eventa.mjs'
import { describe, isError, revive } from './failures.mjs'
import { sendFailure, stepOf, tagOf } from './invoke.mjs'
import { HOST_ID, RESERVED } from './names.mjs'

// createChannel returns the context, and deliver() for what comes from the host.
// send() gets what goes there; onHandler(tag, isDefined) and
// onListenerError(id, error) tell about the plugin.
export function createChannel({ send, onHandler, onListenerError }) {
  const context = createContext()
  const local = { emit: context.emit, on: context.on, off: context.off }
  // Later releases of Eventa, which a plugin may bring, ask a context how long it
  // lives (this one: as long as the process) and for a promise when they emit.
  context.signal = new AbortController().signal
  setMaxListeners(0, context.signal)
  const emitted = Promise.resolve()
  // The plugin's calls that went to the host and have no answer yet.
  const asked = new Set()
  // The tags that were reported to have handlers.
  const handled = new Set()
  // Whether the plugin listens by expressions, which may match anything.
  let matches = false

  function handles(tag) {
    return context.listeners.get(`${tag}-send`)?.size > 0
  }

  function watch({ id, type }) {
    const tag = type === 'event' ? tagOf(id) : ''
    if (tag === '' || handles(tag) === handled.has(tag)) {
      return
    }
    handles(tag) ? handled.add(tag) : handled.delete(tag)
    onHandler(tag, handled.has(tag))
  }

  // leaves decides what the host gets to see: not the calls that the plugin
  // makes of itself, nor their answers.
  function leaves(step) {
    switch (step?.kind) {
      case 'send': return !handles(step.tag)
      case 'more':
      case 'abort': return asked.has(step.invokeId)
      case 'answer':
      case 'failure': return step.invokeId.startsWith(HOST_ID)
      default: return true
    }
  }

  function forward(event, payload) {
    const step = stepOf(event.id, payload)
    if (!leaves(step)) {
      return
    }
    try {
      send(event.id, toJson(payload), event.invokeType)
    }
    catch (error) {
      if (step !== undefined) {
        throw new TypeError(`${event.id} cannot go to the host: ${error.message}`)
      }
      // Nobody waits for an event, and the plugin's own listeners can take it.
      console.error(`airi-host: the event ${event.id} stays in the plugin: ${error.message}`)
      return
    }
    if (step?.kind === 'send') {
      asked.add(step.invokeId)
    }
    else if (step?.kind === 'abort') {
      asked.delete(step.invokeId)
    }
  }

  // An event that came from outside and is emitted again has been here.
  context.emit = (event, payload, options) => {
    if (String(event.id).startsWith(RESERVED)) {
      throw new Error(`event ids that start with ${RESERVED} are reserved, got ${event.id}`)
    }
    if (event._flowDirection !== 'inbound') {
      forward(event, payload)
    }
    local.emit(event, payload, options)
    return emitted
  }

  context.on = (event, listener) => {
    const stop = local.on(event, listener)
    matches ||= event.type !== 'event'
    watch(event)
    return () => {
      const stopped = stop()
      watch(event)
      return stopped
    }
  }

  context.off = (event, listener) => {
    local.off(event, listener)
    watch(event)
  }

  // deliver emits what came from the host inside the plugin.
  function deliver(id, body, invokeType) {
    const step = stepOf(id, body)
    if (step?.kind === 'send' && !isHeard(id)) {
      // Eventa would stay silent.
      const error = { name: 'NoHandlerError', message: `the plugin has no handler for ${step.tag}` }
      sendFailure(send, step.tag, body.invokeId, error)
      return
    }
    if (step?.kind === 'answer' || step?.kind === 'failure') {
      asked.delete(step.invokeId)
    }
    if (step?.kind === 'failure') {
      reviveError(body.content)
    }
    const event = { id, type: 'event', _flowDirection: 'inbound' }
    if (invokeType !== undefined) {
      event.invokeType = invokeType // its mere presence tells steps of an invoke from events
    }
    try {
      local.emit(event, body)
    }
    catch (error) {
      onListenerError(id, error)
    }
  }

  function isHeard(id) {
    return matches || context.listeners.get(id)?.size > 0 || context.onceListeners.get(id)?.size > 0
  }

  return { context, deliver }
}

// reviveError gives the plugin an Error where the host sent one.
function reviveError(content) {
  if (typeof content === 'object' && content !== null) {
    content.error = revive(content.error)
  }
}

// toJson replaces the Errors that Eventa puts into a step of an invoke, which
// JSON would turn into {}.
function toJson(body) {
  const content = body?.content
  if (isError(content)) {
    return { ...body, content: describe(content) }
  }
  if (isError(content?.error)) {
    return { ...body, content: { ...content, error: describe(content.error) } }
  }
  return body
}
