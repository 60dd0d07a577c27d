export default {
  id: 'caller',
  apiVersion: 1,
  version: '1.0.0',
  displayName: 'Caller',
  description: 'Takes notes: a worker written in Go that calls an AIRI module.',
  author: 'airi-host',
  categories: ['automation'],
  capabilities: ['agent.tools.register'],
  entrypoints: { worker: './main.go' },
  tools: [{
    name: 'note',
    displayName: 'Note',
    description: 'Notes a text, tidied by the module.',
    parametersSchema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  }],
  // It starts when the tool is there; without "invoke" it may call nobody.
  'airi-host': {
    command: ['go', 'run', '.'],
    requires: ['tool:tidy'],
    invoke: ['tool:tidy'],
    scope: 'acme',
    timeouts: { setup: '60s' },
  },
}
