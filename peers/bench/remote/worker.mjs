// A worker as the bootstrap of elizaOS makes it of a plugin: what arrives is cut into
// lines, each of them is handled for itself, and each answer is a write of its own.
const runtime = {}
let seen = ''

const handlers = new Map()
function handler(surface, name, run) {
  const id = `${surface}:${name}:${handlers.size + 1}`
  handlers.set(id, { surface, run })
  return { rpc: true, id }
}

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

function callbackOf(callbackId) {
  return async (payload) => {
    if (callbackId)
      send({ type: 'worker-action-callback', callbackId, payload: payload ?? null })
  }
}

async function act(_runtime, message, state, options, _callback, _responses) {
  return {
    success: true,
    text: state.text,
    values: { ...state.values, tone: options.tone },
    data: { actionName: 'ECHO', heard: message.content.text },
    continueChain: false,
  }
}

async function invoke({ run, surface }, args) {
  if (surface === 'action')
    return run(runtime, args.message, args.state, args.options, callbackOf(args.callbackId), args.responses)
  return run(runtime, args.params)
}

async function dispatch({ requestId, surface, target, args }) {
  try {
    const found = handlers.get(target)
    if (found?.surface !== surface)
      throw new Error(`expected a handler of surface ${surface} with the id ${target}`)
    send({ type: 'worker-rpc-result', requestId, ok: true, payload: await invoke(found, args) ?? null })
  }
  catch ({ name, message, stack }) {
    send({ type: 'worker-rpc-result', requestId, ok: false, error: { name, message, stack } })
  }
}

function onLine(line) {
  const message = JSON.parse(line)
  if (message.type !== 'worker-rpc')
    return
  dispatch(message)
  seen = line
}

let rest = ''
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  rest += chunk
  for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
    const line = rest.slice(0, end)
    rest = rest.slice(end + 1)
    onLine(line)
  }
})

send({
  type: 'worker-announce-plugin',
  descriptor: {
    name: 'bench',
    mode: 'remote',
    actions: [{ name: 'ECHO', handler: handler('action', 'ECHO', act) }],
    models: {
      ECHO: handler('model', 'ECHO', async (_runtime, params) => params),
      // SEEN is the line that came before.
      SEEN: handler('model', 'SEEN', async () => seen),
    },
  },
})
send({ type: 'init-complete' })
