import { readFileSync } from 'node:fs'

// What a copy of this plugin has of its own: an id, fields for airi-host.
const changes = JSON.parse(readFileSync(new URL('./changes.json', import.meta.url), 'utf8'))

export default {
  id: 'waiter',
  apiVersion: 1,
  version: '1.0.0',
  displayName: 'Waiter',
  description: 'Serves several companies at once, hears what others say, and declares an endpoint that it does not serve.',
  author: 'airi-host',
  categories: ['automation'],
  capabilities: [
    'agent.tools.register', 'api.routes.register', 'events.subscribe', 'http.outbound', 'issues.read', 'plugin.state.read',
    'plugin.state.write',
  ],
  entrypoints: { worker: './worker.js' },
  tools: [
    {
      name: 'serve',
      displayName: 'Serve',
      description: 'Brings a dish, after a while.',
      parametersSchema: { type: 'object', properties: { dish: { type: 'string' }, ms: { type: 'number' } } },
    },
  ],
  apiRoutes: [
    {
      routeKey: 'menu.get', method: 'GET', path: '/menu', auth: 'board-or-agent',
      capability: 'api.routes.register', companyResolution: { from: 'query', key: 'companyId' },
    },
  ],
  ...changes,
}
