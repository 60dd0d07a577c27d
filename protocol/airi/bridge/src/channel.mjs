// The Eventa context that a plugin gets as channels.host. What the plugin emits
// goes to the host, what the host sends is emitted here, and neither comes back.
import { setMaxListeners } from 'node:events'
import { createAsked, isForAll } from './asked.mjs'
import { createContext } from './eventa.mjs'
import { describe, describeAny, isError, revive } from './failures.mjs'
import { RESULT, sendFailure, stepOf, tagOf } from './invoke.mjs'
import { FUNCTION, HOST_ID, RESERVED } from './names.mjs'
import { createServed } from './served.mjs'
import { createValidation } from './validation.mjs'
import { currentCall } from './within.mjs'

// createChannel returns the context, and deliver() for what comes from the host.
// send() gets what goes there; onHandler(tag, isDefined) and
// onListenerError(id, error) tell about the plugin.
export function createChannel({ send, onHandler, onListenerError }) {
  const context = createContext()
  const local = { emit: context.emit, on: context.on, once: context.once, off: context.off }
  // Later releases of Eventa, which a plugin may bring, ask a context how long it
  // lives (this one: as long as the process) and for a promise when they emit.
  context.signal = new AbortController().signal
  setMaxListeners(0, context.signal)
  const emitted = Promise.resolve()
  // The tags that were reported to have handlers.
  const handled = new Set()
  // Whether the plugin listens by expressions, which may match anything.
  let matches = false

  const asked = createAsked({ hears: isNamed, handles })
  const validation = createValidation({ isNamed, emit: (id, body) => local.emit({ id, type: 'event', _flowDirection: 'inbound' }, body) })
  const served = createServed({
    emit: emitInbound,
    listens: (id, exactly) => isNamed(id) || matches && !exactly,
    refuse(step) {
      // Eventa would stay silent.
      const error = { name: 'NoHandlerError', message: `the plugin has no handler for ${step.tag}` }
      sendFailure(send, step.tag, step.invokeId, error)
    },
  })

  function isNamed(id) {
    return context.listeners.get(id)?.size > 0 || context.onceListeners.get(id)?.size > 0
  }

  function handles(tag) {
    return context.listeners.get(`${tag}-send`)?.size > 0
  }

  function watch({ id, type }) {
    const tag = type === 'event' ? tagOf(id) : ''
    // A function that was an argument of a call comes and goes with it.
    if (tag === '' || tag.startsWith(FUNCTION) || handles(tag) === handled.has(tag)) {
      return
    }
    handles(tag) ? handled.add(tag) : handled.delete(tag)
    onHandler(tag, handled.has(tag))
  }

  // forward sends to the host what the plugin emits, save for the calls that it makes
  // of itself and their answers. It returns whether that is all: an event that the plugin
  // calls comes to it from the host, if it has a handler.
  function forward(event, payload) {
    const step = stepOf(event.id, payload)
    switch (step?.kind) {
      case undefined: forwardEvent(event, payload); break
      case 'answer':
      case 'end':
      case 'failure':
        if (step.invokeId.startsWith(HOST_ID)) {
          forwardAnswer(step, event, payload)
        }
        break
      default:
        forwardCall(step, event, payload)
        return isForAll(step) && handles(step.tag)
    }
    return false
  }

  function forwardEvent(event, payload) {
    validation.emitted(event.id, payload)
    try {
      send(event.id, payload, event.invokeType)
    }
    catch (error) {
      // Nobody waits for an event, and the plugin's own listeners can take it.
      console.error(`airi-host: the event ${event.id} stays in the plugin: ${error.message}`)
    }
  }

  function forwardAnswer(step, event, payload) {
    sendStep(event, payload, step.kind === 'failure', served.answered(step, event.invokeType))
  }

  function forwardCall(step, event, payload) {
    const { leaves, opens } = asked.decide(step, step.kind !== 'send' || payload.isReqStream)
    if (leaves) {
      sendStep(event, payload, step.kind !== 'send', event.invokeType, opens, opens && currentCall())
      asked.sent(step, opens)
    }
  }

  // sendStep tells the emitter, who waits for an answer or owes one, what cannot go.
  // What tells of a failure goes all the same.
  function sendStep(event, payload, isFailure, invokeType, opens, within) {
    try {
      send(event.id, isFailure ? describeIn(payload, describeAny) : describeIn(payload, describe, isError), invokeType, opens, within)
    }
    catch (error) {
      throw new TypeError(`${event.id} cannot go to the host: ${error.message}`)
    }
  }

  // An event that came from outside and is emitted again has been here.
  context.emit = (event, payload, options) => {
    if (String(event.id).startsWith(RESERVED)) {
      throw new Error(`event ids that start with ${RESERVED} are reserved, got ${event.id}`)
    }
    if (event._flowDirection !== 'inbound' && forward(event, payload)) {
      return emitted
    }
    if (matches || isNamed(event.id)) {
      local.emit(event, payload, options)
    }
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

  context.once = (event, listener) => {
    matches ||= event.type !== 'event'
    return local.once(event, listener)
  }

  context.off = (event, listener) => {
    local.off(event, listener)
    watch(event)
  }

  // deliver emits what came from the host inside the plugin. about is what else is known
  // of it: {invokeType, opens, bytes}.
  function deliver(id, body, about) {
    const step = stepOf(id, body)
    const { invokeType } = about
    switch (step?.kind) {
      case undefined: emitInbound(id, body, invokeType); break
      case 'answer':
      case 'end':
      case 'failure': deliverAnswer(step, id, body, invokeType); break
      default: served.deliver(step, id, body, about)
    }
  }

  function deliverAnswer(step, id, body, invokeType) {
    if (step.kind === 'failure' && typeof body.content === 'object' && body.content !== null) {
      body.content.error = revive(body.content.error)
    }
    const isLast = step.kind !== 'answer' || invokeType === RESULT
    const takesStream = isLast && asked.answered(step)
    emitInbound(id, body, invokeType)
    if (takesStream && step.kind === 'answer') {
      // A plain result, for a caller that waits for the end of a stream.
      emitInbound(`${step.tag}-receive-stream-end-${step.invokeId}`, { invokeId: body.invokeId })
    }
  }

  function emitInbound(id, body, invokeType) {
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

  return { context, deliver, validation }
}

// describeIn replaces what Eventa puts into a step of an invoke and JSON would turn
// into {}: an Error as its content, or as the error of that.
function describeIn(body, replace, isMeant = () => true) {
  const { content } = body
  if (typeof content === 'object' && content !== null && Object.hasOwn(content, 'error') && !isError(content)) {
    return isMeant(content.error) ? { ...body, content: { ...content, error: replace(content.error) } } : body
  }
  return content !== undefined && isMeant(content) ? { ...body, content: replace(content) } : body
}
