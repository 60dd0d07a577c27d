// Turns an entrypoint into a plugin: an object with the hooks init and
// setupModules, both of them optional.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { placeSyntaxError } from './failures.mjs'

const WANTED = 'export definePlugin(...), or an object with init or setupModules'

export async function loadPlugin(entry) {
  const name = path.basename(entry)
  return accept(await importEntry(entry), name)
}

async function importEntry(entry) {
  try {
    return await import(pathToFileURL(entry).href)
  }
  catch (error) {
    placeSyntaxError(error, entry)
    throw error
  }
}

// accept takes the first of the shapes that the reference host knows, in its
// order: named setup, default with setup, default with hooks, named hooks.
async function accept(exported, name) {
  if (isDefinition(exported)) {
    return exported.setup()
  }
  if (isDefinition(exported.default)) {
    return exported.default.setup()
  }
  if (exported.default === null) {
    throw new TypeError(`The default export of ${name} is null: ${WANTED}.`)
  }
  if (typeof exported.default === 'object' && hasHooks(exported.default)) {
    return exported.default
  }
  if (hasHooks(exported)) {
    return exported
  }
  throw new Error('Failed to resolve plugin module. The entrypoint must export either definePlugin(...) or Plugin hooks.')
}

function isDefinition(value) {
  return typeof value === 'object' && value !== null && typeof value.setup === 'function'
}

function hasHooks(value) {
  return typeof value.init === 'function' || typeof value.setupModules === 'function'
}

// checkPlugin is asked when the first hook is due, as in the reference host: a
// setup() that returns nothing loads well.
export function checkPlugin(plugin) {
  if (plugin === undefined || plugin === null) {
    throw new TypeError(`The plugin's setup() returned ${plugin}: return an object with init or setupModules.`)
  }
  return plugin
}
