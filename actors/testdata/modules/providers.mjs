// Asks for the model providers, and says which there are.
export function init({ channels }) {
  channels.host.emit({ id: 'lab:init', type: 'event' }, null)
}

export async function setupModules({ channels, apis }) {
  const providers = await apis.providers.listProviders()
  channels.host.emit({ id: 'lab:setup-modules', type: 'event' }, providers)
}
