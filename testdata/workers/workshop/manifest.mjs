export default {
  id: "workshop",
  apiVersion: 1,
  version: "1.0.0",
  displayName: "Workshop",
  description: "Runs commands and terminals on this machine: an environment driver written in Go.",
  author: "airi-host",
  categories: ["workspace"],
  capabilities: ["environment.drivers.register"],
  entrypoints: { worker: "./main.go" },
  environmentDrivers: [
    { driverKey: "workshop", displayName: "Workshop", kind: "environment_driver", configSchema: { type: "object", properties: { shell: { type: "string", minLength: 1 } } } },
  ],
  "airi-host": { command: ["go", "run", "."], timeouts: { setup: "60s" } },
};
