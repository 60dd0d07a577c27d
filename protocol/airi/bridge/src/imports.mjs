// Answers a plugin's imports of Eventa and of the SDK, in both module systems.
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import * as eventa from './eventa.mjs'
import { EVENTA, isSdk } from './names.mjs'
import * as sdk from './sdk.mjs'

const file = name => fileURLToPath(new URL(name, import.meta.url))

// canAnswer tells whether this Node.js can (since 20.6).
export const canAnswer = typeof nodeModule.register === 'function'

export function answerImports() {
  nodeModule.register('./hooks.mjs', import.meta.url)
  answerRequire()
}

// answerRequire does for require() what hooks.mjs does for import. require()
// cannot load a module that is only there for import, so ours lie in its cache.
function answerRequire() {
  const sdkFile = keep(file('./sdk.mjs'), sdk)
  const eventaFile = keep(file('./eventa.mjs'), eventa)
  const resolve = nodeModule._resolveFilename
  nodeModule._resolveFilename = function (request, ...rest) {
    if (isSdk(request)) {
      return sdkFile
    }
    if (request !== EVENTA) {
      return resolve.call(this, request, ...rest)
    }
    const own = attempt(() => resolve.call(this, request, ...rest))
    return own !== undefined && isRequirable(own) ? own : eventaFile
  }
}

function keep(name, namespace) {
  const kept = new nodeModule(name)
  kept.filename = name
  kept.loaded = true
  kept.exports = { ...namespace }
  nodeModule._cache[name] = kept
  return name
}

function attempt(resolve) {
  try {
    return resolve()
  }
  catch (error) {
    if (error?.code !== 'MODULE_NOT_FOUND' && error?.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') {
      throw error
    }
  }
}

// isRequirable: Eventa is published for import only.
function isRequirable(name) {
  return !name.endsWith('.mjs') || process.features.require_module === true
}
