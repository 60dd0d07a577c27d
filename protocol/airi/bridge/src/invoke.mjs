// Reads events as the steps of an invoke.

const SENDS = [['-send', 'send'], ['-send-abort', 'abort'], ['-send-stream-end', 'send-end'], ['-send-error', 'send-error']]

const ANSWERS = [['-receive-stream-end', 'end'], ['-receive-error', 'failure'], ['-receive', 'answer']]

// stepOf returns {kind, tag, invokeId}. "send", "send-end", "send-error" and "abort"
// are a caller's; "answer", "end" and "failure" are the other side's. An event that is
// no step of an invoke gives undefined.
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

// The number that Eventa gives to a result. An item of a stream has the same name and
// no number.
export const RESULT = 4

// sendResult and sendFailure answer a call.
export function sendResult(send, tag, invokeId, content) {
  send(`${tag}-receive-${invokeId}`, { invokeId, content }, RESULT)
}

export function sendFailure(send, tag, invokeId, error) {
  send(`${tag}-receive-error-${invokeId}`, { invokeId, content: { error } }, 5)
}
