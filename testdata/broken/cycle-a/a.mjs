// Waits for the other one, which waits for this one.
import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'

export function setupModules({ channels }) {
  defineInvokeHandler(channels.host, defineInvokeEventa('tool:a'), () => ({ content: 'a' }))
}
