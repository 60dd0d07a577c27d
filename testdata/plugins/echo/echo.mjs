// An AIRI module made with definePlugin: the Eventa handler that it defines can be
// called through the host as "tool:echo".

import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
import { definePlugin } from '@proj-airi/plugin-sdk'

const echo = defineInvokeEventa('tool:echo')

export default definePlugin('echo', '1.0.0', () => ({
  async setupModules({ channels }) {
    defineInvokeHandler(channels.host, echo, parameters => ({ content: parameters?.text ?? '', data: parameters }))
  },
}))
