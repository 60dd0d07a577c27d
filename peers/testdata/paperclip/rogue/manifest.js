import { readFileSync } from 'node:fs'

// What a copy of this plugin has of its own: an id, fields for airi-host.
const changes = JSON.parse(readFileSync(new URL('./changes.json', import.meta.url), 'utf8'))

export default {
  id: 'rogue',
  apiVersion: 1,
  version: '1.0.0',
  displayName: 'Rogue',
  description: 'Does on demand what no plugin should.',
  author: 'airi-host',
  categories: ['automation'],
  capabilities: ['plugin.state.read'],
  entrypoints: { worker: './worker.js' },
  ...changes,
}
