// The module itself is what definePlugin returns.
export const name = 'named-setup'
export const version = '1.0.0'

export function setup() {
  return {
    setupModules({ channels }) {
      channels.host.emit({ id: 'lab:setup-modules', type: 'event' }, { from: 'named setup' })
    },
  }
}
