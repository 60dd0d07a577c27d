// Goes wrong long after it was ready, where nobody catches it.
import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'

export function setupModules({ channels }) {
  defineInvokeHandler(channels.host, defineInvokeEventa('tool:reject'), () => {
    setImmediate(() => later())
    return { content: 'soon' }
  })
}

async function later() {
  throw new TypeError('nobody caught this')
}
