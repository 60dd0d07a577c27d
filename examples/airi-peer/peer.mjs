// A bot on AIRI's published client, which joins the host over a websocket: plugins of every
// ecosystem call it, it calls them, and it tells and hears events.

import process from 'node:process'
import { defineInvoke, defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
import { createContext } from '@moeru/eventa/adapters/websocket/native'
import { Client } from '@proj-airi/server-sdk'

const url = process.env.AIRI_URL ?? 'ws://127.0.0.1:6121/ws'

// Calls are Eventa's frames, on the same websocket. The client does not know them, so they
// go to Eventa's adapter.
class Bot extends Client {
  wire = { url, send: frame => this.sendRaw(frame) }

  async handleMessage(event) {
    if ('json' in JSON.parse(event.data))
      return super.handleMessage(event)
    this.wire.onmessage(event)
  }
}

const bot = new Bot({
  url,
  token: process.env.AIRI_TOKEN,
  name: 'discord-bot',
  // By the same instance it is known again when it comes back; without one it is a new
  // session each time.
  identity: { plugin: 'discord-bot', instanceId: process.env.AIRI_INSTANCE ?? 'one' },
  // What it can be called by. The host cannot see its handlers.
  possibleEvents: ['chat:say'],
  // The client's own way to come back knows no pause where nobody answers.
  autoReconnect: false,
  onClose: () => setTimeout(() => bot.connect(), 1000),
  onError: ({ message }) => console.error(`${url}: ${message}`),
})
const { context } = createContext(bot.wire)

let voice = 'plain'

// What others call: "airi-host call chat:say", or a plugin.
defineInvokeHandler(context, defineInvokeEventa('chat:say'), ({ text }) => {
  bot.send({ type: 'chat:said', data: { text } }) // heard by other peers, and by plugins
  return { said: text, voice }
})

// What it calls.
const greet = defineInvoke(context, defineInvokeEventa('tool:greet'))
bot.onEvent('module:authenticated', () => greet({ name: 'discord-bot' }).then(({ content }) => console.log(content), console.error))

// What it is told: of its configuration, of what others say, and of what went wrong.
bot.onEvent('module:configure', ({ data }) => ({ voice } = data.config))
bot.onEvent('chat:said', ({ data }) => console.log(`heard: ${data.text}`))
bot.onEvent('error', ({ data }) => console.error(data.message))
bot.onEvent('module:status', ({ data: { phase, reason } }) => phase === 'failed' && console.error(reason))

process.once('SIGINT', () => bot.close())
