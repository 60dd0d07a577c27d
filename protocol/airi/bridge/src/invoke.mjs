// Reads events as the steps of an invoke.

const SENDS = { '-send': 'send', '-send-abort': 'abort', '-send-stream-end': 'send-end', '-send-error': 'send-error' }

const ANSWERS = { '-receive': 'answer', '-receive-error': 'failure', '-receive-stream-end': 'end' }

// stepOf returns {kind, tag, invokeId}. "send", "send-end", "send-error" and "abort"
// are a caller's; "answer", "end" and "failure" are the other side's. An event that is
// no step of an invoke gives undefined.
export function stepOf(id, body) {
  if (typeof body !== 'object' || body === null || !body.invokeId) {
    return undefined
  }
  const invokeId = String(body.invokeId)
  return cut(SENDS, '-send', id, id.length, invokeId) ?? (id.endsWith(invokeId) && id[id.length - invokeId.length - 1] === '-'
    ? cut(ANSWERS, '-receive', id, id.length - invokeId.length - 1, invokeId)
    : undefined)
}

// cut reads the name of a step that ends at end and begins with word, the last one there.
function cut(kinds, word, id, end, invokeId) {
  const from = id.lastIndexOf(word, end - word.length)
  const kind = from < 0 ? undefined : kinds[id.slice(from, end)]
  return kind && { kind, tag: id.slice(0, from), invokeId }
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
