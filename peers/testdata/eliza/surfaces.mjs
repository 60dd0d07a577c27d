// A worker with everything that an elizaOS plugin can have, to be run in Bun and in Node.js.
import { bootstrap } from './bootstrap.mjs'

// What the host wrote before init was over.
const early = []
let initialized = false
process.stdin.on('data', (data) => {
  if (!initialized)
    early.push(...String(data).split('\n').filter(line => line.includes('"worker-rpc"')))
})

let starts = 0
class Vault {
  static serviceType = 'vault'
  static rpcMethods = ['open', 'none']
  static capabilityDescription = 'keeps things'
  static async start() {
    if (++starts === 1)
      throw new Error('the vault is locked')
    return new Vault()
  }

  open(...what) { return { what, starts } }
  secret() { return 'nobody calls this' }
}

const told = []
const plugin = {
  name: 'surfaces',
  description: 'has everything',
  priority: 2,
  actions: [{
    name: 'GREET',
    similes: ['HELLO', 'WELCOME'],
    description: 'greets',
    validate: async (_runtime, message) => message.content.text === 'hi',
    handler: async (_runtime, message, state, options, callback, responses) => {
      await callback({ text: 'one' })
      await callback({ text: 'two' })
      return { success: true, text: message.content.text, data: { state, options, responses } }
    },
  }],
  providers: [{ name: 'TIME', description: 'tells the time', position: 1, get: async (_runtime, message, state) => ({ text: 'noon', values: { asked: message.content.text, state } }) }],
  evaluators: [{ name: 'JUDGE', handler: async (_runtime, message) => [message.content.text], validate: async () => 0 }],
  models: {
    ECHO: async (_runtime, params) => params,
    RUNTIME: async () => (process.versions.bun ? 'bun' : 'node'),
    EARLY: async () => early,
    TOLD: async () => told,
    WORDS: async function* (_runtime, { count }) {
      for (let i = 0; i < count; i++)
        yield `word ${i}`
      return count
    },
    FAIL: async () => { throw Object.assign(new TypeError('outer', { cause: new RangeError('inner') }), { code: 'E_OUTER' }) },
  },
  events: { rang: [async (payload) => { told.push(['first', payload]) }, async (payload) => { told.push(['second', payload]) }] },
  services: [Vault],
  routes: [
    { path: '/items', type: 'POST', routeHandler: async ctx => ({ status: 201, headers: { 'x-a': 'b' }, body: { got: ctx.body, q: ctx.query } }) },
    { path: '/told' },
  ],
  init: async (_config, runtime) => {
    plugin.models.LATER = async () => 'came later'
    plugin.actions.push({ name: 'LATER', handler: async () => null })
    plugin.events.rang.push(async (payload) => { told.push(['third', payload]) })
    await runtime.getSetting('anything')
    await new Promise(done => setTimeout(done, 300))
    initialized = true
  },
}
await bootstrap(plugin)
