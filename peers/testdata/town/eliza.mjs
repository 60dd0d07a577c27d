import { bootstrap } from './bootstrap.mjs'

const seen = []
const saw = (what) => { seen.push(what) }
const said = text => `eliza: ${text}`
const failure = () => Object.assign(new RangeError('burnt'), { code: 7, data: { tray: 3 } })

class Speaker {
  static serviceType = 'eliza'
  static rpcMethods = ['say']
  static async start() { return new Speaker() }
  say(text) { return said(text) }
}

async function relay(runtime, { key, input, plugin, ms, by, follow }) {
  const items = []
  const onChunk = follow ? item => items.push(item) : undefined
  try {
    const call = by === 'useModel'
      ? runtime.useModel(key.slice('model:'.length), input, { onChunk })
      : runtime.invoke(key, input, { plugin, timeoutMs: ms, onChunk })
    return { result: await call, items }
  }
  catch ({ name, message, code, data }) {
    return { failed: { name, message, code, data } }
  }
}

await bootstrap({
  name: 'eliza',
  actions: [
    { name: 'eliza-say', handler: async (_runtime, message) => ({ success: true, text: said(message.content.text) }) },
    { name: 'eliza-fail', handler: async () => { throw failure() } },
    { name: 'eliza-hang', handler: () => new Promise(resolve => setTimeout(resolve, 300, null)) },
    { name: 'eliza-seen', handler: async () => ({ success: true, data: { seen } }) },
    { name: 'eliza-tell', handler: async (runtime) => { await runtime.emitEvent('town.news', { from: 'eliza' }); return null } },
    { name: 'eliza-relay', handler: async (runtime, _message, _state, options) => ({ success: true, data: await relay(runtime, options) }) },
    {
      name: 'eliza-count',
      handler: async (_runtime, _message, _state, { to }, callback) => {
        for (let n = 1; n <= to; n++) await callback({ text: String(n) })
        return null
      },
    },
    {
      name: 'eliza-service',
      handler: async (runtime, _message, _state, { type }) => ({ success: true, data: { service: await runtime.getService(type) } }),
    },
  ],
  providers: [{ name: 'eliza-say', get: async (_runtime, message) => ({ text: said(message.content.text) }) }],
  evaluators: [{ name: 'eliza-say', handler: async (_runtime, message) => said(message.content.text), validate: async () => true }],
  models: { 'eliza-say': async (_runtime, { text }) => said(text) },
  services: [Speaker],
  events: {
    'eliza-say': [async ({ text }) => saw(`event ${text}`)],
    'town.news': [async ({ from }) => saw(`news ${from}`)],
    'plugin.paperclip.news': [async ({ from }) => saw(`news ${from}`)],
  },
  routes: [{ path: '/eliza/say', type: 'GET', routeHandler: async ({ query }) => ({ status: 200, body: said(query.text) }) }],
})
