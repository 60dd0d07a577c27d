// A handler that comes, goes, and is there twice.
import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'

export function setupModules({ channels: { host } }) {
  const handle = (key, handler) => defineInvokeHandler(host, defineInvokeEventa(key), handler)
  const stops = []
  handle('model:DEFINE', ({ answer }) => {
    stops.push(handle('model:CHANGES', () => answer))
    return 'defined'
  })
  handle('model:REMOVE', () => {
    stops.shift()()
    return 'removed'
  })
}
