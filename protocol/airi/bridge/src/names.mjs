// The names that the bridge, its host and AIRI's modules have agreed on.

// Event ids that start with RESERVED are the host's; those that start with
// CONTROL are exchanged between the host and this bridge.
export const RESERVED = 'airi-host:'
export const CONTROL = `${RESERVED}bridge:`

// The version of the control events, told in the hello.
export const PROTOCOL = 1

// The invokeIds of the host's calls start with this.
export const HOST_ID = 'airi-host-'

// The tags of functions that Eventa passes as arguments start with this.
export const FUNCTION = 'eventa-invoke-fn-'

// Services of the host, as the reference host names them.
const SERVICE = 'proj-airi:plugin-sdk:apis:protocol:'
export const CAPABILITY_WAIT = `${SERVICE}capabilities:wait`
export const CAPABILITY_SNAPSHOT = `${SERVICE}capabilities:snapshot`
export const LIST_PROVIDERS = `${SERVICE}resources:providers:list-providers`

// The tags of events start with this. All who handle one hear it, from the host.
export const EVENT = 'event:'

// By which a module is asked whether it would take a configuration, and answers.
export const VALIDATE = 'module:configuration:validate:request'
export const VALIDATED = 'module:configuration:validate:response'

// What a plugin may import without having it.
export const EVENTA = '@moeru/eventa'
const SDK = '@proj-airi/plugin-sdk'

// isSdk tells whether a specifier means the SDK's part for plugins. Its other
// part, .../plugin-host, is for hosts.
export function isSdk(specifier) {
  return specifier === SDK || specifier === `${SDK}/plugin` || specifier.startsWith(`${SDK}/plugin/`)
}
