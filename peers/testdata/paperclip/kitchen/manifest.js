import { readFileSync } from 'node:fs'

// What a copy of this plugin has of its own: an id, fields for airi-host.
const changes = JSON.parse(readFileSync(new URL('./changes.json', import.meta.url), 'utf8'))

const text = { type: 'string' }

export default {
  id: 'kitchen',
  apiVersion: 1,
  version: '1.0.0',
  displayName: 'Kitchen',
  description: 'Has a handler of every kind and calls every service that a host offers.',
  author: 'airi-host',
  categories: ['automation'],
  capabilities: [
    'agent.tools.register', 'jobs.schedule', 'webhooks.receive', 'api.routes.register',
    'environment.drivers.register', 'events.subscribe', 'events.emit', 'plugin.state.read',
    'plugin.state.write', 'http.outbound', 'secrets.read-ref', 'metrics.write', 'telemetry.track',
    'activity.log.write', 'local.folders',
  ],
  entrypoints: { worker: './worker.js' },
  instanceConfigSchema: {
    type: 'object',
    properties: { greeting: text, mode: { enum: ['good', 'odd', 'bad'] } },
    additionalProperties: false,
  },
  tools: [
    {
      name: 'add',
      displayName: 'Add',
      description: 'Adds two numbers.',
      parametersSchema: {
        type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'],
      },
    },
    {
      name: 'refuse',
      displayName: 'Refuse',
      description: 'Answers with an error.',
      parametersSchema: { type: 'object' },
    },
  ],
  jobs: [{ jobKey: 'sync', displayName: 'Sync', schedule: '0 3 * * *' }],
  webhooks: [{ endpointKey: 'inbox', displayName: 'Inbox' }],
  apiRoutes: [
    {
      routeKey: 'thing.get', method: 'GET', path: '/things/:id', auth: 'board-or-agent',
      capability: 'api.routes.register', companyResolution: { from: 'query', key: 'companyId' },
    },
    {
      routeKey: 'thing.add', method: 'POST', path: '/things', auth: 'board-or-agent',
      capability: 'api.routes.register', companyResolution: { from: 'body', key: 'companyId' },
    },
  ],
  environmentDrivers: [{ driverKey: 'shed', displayName: 'Shed', configSchema: { type: 'object' } }],
  ...changes,
}
