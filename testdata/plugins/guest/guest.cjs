// An AIRI module in CommonJS that needs what two other plugins offer, one in Go
// and one in Node: it is initialized when both are ready, and calls them.

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
  },
}
