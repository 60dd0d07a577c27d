// An AIRI module that calls a tool of another plugin, here one in Go, follows its
// progress as a stream, and defines a handler that others call.

import {
  defineInvoke,
  defineInvokeEventa,
  defineInvokeHandler,
  defineStreamInvoke,
  defineStreamInvokeHandler,
} from '@moeru/eventa'
import { definePlugin } from '@proj-airi/plugin-sdk'

const count = defineInvokeEventa('tool:count')

export default definePlugin('report', '1.0.0', () => ({
  async setupModules({ channels: { host } }) {
    // One value in, one value out.
    defineInvokeHandler(host, defineInvokeEventa('tool:report'), async ({ text }) => {
      const { content } = await defineInvoke(host, count)({ text })
      return { content: `The text has ${content}.` }
    })

    // A stream: what the tool reports, each as it comes, and its result as the last item.
    defineStreamInvokeHandler(host, defineInvokeEventa('tool:follow'), async function* ({ text }) {
      for await (const item of defineStreamInvoke(host, count)({ text }))
        yield item.content ?? `line ${item.line}: ${item.words}`
    })

    // What others call.
    defineInvokeHandler(host, defineInvokeEventa('tool:tidy'), ({ text }) => ({ content: text.trim().replace(/[ \t]+/g, ' ') }))
  },
}))
