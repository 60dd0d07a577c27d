// Counts how often it is imported and how often it is set up, and reports that.
import { defineInvoke, defineInvokeEventa } from '@moeru/eventa'
import { definePlugin } from '@proj-airi/plugin-sdk'

globalThis.imported = (globalThis.imported ?? 0) + 1
let setup = 0

export default definePlugin('counter', '1.0.0', () => {
  setup++
  return {
    async init({ channels }) {
      const report = defineInvoke(channels.host, defineInvokeEventa('lab:report'))
      await report({ top: globalThis.imported, setup, cwd: process.cwd() })
    },
  }
})
