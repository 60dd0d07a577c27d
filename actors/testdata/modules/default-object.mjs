// The default export has the hooks.
export default {
  init({ channels }) {
    channels.host.emit({ id: 'lab:init', type: 'event' }, null)
  },
}
