// Is ready after a second, and then offers "tool:slow".
import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'

export const init = () => new Promise(resolve => setTimeout(resolve, 1000))

export function setupModules({ channels }) {
  defineInvokeHandler(channels.host, defineInvokeEventa('tool:slow'), () => ({ content: 'at last' }))
}
