// Reads events as the steps of an invoke.

const SENDS = [['-send', 'send'], ['-send-abort', 'abort'], ['-send-stream-end', 'more'], ['-send-error', 'more']]

const ANSWERS = [['-receive-stream-end', 'answer'], ['-receive-error', 'failure'], ['-receive', 'answer']]

// stepOf returns {kind, tag, invokeId}. "send" opens a call, "more" and "abort"
// are its caller's, too; "answer" and "failure" are the other side's. An event
// that is no step of an invoke gives undefined.
export function stepOf(id, body) {
  if (typeof body !== 'object' || body === null || !body.invokeId) {
    return undefined
  }
  const invokeId = String(body.invokeId)
  for (const [suffix, kind] of SENDS) {
    if (id.endsWith(suffix)) {
      return { kind, tag: id.slice(0, -suffix.length), invokeId }
    }
  }
  for (const [suffix, kind] of ANSWERS) {
    const end = `${suffix}-${invokeId}`
    if (id.endsWith(end)) {
      return { kind, tag: id.slice(0, -end.length), invokeId }
    }
  }
  return undefined
}

// tagOf is the tag of an invoke whose handler listens to an event; '' for none.
export function tagOf(id) {
  return id.endsWith('-send') ? id.slice(0, -'-send'.length) : ''
}

// sendResult and sendFailure answer a call, with the numbers that Eventa gives to
// these two steps.
export function sendResult(send, tag, invokeId, content) {
  send(`${tag}-receive-${invokeId}`, { invokeId, content }, 4)
}

export function sendFailure(send, tag, invokeId, error) {
  send(`${tag}-receive-error-${invokeId}`, { invokeId, content: { error } }, 5)
}
