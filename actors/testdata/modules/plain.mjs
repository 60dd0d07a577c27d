// Two hooks, each of which says on the channel that it was called.
export function init({ channels }) {
  channels.host.emit({ id: 'lab:init', type: 'event' }, null)
}

export function setupModules({ channels }) {
  channels.host.emit({ id: 'lab:setup-modules', type: 'event' }, null)
}
