// What plugins import from @proj-airi/plugin-sdk, and what they are handed as
// `apis`.
import { defineInvoke, defineInvokeEventa } from './eventa.mjs'
import { CAPABILITY_SNAPSHOT, CAPABILITY_WAIT, LIST_PROVIDERS } from './names.mjs'

export const protocolCapabilityWait = defineInvokeEventa(CAPABILITY_WAIT)
export const protocolCapabilitySnapshot = defineInvokeEventa(CAPABILITY_SNAPSHOT)
export const protocolListProvidersEventName = LIST_PROVIDERS
export const protocolListProviders = defineInvokeEventa(LIST_PROVIDERS)
export const protocolProviders = { listProviders: protocolListProviders }

// definePlugin names a plugin; the host calls setup() once, when it loads it.
export function definePlugin(name, version, setup) {
  return { name, version, setup }
}

// createCapabilities waits for capabilities of the host and of other plugins.
export function createCapabilities(context) {
  const wait = defineInvoke(context, protocolCapabilityWait)
  const snapshot = defineInvoke(context, protocolCapabilitySnapshot)
  return {
    wait: (key, timeoutMs) => wait({ key, timeoutMs }),
    snapshot: () => snapshot(),
  }
}

// createProviders lists the model providers, as soon as the host can.
export function createProviders(context) {
  const wait = defineInvoke(context, protocolCapabilityWait)
  const list = defineInvoke(context, protocolListProviders)
  return {
    async listProviders() {
      await wait({ key: LIST_PROVIDERS })
      return list()
    },
  }
}

export function createApis(context) {
  return { providers: createProviders(context), capabilities: createCapabilities(context) }
}
