// Offers its tool at once and gets ready when the file is there that RELEASE in its
// environment names. What is called before that is remembered. FAIL makes it fail in
// the end.
import { existsSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
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
  while (!existsSync(process.env.RELEASE)) {
    await sleep(5)
  }
  if (process.env.FAIL) {
    throw new Error(process.env.FAIL)
  }
}

export function setupModules() {
  isReady = true
}
