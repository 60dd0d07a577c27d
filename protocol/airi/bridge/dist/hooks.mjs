// src/names.mjs
var RESERVED = "airi-host:";
var CONTROL = `${RESERVED}bridge:`;
var SERVICE = "proj-airi:plugin-sdk:apis:protocol:";
var CAPABILITY_WAIT = `${SERVICE}capabilities:wait`;
var CAPABILITY_SNAPSHOT = `${SERVICE}capabilities:snapshot`;
var LIST_PROVIDERS = `${SERVICE}resources:providers:list-providers`;
var EVENTA = "@moeru/eventa";
var SDK = "@proj-airi/plugin-sdk";
function isSdk(specifier) {
  return specifier === SDK || specifier === `${SDK}/plugin` || specifier.startsWith(`${SDK}/plugin/`);
}

// src/hooks.mjs
var ours = (name) => ({ url: new URL(name, import.meta.url).href, format: "module", shortCircuit: true });
async function resolve(specifier, context, next) {
  if (isSdk(specifier)) {
    return ours("./sdk.mjs");
  }
  if (specifier !== EVENTA) {
    return next(specifier, context);
  }
  try {
    return await next(specifier, context);
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND") {
      throw error;
    }
    return ours("./eventa.mjs");
  }
}
export {
  resolve
};
