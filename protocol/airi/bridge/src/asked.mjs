// The plugin's calls of what others handle: the host, and other plugins.
import { EVENT } from './names.mjs'

// isForAll tells whether a call is an event, which the plugin's own handlers hear from the
// host as all others do.
export const isForAll = ({ tag }) => tag.startsWith(EVENT)

// createAsked keeps those that are in flight. hears(id) tells whether something in the
// plugin listens to exactly this event, handles(tag) whether it has a handler itself.
export function createAsked({ hears, handles }) {
  // By tag, then by invokeId: whether the caller takes a stream.
  const calls = new Map()
  // A caller whose signal is aborted already says so first, and some then call anyway.
  let preAborted

  const isInFlight = step => calls.get(step.tag)?.has(step.invokeId) === true
  const follows = step => hears(`${step.tag}-receive-stream-end-${step.invokeId}`)

  // decide returns whether a step of a caller leaves the plugin, and, if it is the
  // first of its call, what that opens. A part of a stream that nobody waits for an
  // answer to is late.
  function decide(step, isPart) {
    if (step.kind === 'abort') {
      preAborted = step.invokeId
      return { leaves: isInFlight(step) }
    }
    if (isInFlight(step)) {
      return { leaves: true }
    }
    if (handles(step.tag) && !isForAll(step) || step.invokeId === preAborted || isPart && !hears(`${step.tag}-receive-${step.invokeId}`)) {
      return { leaves: false }
    }
    return { leaves: true, opens: follows(step) ? 'stream' : 'value' }
  }

  // sent is told of the steps that have left.
  function sent(step, opens) {
    if (opens !== undefined) {
      const ofTag = calls.get(step.tag)
      const isStream = opens === 'stream'
      ofTag === undefined ? calls.set(step.tag, new Map([[step.invokeId, isStream]])) : ofTag.set(step.invokeId, isStream)
    }
    else if (step.kind === 'abort') {
      forget(step)
    }
  }

  // answered ends a call. It returns whether the caller takes a stream.
  function answered(step) {
    const isStream = calls.get(step.tag)?.get(step.invokeId)
    forget(step)
    return isStream === true
  }

  function forget(step) {
    const ofTag = calls.get(step.tag)
    if (ofTag?.delete(step.invokeId) && ofTag.size === 0) {
      calls.delete(step.tag)
    }
  }

  return { decide, sent, answered }
}
