// The worker's main script: node bridge.mjs ENTRY, in the plugin's directory.
// See README.md for what it and its host say to each other.
import path from 'node:path'
import process from 'node:process'
import { createChannel } from './channel.mjs'
import { describeThrown, placeOf } from './failures.mjs'
import { answerImports, canAnswer } from './imports.mjs'
import { sendFailure, sendResult, tagOf } from './invoke.mjs'
import { CONTROL, PROTOCOL } from './names.mjs'
import { checkPlugin, loadPlugin } from './plugin.mjs'
import { createApis } from './sdk.mjs'
import * as wire from './wire.mjs'

const entry = path.resolve(process.argv[2] ?? '')
const run = { load, init, setup, stop }

let plugin
let isReady = false
let sent = 0
// What a listener of the plugin threw before it was ready: its start fails by it.
let listenerError

const channel = createChannel({
  send,
  onHandler: (tag, isDefined) => send(`${CONTROL}handler-${isDefined ? 'defined' : 'removed'}`, { tag }),
  onListenerError(id, error) {
    if (!isReady) {
      listenerError ??= { error }
      return
    }
    const at = placeOf(error)
    console.error(`airi-host: a listener of ${id} failed${at && ` at ${at}`}: ${error?.message ?? error}`)
  },
})
const given = { channels: { host: channel.context }, apis: createApis(channel.context) }

function send(id, body, invokeType, opens, within) {
  const record = recordOf(sent + 1, id, body, invokeType, opens, within)
  wire.check(record)
  sent++
  wire.write(record)
}

// recordOf is the same text as JSON.stringify gives of the whole frame, of which only the
// body is new each time.
function recordOf(number, id, body, invokeType, opens, within) {
  const name = JSON.stringify(id)
  const text = JSON.stringify(body)
  return `{"id":"module-${number}","type":${name},"payload":{"id":${name},"type":"event","_flowDirection":"outbound"${
    invokeType === undefined ? '' : `,"invokeType":${JSON.stringify(invokeType)}`}${
    opens === undefined ? '' : `,"opens":"${opens}"`}${
    within === undefined ? '' : `,"within":${JSON.stringify(within)}`}${
    text === undefined ? '' : `,"body":${text}`}}}`
}

async function load() {
  plugin = await loadPlugin(entry)
}

async function init() {
  const result = await checkPlugin(plugin).init?.({ ...given })
  return result === false ? { aborted: true } : undefined
}

async function setup() {
  await checkPlugin(plugin).setupModules?.({ ...given })
}

// A plugin of the reference host is not told that it ends; it is asked for
// nothing here either. The process ends when the host closes stdin.
async function stop() {}

// validate asks the plugin about a configuration, if it listens for that.
async function validate(invokeId, request) {
  const tag = `${CONTROL}validate`
  try {
    sendResult(send, tag, invokeId, await channel.validation.ask(invokeId, request))
  }
  catch (thrown) {
    sendFailure(send, tag, invokeId, describeThrown(thrown))
  }
}

// step runs a step of the plugin's life and answers.
async function step(name, invokeId) {
  const tag = `${CONTROL}${name}`
  try {
    throwListenerError()
    const content = await run[name]()
    throwListenerError()
    isReady ||= name === 'setup'
    sendResult(send, tag, invokeId, content)
  }
  catch (thrown) {
    sendFailure(send, tag, invokeId, describeThrown(thrown))
  }
}

function throwListenerError() {
  const failed = listenerError
  listenerError = undefined
  if (failed !== undefined) {
    throw failed.error
  }
}

function onRecord(line, bytes) {
  if (line === '' || line[0] !== '{' && line.trim() === '') {
    return
  }
  const { type: id, payload } = readFrame(line)
  if (typeof id !== 'string' || typeof payload !== 'object' || payload === null) {
    console.error('airi-host: what came from the host is no frame')
    return
  }
  if (!id.startsWith(CONTROL)) {
    channel.deliver(id, payload.body, { invokeType: payload.invokeType, opens: payload.opens, bytes })
    return
  }
  const name = tagOf(id).slice(CONTROL.length)
  if (id === `${CONTROL}validate-send-abort`) {
    channel.validation.giveUp(payload.body?.invokeId)
  }
  else if (name === 'validate') {
    validate(payload.body?.invokeId, payload.body?.content)
  }
  else if (Object.hasOwn(run, name)) {
    step(name, payload.body?.invokeId)
  }
}

function readFrame(line) {
  try {
    return JSON.parse(line) ?? {}
  }
  catch {
    return {}
  }
}

// The process ends by what nobody catches, as any Node.js process does; the host
// hears the reason first. A plugin that catches it itself goes on.
function reportCrash(error, origin) {
  if (process.listenerCount('uncaughtException') === 0) {
    crashed(origin === 'unhandledRejection' ? 'unhandled rejection' : 'uncaught exception', error)
  }
}

function crashed(origin, error) {
  const { name, message, at } = describeThrown(error)
  send(`${CONTROL}crashed`, { origin, name, message: message ?? String(error), at })
  wire.flush()
}

function start() {
  if (process.argv[2] === undefined) {
    refuseToStart('name the entrypoint of an AIRI module')
  }
  wire.flushAtExit()
  keepLogs()
  openWire()
  if (!canAnswer) {
    crashed('start', new Error(`the bridge needs Node.js 20.6 or newer, this is ${process.versions.node}`))
    process.exit(1)
  }
  process.on('uncaughtExceptionMonitor', reportCrash)
  answerImports()
  process.argv.splice(1, process.argv.length, entry)
  send(`${CONTROL}hello`, { protocol: PROTOCOL, bridge: BRIDGE_VERSION, node: process.versions.node })
}

// keepLogs lets a write to a log return when it is written. Node.js would collect
// in memory what a pipe does not take at once, and forget it at process.exit().
function keepLogs() {
  for (const stream of [process.stdout, process.stderr]) {
    stream._handle?.setBlocking?.(true)
  }
}

// openWire ends the process when the host closes stdin, or is gone.
function openWire() {
  const end = () => process.exit()
  try {
    wire.open({ onRecord, onEnd: end })
  }
  catch (error) {
    refuseToStart(`descriptors 3 and 4 have to be pipes to airi-host (${error.message})`)
  }
  process.stdin.on('end', end).on('error', end).resume()
}

function refuseToStart(why) {
  console.error(`airi-host: the bridge is started by airi-host: ${why}`)
  process.exit(2)
}

start()
