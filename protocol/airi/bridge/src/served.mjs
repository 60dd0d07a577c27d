// The host's calls of the plugin's handlers.
import { revive } from './failures.mjs'
import { createInput } from './input.mjs'
import { RESULT } from './invoke.mjs'
import { inCall } from './within.mjs'

// createServed keeps the host's calls that are in flight. emit(id, body, invokeType)
// emits inside the plugin, listens(id) tells whether something there hears an event,
// refuse(step) answers a call that nothing does.
export function createServed({ emit, listens, refuse }) {
  // By invokeId: {isByHand, input}.
  const calls = new Map()

  // begin takes the first frame of a call; what it returns is undefined where there is
  // nobody to take it.
  function begin(step, input) {
    if (!listens(`${step.tag}-send`)) {
      refuse(step)
      return undefined
    }
    // Eventa's own handlers listen to this, too. One that does not is written by hand,
    // and does not number its answers.
    const call = { isByHand: !listens(`${step.tag}-send-stream-end`, true), input }
    calls.set(step.invokeId, call)
    return call
  }

  // streamOf is the request stream that a frame is a part of. Eventa's handlers get it
  // whole: in releases before beta.14 they begin anew by a part that comes late, know
  // no stream that fails, and end the process by an item that they do not read.
  // The first part says that it opens the call: another one that belongs to none in
  // flight comes late, and must not begin it again.
  function streamOf(step, opens) {
    if (calls.has(step.invokeId) || opens === undefined) {
      return calls.get(step.invokeId)?.input
    }
    const input = createInput()
    if (begin(step, input) === undefined) {
      return undefined
    }
    inCall(step.invokeId, () => emit(`${step.tag}-send`, { invokeId: step.invokeId, get content() { return input.open() } }, 0))
    return input
  }

  // deliver takes a step of the host's: opens tells that it is the first of a call, bytes
  // is the length of its frame.
  function deliver(step, id, body, { invokeType, opens, bytes }) {
    switch (step.kind) {
      case 'send':
        if (body.isReqStream) {
          streamOf(step, opens)?.push(body.content, bytes)
        }
        else if (begin(step) !== undefined) {
          inCall(step.invokeId, () => emit(id, body, invokeType))
        }
        break
      case 'send-end': streamOf(step, opens)?.end(); break
      case 'send-error': streamOf(step, opens)?.fail(revive(body.content)); break
      case 'abort': abort(step, id, body, invokeType)
    }
  }

  // abort reaches calls in flight only: releases before beta.14 begin one by it.
  function abort(step, id, body, invokeType) {
    const call = calls.get(step.invokeId)
    if (call === undefined) {
      return
    }
    calls.delete(step.invokeId)
    emit(id, body, invokeType)
    call.input?.fail(new DOMException(String(body.content ?? 'Aborted'), 'AbortError'))
  }

  // answered takes an answer to the host and returns its number.
  function answered(step, invokeType) {
    const call = calls.get(step.invokeId)
    const number = step.kind === 'answer' && call?.isByHand ? RESULT : invokeType
    if (step.kind !== 'answer' || number === RESULT) {
      calls.delete(step.invokeId)
    }
    return number
  }

  return { deliver, answered }
}
