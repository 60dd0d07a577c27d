import { readFileSync } from 'node:fs'

// What a copy of this plugin has of its own: an id, fields for airi-host.
const changes = JSON.parse(readFileSync(new URL('./changes.json', import.meta.url), 'utf8'))

const tool = (name) => ({ name, displayName: name, description: name, parametersSchema: { type: 'object' } })

export default {
  id: 'paperclip',
  apiVersion: 1,
  version: '1.0.0',
  displayName: 'Baker',
  description: 'Lives in a town with plugins of other ecosystems, calls them and is called.',
  author: 'airi-host',
  categories: ['automation'],
  capabilities: [
    'agent.tools.register', 'jobs.schedule', 'webhooks.receive', 'api.routes.register', 'environment.drivers.register',
    'events.subscribe', 'events.emit', 'plugin.state.read', 'plugin.state.write', 'http.outbound',
  ],
  entrypoints: { worker: './worker.js' },
  tools: ['say', 'seen', 'fail', 'hang', 'tell', 'relay', 'keep', 'round'].map((name) => tool(`paperclip-${name}`)),
  jobs: [{ jobKey: 'paperclip-say', displayName: 'Say', schedule: '0 3 * * *' }],
  webhooks: [{ endpointKey: 'paperclip-say', displayName: 'Say' }],
  apiRoutes: [{
    routeKey: 'say', method: 'GET', path: '/paperclip/say', auth: 'board-or-agent',
    capability: 'api.routes.register', companyResolution: { from: 'query', key: 'companyId' },
  }],
  environmentDrivers: [{ driverKey: 'paperclip', displayName: 'Paperclip', configSchema: { type: 'object' } }],
  ...changes,
}
