export default {
  id: "ledger",
  apiVersion: 1,
  version: "1.0.0",
  displayName: "Ledger",
  description: "Keeps a company's books: a worker written in Go.",
  author: "airi-host",
  categories: ["automation"],
  capabilities: ["agent.tools.register", "events.emit", "events.subscribe", "jobs.schedule", "plugin.state.read", "plugin.state.write"],
  entrypoints: { worker: "./main.go" },
  tools: [
    {
      name: "ledger-add",
      displayName: "Add to the ledger",
      description: "Adds an entry to the company's ledger and tells the balance.",
      parametersSchema: {
        type: "object",
        properties: {
          text: { type: "string", minLength: 1, description: "what it is for" },
          amount: { type: "integer", description: "in cents; what is paid out is negative" },
        },
        required: ["text", "amount"],
        additionalProperties: false,
      },
    },
    {
      name: "ledger-pay",
      displayName: "Pay",
      description: "Takes money from somebody, has a receipt written, and tells of it.",
      parametersSchema: {
        type: "object",
        properties: { name: { type: "string", minLength: 1 }, amount: { type: "integer", minimum: 1, description: "in cents" } },
        required: ["name", "amount"],
      },
    },
  ],
  jobs: [{ jobKey: "tally", displayName: "Tally", description: "Logs how much was added.", schedule: "0 18 * * *" }],
  // What a host of airi-host starts instead of a JavaScript worker. The first start builds it.
  // The receipt is written by another plugin, which it may call.
  "airi-host": { command: ["go", "run", "."], invoke: ["tool:echo"], timeouts: { setup: "60s" } },
};
