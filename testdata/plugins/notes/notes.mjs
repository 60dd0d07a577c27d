// An AIRI module in its plainest form: two hooks, no import. console.log is only
// a line in the plugin's log.

export async function init({ apis }) {
  const capabilities = await apis.capabilities.snapshot()
  console.log(`the host has ${capabilities.length} capabilities`)
}

export async function setupModules({ channels, apis }) {
  const providers = await apis.providers.listProviders()
  channels.host.emit({ id: 'notes:opened', type: 'event' }, { providers: providers.length })
}
