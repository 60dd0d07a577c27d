// The other end of a bare loop: lines on descriptor 3, lines on descriptor 4, and a map
// of who waits. What is said to what has arrived goes out in one write, and so does what
// one turn of the event loop says when several calls are in flight. A lone call goes at
// once. With the path of Eventa as its argument the calls go through that, and nothing
// else of what a module has.
import fs from 'node:fs'
import net from 'node:net'
import { fan } from './fan.mjs'

const waiting = new Map()
let last = 0
let queue = ''
let reading = false
let alone = false
let scheduled = false

function flush() {
  scheduled = false
  const bytes = Buffer.from(queue)
  queue = ''
  for (let done = 0; done < bytes.length;) {
    done += fs.writeSync(4, bytes, done)
  }
}

function write(message) {
  queue += `${JSON.stringify(message)}\n`
  if (reading || scheduled) {
    return
  }
  if (alone) {
    flush()
    return
  }
  scheduled = true
  setImmediate(flush)
}

// plain is the least that there is for calls in both directions.
function plain() {
  function say(text) {
    return new Promise((resolve) => {
      waiting.set(++last, resolve)
      write({ jsonrpc: '2.0', id: last, method: 'say', params: { text } })
    })
  }
  function onResult(id, result) {
    waiting.get(id)(result)
    waiting.delete(id)
  }
  return { say, onResult, onEcho: (id, result) => write({ jsonrpc: '2.0', id, result }) }
}

// overEventa is the same by invokes and a handler of Eventa's.
function overEventa({ createContext, defineInvoke, defineInvokeEventa, defineInvokeHandler }) {
  const context = createContext()
  const { emit } = context
  context.emit = (event, body, options) => {
    if (event.id === 'say-send') {
      write({ jsonrpc: '2.0', id: body.invokeId, method: 'say', params: body.content })
      return
    }
    if (event.id.startsWith('echo-receive-')) {
      write({ jsonrpc: '2.0', id: body.invokeId, result: body.content })
      return
    }
    emit(event, body, options)
  }
  const receive = (id, invokeType, body) => emit({ id, type: 'event', invokeType }, body)
  const say = defineInvoke(context, defineInvokeEventa('say'))
  defineInvokeHandler(context, defineInvokeEventa('echo'), content => content)
  return {
    say: text => say({ text }),
    onResult: (invokeId, content) => receive(`say-receive-${invokeId}`, 4, { invokeId, content }),
    onEcho: (invokeId, content) => receive('echo-send', 0, { invokeId, content }),
  }
}

const { say, onResult, onEcho } = process.argv[2] === undefined ? plain() : overEventa(await import(process.argv[2]))

async function fanOut(id, params) {
  alone = params.flight === 1
  const result = await fan(params, async text => (await say(text)).text)
  write({ jsonrpc: '2.0', id, result })
}

function onLine(line) {
  const { id, method, params, result } = JSON.parse(line)
  switch (method) {
    case undefined: onResult(id, result); break
    case 'getData': onEcho(id, params.params); break
    case 'performAction': fanOut(id, params.params); break
    default: write({ jsonrpc: '2.0', id, result: null })
  }
}

let rest = ''
new net.Socket({ fd: 3, readable: true, writable: false }).setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  reading = true
  lines.forEach(onLine)
  reading = false
  flush()
})
