// Offers its tool at once and takes two seconds to get ready. What is called before
// that is remembered. FAIL in its environment makes it fail in the end.
import process from 'node:process'
import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'

let isReady = false
const early = []

export async function init({ channels }) {
  defineInvokeHandler(channels.host, defineInvokeEventa('tool:late'), (parameters) => {
    if (!isReady) {
      early.push(parameters)
    }
    return { data: { early } }
  })
  await new Promise(resolve => setTimeout(resolve, 2000))
  if (process.env.FAIL) {
    throw new Error(process.env.FAIL)
  }
}

export function setupModules() {
  isReady = true
}
