// AIRI's published client, as a bot would use it: it announces itself, answers one event
// with values that JSON has not, and leaves.
import { Client } from '@proj-airi/server-sdk'

const client = new Client({
  name: 'bot',
  url: process.argv[2],
  possibleEvents: ['spark:notify'],
  autoReconnect: false,
  onError: error => console.error('error', error?.message ?? error),
  onClose: () => { console.log('closed'); process.exit(0) },
})

client.onEvent('spark:notify', (event) => {
  console.log(event.data.at instanceof Date, event.data.at.toISOString(), event.data.nothing === undefined && 'nothing' in event.data)
  client.send({ type: 'spark:emit', data: { at: event.data.at, seen: new Map([['id', new Set([1n])]]), nothing: undefined } })
})
