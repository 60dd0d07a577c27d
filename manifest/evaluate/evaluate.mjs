// Imports the module that the first argument names and writes one line to descriptor
// 4: "ok" and what it exports as JSON, or "error" and the reason as a JSON string.
// JSON without indents holds no newline.
import { closeSync, openSync, writeSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const { stringify } = JSON
const { exit } = process

// A pipe that is full says EAGAIN when it does not block.
function write(kind, json) {
  let rest = Buffer.from(`${kind} ${json}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(4, rest))
    }
    catch (error) {
      if (error.code !== 'EAGAIN')
        throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

function exported(module) {
  const value = module.default ?? module.manifest ?? module
  if (value === module && Object.keys(module).length === 0)
    throw new Error('it exports nothing: export the manifest as default')
  const json = stringify(value)
  if (json === undefined)
    throw new Error(`it exports a ${typeof value}: export the manifest, an object, as default`)
  return json
}

// The first place in a stack says where to look, when it is not in here.
function placeOf(error) {
  const [place] = /(?<=[\s(])(?:file:\/\/)?\/[^\s()]+:\d+:\d+/.exec(error?.stack ?? '') ?? []
  return place && !place.includes('[eval') ? ` (at ${place})` : ''
}

const lost = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

// Nobody says anything to a module: what reads finds the end at once.
closeSync(0)
openSync('/dev/null') // the lowest number that is free

try {
  write('ok', exported(await import(pathToFileURL(process.argv[1]))))
}
catch (error) {
  // Of what cannot be parsed only Node's own report has the place.
  if (error instanceof SyntaxError && !placeOf(error))
    throw error
  const hint = lost.includes(error?.code) ? ': run "npm install", or build the plugin' : ''
  write('error', stringify(`${error}${placeOf(error)}${hint}`))
}
exit(0)
