// Where a plugin's imports lead. Node.js runs this file in a thread of its own.
import { EVENTA, isSdk } from './names.mjs'

const ours = name => ({ url: new URL(name, import.meta.url).href, format: 'module', shortCircuit: true })

export async function resolve(specifier, context, next) {
  if (isSdk(specifier)) {
    return ours('./sdk.mjs')
  }
  if (specifier !== EVENTA) {
    return next(specifier, context)
  }
  try {
    return await next(specifier, context)
  }
  catch (error) {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND') {
      throw error
    }
    return ours('./eventa.mjs')
  }
}
