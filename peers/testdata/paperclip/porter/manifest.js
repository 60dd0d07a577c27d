import { readFileSync } from 'node:fs'

// What a copy of this plugin has of its own: an id, fields for airi-host.
const changes = JSON.parse(readFileSync(new URL('./changes.json', import.meta.url), 'utf8'))

export default {
  id: 'porter',
  apiVersion: 1,
  version: '1.0.0',
  displayName: 'Porter',
  description: 'An environment driver whose commands, channels and terminals are those of this machine.',
  author: 'airi-host',
  categories: ['automation'],
  capabilities: ['environment.drivers.register'],
  entrypoints: { worker: './worker.js' },
  environmentDrivers: [{ driverKey: 'shed', displayName: 'Shed', configSchema: { type: 'object' } }],
  ...changes,
}
