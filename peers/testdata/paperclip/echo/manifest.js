import { readFileSync } from 'node:fs'

// What a copy of this plugin has of its own: an id, fields for airi-host.
const changes = JSON.parse(readFileSync(new URL('./changes.json', import.meta.url), 'utf8'))

export default {
  id: 'echo',
  apiVersion: 1,
  version: '1.0.0',
  displayName: 'Echo',
  description: 'Gives back what it gets, and asks its host as often as it is told.',
  author: 'airi-host',
  categories: ['automation'],
  capabilities: ['plugin.state.read', 'http.outbound'],
  entrypoints: { worker: './worker.js' },
  ...changes,
}
