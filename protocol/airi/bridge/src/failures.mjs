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

// describe is an Error as JSON has room for: {name, message, code?, data?, at?}. What
// JSON cannot carry of it, or fails to be read, is left out.
export function describe(error) {
  const [name, message, code] = ['name', 'message', 'code'].map(key => read(error, key))
  return {
    name: words(name) ?? 'Error',
    message: words(message) ?? '',
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
    data: inJson(dataOf(error)),
    at: placeOf(error) || undefined,
  }
}

// describeAny is anything that JavaScript can throw.
export function describeAny(thrown) {
  return isError(thrown) ? describe(thrown) : showable(thrown)
}

function read(object, key) {
  try {
    return object[key]
  }
  catch {
    return undefined
  }
}

// dataOf is what else an Error carries: its data, or all that was added to it.
function dataOf(error) {
  const data = read(error, 'data')
  if (data !== undefined) {
    return data
  }
  const added = {}
  for (const key of Object.keys(error)) {
    const value = STANDARD.has(key) ? undefined : inJson(read(error, key))
    if (value !== undefined) {
      added[key] = value
    }
  }
  return Object.keys(added).length > 0 ? added : undefined
}

const STANDARD = new Set(['name', 'message', 'code', 'stack', 'cause', '__proto__'])

function inJson(value) {
  try {
    return JSON.parse(JSON.stringify(value))
  }
  catch {
    return undefined
  }
}

// describeThrown is what a hook threw. Only an Error has a message to show; the
// host has words of its own for anything else.
export function describeThrown(thrown) {
  return isError(thrown) ? describe(thrown) : { thrown: showable(thrown) }
}

function showable(value) {
  return inJson(value) ?? words(value)
}

// words is a text for what has no JSON, which may refuse to be one, too.
function words(value) {
  try {
    return value == null ? undefined : String(value)
  }
  catch {
    return 'something that is no text'
  }
}

// revive makes an Error of one that came as JSON, since plugins look for one.
export function revive(value) {
  if (typeof value !== 'object' || value === null || typeof value.message !== 'string') {
    return value
  }
  const { message, name, code, data } = value
  const error = Object.assign(new Error(message), code === undefined ? {} : { code }, data === undefined ? {} : { data })
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
  const places = placesIn(error == null ? '' : read(error, 'stack'))
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
