// AIRI's published clients, as many as are asked for, one order a line on standard input;
// what each of them is told stands on standard output, a line each. A client with handlers
// has Eventa's websocket adapter on its socket as well.
import { createInterface } from 'node:readline'
import { Client } from '@proj-airi/server-sdk'

const tell = (as, type, data) => console.log(JSON.stringify({ as, type, data }))
console.warn = console.error = () => {} // the client's own words about it

class Peer extends Client {
  // What Eventa's adapter is to read of the frames is for it alone.
  async handleMessage(event) {
    if ('json' in JSON.parse(event.data))
      return super.handleMessage(event)
    this.eventa?.onmessage(event)
  }

  async handle(keys) {
    const { defineInvokeEventa, defineInvokeHandler } = await import('@moeru/eventa')
    const { createContext } = await import('@moeru/eventa/adapters/websocket/native')
    this.eventa = { url: this.opts.url, send: text => this.sendRaw(text) }
    const { context } = createContext(this.eventa)
    for (const key of keys)
      defineInvokeHandler(context, defineInvokeEventa(key), input => ({ key, input }))
  }
}

const clients = {}
const orders = {
  async open(as, { handlers, ...options }) {
    const client = new Peer({
      ...options,
      autoConnect: false,
      onAnyMessage: ({ type, data }) => tell(as, type, data),
      onClose: () => tell(as, '(closed)'),
    })
    clients[as] = client
    if (handlers)
      await client.handle(handlers)
    client.connect()
  },
  send(as, event) { clients[as].send(event) },
  close(as) { clients[as].close() },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { as, order, what } = JSON.parse(line)
  await orders[order](as, what)
}
