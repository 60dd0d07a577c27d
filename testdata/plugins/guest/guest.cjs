// An AIRI module in CommonJS that needs what two other plugins offer, one in Go
// and one in Node: it is initialized when both are ready, and calls them. Later it goes to
// town, where plugins of other ecosystems live.

const { defineInvoke, defineInvokeEventa, defineInvokeHandler } = require('@moeru/eventa')

module.exports = {
  async init({ channels }) {
    const greet = defineInvoke(channels.host, defineInvokeEventa('tool:greet'))
    const greeting = await greet({ name: 'guest' })
    console.log(`greeted: ${greeting.content}`)
  },

  async setupModules({ channels }) {
    const echo = defineInvoke(channels.host, defineInvokeEventa('tool:echo'))
    defineInvokeHandler(channels.host, defineInvokeEventa('tool:introduce'), async ({ name }) => {
      const echoed = await echo({ text: `This is ${name}.` })
      return { content: echoed.content }
    })

    // An action of elizaOS's kind, and a tool of Paperclip's, for the company of this call.
    const askTheTime = defineInvoke(channels.host, defineInvokeEventa('action:TELL_TIME'))
    const pay = defineInvoke(channels.host, defineInvokeEventa('tool:ledger-pay'))
    defineInvokeHandler(channels.host, defineInvokeEventa('tool:visit'), async ({ name }) => {
      const told = await askTheTime({ params: { name, text: 'What time is it?' } })
      const paid = await pay({ name, amount: 500 })
      return { content: `${told.text} ${paid.content}`, data: paid.data }
    })
  },
}
