// What a host has to know before the worker runs, as Paperclip's manifests say it.
export default {
  id: 'words',
  apiVersion: 1,
  version: '1.0.0',
  displayName: 'Words',
  description: 'Counts words: a worker written in Go.',
  author: 'airi-host',
  categories: ['automation'],
  capabilities: ['agent.tools.register'],
  entrypoints: { worker: './main.go' },
  tools: [{
    name: 'count',
    displayName: 'Count',
    description: 'Counts the words of a text.',
    parametersSchema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  }],
  // What is started in Node's place, and for whom where a call does not say. The first start builds it.
  'airi-host': { command: ['go', 'run', '.'], scope: 'acme', timeouts: { setup: '60s' } },
}
