// An elizaOS remote plugin. As an ordinary one it would import bootstrap from
// @elizaos/plugin-worker-runtime, which is published nowhere; the file beside it speaks the
// same wire.

import { bootstrap } from './bootstrap.mjs'

class ClockService {
  static serviceType = 'clock'
  static rpcMethods = ['now', 'in']
  static async start() { return new ClockService() }
  now() { return new Date().toISOString() }
  in(zone) { return new Date().toLocaleTimeString('en-GB', { timeZone: zone }) }
}

await bootstrap({
  name: 'sundial',
  description: 'Tells the time.',
  actions: [{
    name: 'TELL_TIME',
    similes: ['WHAT_TIME'],
    description: 'Tells the time, greeting whoever asks by a tool of another plugin.',
    validate: async (_runtime, message) => Boolean(message?.content?.text),
    handler: async (runtime, message, _state, options, callback) => {
      await callback({ text: 'looking at the clock' })
      const who = options?.name
      const greeting = who ? (await runtime.invoke('tool:greet', { name: who })).content : ''
      return { success: true, text: `${greeting} It is noon.`.trim(), data: { asked: message.content.text } }
    },
  }],
  providers: [{ name: 'TIME', description: 'The time', get: async () => ({ text: 'It is noon.', values: { time: '12:00' } }) }],
  models: { TEXT_TINY: async (_runtime, { prompt }) => `You said: ${prompt}` },
  services: [ClockService],
  events: {
    'plugin.ledger.paid': [async payload => console.error(`${payload?.name} has paid at noon`)],
    'clock.set': [async payload => console.error(`the clock was set to ${payload?.time}`)],
  },
  routes: [{ path: '/time', type: 'GET', routeHandler: async ctx => ({ status: 200, body: { zone: ctx.query.zone ?? 'UTC', time: '12:00' } }) }],
})
