// An AIRI module in its plainest form: two hooks, no import. console.log is only
// a line in the plugin's log. What Eventa's defineInvokeHandler does is done by hand: it
// notes what the ledger tells, and shows its notes.

const notes = []

function handle(host, key, run) {
  host.on({ id: `${key}-send`, type: 'event' }, ({ body: { invokeId, content } }) => {
    host.emit({ id: `${key}-receive-${invokeId}`, type: 'event' }, { invokeId, content: run(content) })
  })
}

export async function init({ apis }) {
  const capabilities = await apis.capabilities.snapshot()
  console.log(`the host has ${capabilities.length} capabilities`)
}

export async function setupModules({ channels, apis }) {
  const providers = await apis.providers.listProviders()
  handle(channels.host, 'event:plugin.ledger.paid', (paid) => { notes.push(paid) })
  handle(channels.host, 'tool:notes', () => ({ data: notes }))
  channels.host.emit({ id: 'notes:opened', type: 'event' }, { providers: providers.length })
}
