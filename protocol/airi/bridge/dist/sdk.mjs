// src/sdk.mjs
import { defineInvoke, defineInvokeEventa } from "./eventa.mjs";

// src/names.mjs
var RESERVED = "airi-host:";
var CONTROL = `${RESERVED}bridge:`;
var SERVICE = "proj-airi:plugin-sdk:apis:protocol:";
var CAPABILITY_WAIT = `${SERVICE}capabilities:wait`;
var CAPABILITY_SNAPSHOT = `${SERVICE}capabilities:snapshot`;
var LIST_PROVIDERS = `${SERVICE}resources:providers:list-providers`;

// src/sdk.mjs
var protocolCapabilityWait = defineInvokeEventa(CAPABILITY_WAIT);
var protocolCapabilitySnapshot = defineInvokeEventa(CAPABILITY_SNAPSHOT);
var protocolListProvidersEventName = LIST_PROVIDERS;
var protocolListProviders = defineInvokeEventa(LIST_PROVIDERS);
var protocolProviders = { listProviders: protocolListProviders };
function definePlugin(name, version, setup) {
  return { name, version, setup };
}
function createCapabilities(context) {
  const wait = defineInvoke(context, protocolCapabilityWait);
  const snapshot = defineInvoke(context, protocolCapabilitySnapshot);
  return {
    wait: (key, timeoutMs) => wait({ key, timeoutMs }),
    snapshot: () => snapshot()
  };
}
function createProviders(context) {
  const wait = defineInvoke(context, protocolCapabilityWait);
  const list = defineInvoke(context, protocolListProviders);
  return {
    async listProviders() {
      await wait({ key: LIST_PROVIDERS });
      return list();
    }
  };
}
function createApis(context) {
  return { providers: createProviders(context), capabilities: createCapabilities(context) };
}
export {
  createApis,
  createCapabilities,
  createProviders,
  definePlugin,
  protocolCapabilitySnapshot,
  protocolCapabilityWait,
  protocolListProviders,
  protocolListProvidersEventName,
  protocolProviders
};
