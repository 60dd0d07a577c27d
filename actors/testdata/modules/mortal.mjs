// Offers three tools, of which one never answers.
import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'

export function setupModules({ channels: { host } }) {
  const handle = (key, handler) => defineInvokeHandler(host, defineInvokeEventa(key), handler)
  handle('tool:pid', () => ({ data: process.pid }))
  handle('tool:greet-back', () => ({ content: 'Hello yourself.' }))
  handle('tool:hang', () => {
    console.log('hanging')
    return new Promise(() => {})
  })
}
