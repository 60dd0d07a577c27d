// The other end of a bare loop: lines on descriptor 3, lines on descriptor 4, and a map
// of who waits. What is said to what has arrived goes out in one write, and so does what
// one turn of the event loop says when several calls are in flight. A lone call goes at
// once.
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

function say(text) {
  return new Promise((resolve) => {
    waiting.set(++last, resolve)
    write({ jsonrpc: '2.0', id: last, method: 'say', params: { text } })
  })
}

async function fanOut(id, params) {
  alone = params.flight === 1
  const result = await fan(params, async text => (await say(text)).text)
  write({ jsonrpc: '2.0', id, result })
}

function onLine(line) {
  const { id, method, params, result } = JSON.parse(line)
  switch (method) {
    case undefined:
      waiting.get(id)(result)
      waiting.delete(id)
      break
    case 'getData': write({ jsonrpc: '2.0', id, result: params.params }); break
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
