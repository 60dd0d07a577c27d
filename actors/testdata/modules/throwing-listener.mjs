// Listens to what the host says of it, and cannot bear it.
export function init({ channels }) {
  channels.host.on({ id: 'module:prepared', type: 'event' }, () => {
    throw new Error('listener exploded')
  })
}
