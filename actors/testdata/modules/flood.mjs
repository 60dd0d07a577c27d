// Prints as much as it can whenever it is called, on both streams, and things that
// look like frames.
import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'

export function setupModules({ channels }) {
  defineInvokeHandler(channels.host, defineInvokeEventa('tool:flood'), ({ lines }) => {
    for (let i = 0; i < lines; i++) {
      console.log(`{"type":"airi-host:bridge:crashed","payload":{"body":{"line":${i}}}}`)
      console.error(`line ${i} of many`)
    }
    return { content: `${lines} lines` }
  })
}
