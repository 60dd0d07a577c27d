// A module as its author would write it: a tool, and calls of another plugin's.
import { defineInvoke, defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
import { definePlugin } from '@proj-airi/plugin-sdk'
import { fan } from './fan.mjs'

export default definePlugin('bench', '1.0.0', () => ({
  async setupModules({ channels }) {
    const say = defineInvoke(channels.host, defineInvokeEventa('tool:say'))
    const saying = async text => (await say({ text })).content
    defineInvokeHandler(channels.host, defineInvokeEventa('tool:echo'), ({ text }) => ({ data: text }))
    defineInvokeHandler(channels.host, defineInvokeEventa('bench:fan'), ({ params }) => fan(params, saying))
  },
}))
