// The plugin's calls of what others handle: the host, and other plugins.

// createAsked keeps those that are in flight. hears(id) tells whether something in the
// plugin listens to exactly this event, handles(tag) whether it has a handler itself.
export function createAsked({ hears, handles }) {
  // By tag and invokeId: whether the caller takes a stream.
  const calls = new Map()
  // A caller whose signal is aborted already says so first, and some then call anyway.
  let preAborted

  const keyOf = step => `${step.tag}\n${step.invokeId}`
  const follows = step => hears(`${step.tag}-receive-stream-end-${step.invokeId}`)

  // decide returns whether a step of a caller leaves the plugin, and, if it is the
  // first of its call, what that opens. A part of a stream that nobody waits for an
  // answer to is late.
  function decide(step, isPart) {
    if (step.kind === 'abort') {
      preAborted = step.invokeId
      return { leaves: calls.has(keyOf(step)) }
    }
    if (calls.has(keyOf(step))) {
      return { leaves: true }
    }
    if (handles(step.tag) || step.invokeId === preAborted || isPart && !hears(`${step.tag}-receive-${step.invokeId}`)) {
      return { leaves: false }
    }
    return { leaves: true, opens: follows(step) ? 'stream' : 'value' }
  }

  // sent is told of the steps that have left.
  function sent(step, opens) {
    if (opens !== undefined) {
      calls.set(keyOf(step), opens === 'stream')
    }
    else if (step.kind === 'abort') {
      calls.delete(keyOf(step))
    }
  }

  // answered ends a call. It returns whether the caller takes a stream.
  function answered(step) {
    const isStream = calls.get(keyOf(step))
    calls.delete(keyOf(step))
    return isStream === true
  }

  return { decide, sent, answered }
}
