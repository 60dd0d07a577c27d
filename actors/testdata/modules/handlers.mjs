// Handlers that answer, fail, wait for another plugin, and go away.
import { defineInvoke, defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'

const greet = defineInvokeEventa('tool:greet')

export function setupModules({ channels: { host } }) {
  const handle = (key, handler) => defineInvokeHandler(host, defineInvokeEventa(key), handler)
  handle('tool:double', ({ n }) => ({ data: n * 2 }))
  handle('tool:break', breaks)
  handle('tool:introduce', async ({ name }) => {
    const greeting = await defineInvoke(host, greet)({ name })
    return { content: `${greeting.content} You are in Node.` }
  })
  const stop = handle('tool:passing', () => ({ content: 'still here' }))
  handle('tool:withdraw', () => {
    stop()
    return { content: 'gone' }
  })
}

function breaks() {
  throw new RangeError('it broke')
}
