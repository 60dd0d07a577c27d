// Says what went wrong in a plugin, and where, in JSON.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { types } from 'node:util'

const bridge = path.dirname(fileURLToPath(import.meta.url))
const root = process.cwd()

export function isError(value) {
  return value instanceof Error || types.isNativeError(value)
}

// describe is an Error as JSON has room for: {name, message, code?, at?}.
export function describe(error) {
  const { name, message, code } = error
  return {
    name: String(name),
    message: String(message),
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
    at: placeOf(error) || undefined,
  }
}

// describeThrown is what a hook threw. Only an Error has a message to show; the
// host has words of its own for anything else.
export function describeThrown(thrown) {
  return isError(thrown) ? describe(thrown) : { thrown: showable(thrown) }
}

function showable(value) {
  try {
    return JSON.parse(JSON.stringify(value))
  }
  catch {
    return String(value)
  }
}

// revive makes an Error of one that came as JSON, since plugins look for one.
export function revive(value) {
  if (typeof value !== 'object' || value === null || typeof value.message !== 'string') {
    return value
  }
  const { message, name, ...rest } = value
  const error = Object.assign(new Error(message), rest)
  if (typeof name === 'string') {
    Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  }
  return error
}

// A stack's lines end in "(file:///dir/a.mjs:12:5)" or "at /dir/a.cjs:12:5"; the
// first line of a syntax error is "file:///dir/a.mjs:12".
const PLACE = /(?:^|[( ])((?:file:\/\/)?\/.*?):(\d+(?::\d+)?)\)?$/

// placeOf is the plugin's line that an error comes from, as "dir/a.mjs:12:5",
// relative to the plugin's directory; '' where there is none. A line of the
// plugin's own is better than one of a package that it uses.
export function placeOf(error) {
  const places = placesIn(error?.stack)
  const own = places.find(({ file }) => isWithin(root, file) && !file.includes('/node_modules/'))
  const place = own ?? places[0]
  if (place === undefined) {
    return ''
  }
  return `${isWithin(root, place.file) ? path.relative(root, place.file) : place.file}:${place.line}`
}

function placesIn(stack) {
  const places = []
  for (const text of typeof stack === 'string' ? stack.split('\n') : []) {
    const found = PLACE.exec(text)
    const file = found === null ? '' : fileOf(found[1])
    if (file !== '' && !isWithin(bridge, file)) {
      places.push({ file, line: found[2] })
    }
  }
  return places
}

function fileOf(name) {
  try {
    return name.startsWith('file:') ? fileURLToPath(name) : name
  }
  catch {
    return ''
  }
}

function isWithin(directory, file) {
  return file.startsWith(directory === path.sep ? directory : directory + path.sep)
}

// placeSyntaxError gives the syntax error of an ES module its place, which
// Node.js keeps to itself unless it prints the error.
export function placeSyntaxError(error, entry) {
  if (!(error instanceof SyntaxError) || placeOf(error) !== '') {
    return
  }
  const { stderr } = spawnSync(process.execPath, ['--check', entry], {
    encoding: 'utf8', maxBuffer: 1 << 20, stdio: ['ignore', 'ignore', 'pipe'], timeout: 5000,
  })
  const [place] = placesIn(stderr)
  if (place !== undefined) {
    error.stack = `${place.file}:${place.line}\n${error.stack}`
  }
}
