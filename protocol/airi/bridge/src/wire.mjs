// The wire to the host: a JSON text a line, in on descriptor 3, out on 4.
import fs from 'node:fs'
import net from 'node:net'

const IN = 3
const OUT = 4
const LINE_END = 10

// A record from the host that is longer ends the process; one to the host is not
// written. It is what the host reads unless it is told otherwise.
const MAX_RECORD = 64 * 1024 * 1024

// As much is collected before it is written, within one turn of the event loop.
const FLUSH_AT = 64 * 1024

let queue = []
let queued = 0
let scheduled = false
let ending = false
let gone = false

// check refuses a record that the host would not read.
export function check(record) {
  // No character has more than three bytes.
  if (record.length > MAX_RECORD / 3 && Buffer.byteLength(record) > MAX_RECORD) {
    throw new RangeError(`it is longer than ${MAX_RECORD} bytes`)
  }
}

// write sends a record. What one turn of the event loop sends goes out in one
// write. A host that reads slowly slows the plugin down: nothing piles up here.
export function write(record) {
  queue.push(record)
  queued += record.length
  if (ending || queued >= FLUSH_AT) {
    flush()
  }
  else if (!scheduled) {
    scheduled = true
    setImmediate(flush)
  }
}

// flush writes what is still collected and returns when it is written.
export function flush() {
  scheduled = false
  if (queue.length === 0) {
    return
  }
  const bytes = Buffer.from(`${queue.join('\n')}\n`)
  queue = []
  queued = 0
  if (!gone) {
    writeAll(bytes)
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4))

function writeAll(bytes) {
  let done = 0
  while (done < bytes.length) {
    try {
      done += fs.writeSync(OUT, bytes, done)
    }
    catch (error) {
      if (error.code !== 'EAGAIN') {
        gone = true // the end of the other direction follows
        return
      }
      Atomics.wait(pause, 0, 0, 1)
    }
  }
}

// flushAtExit sees to it that nothing is lost, however the process is ended.
export function flushAtExit() {
  process.on('exit', () => {
    ending = true
    flush()
  })
}

// open reads the host's records until its end closes; onRecord gets each of them, and
// how many bytes it has.
export function open({ onRecord, onEnd }) {
  const socket = new net.Socket({ fd: IN, readable: true, writable: false })
  const lines = splitLines(onRecord)
  socket.on('data', lines)
  socket.on('end', onEnd)
  socket.on('error', onEnd)
}

// splitLines reads all whole lines of a chunk as one text.
function splitLines(onLine) {
  let parts = []
  let size = 0
  return (chunk) => {
    const end = chunk.lastIndexOf(LINE_END)
    if (end >= 0) {
      parts.push(chunk.subarray(0, end))
      const whole = parts.length === 1 ? parts[0] : Buffer.concat(parts)
      parts = []
      size = 0
      eachLine(whole, onLine)
    }
    if (end + 1 < chunk.length) {
      parts.push(chunk.subarray(end + 1))
      size += chunk.length - end - 1
    }
    if (size > MAX_RECORD) {
      throw new RangeError(`a record from the host is longer than ${MAX_RECORD} bytes`)
    }
  }
}

function eachLine(bytes, onLine) {
  const text = bytes.toString()
  const isPlain = text.length === bytes.length // a byte a character
  for (const line of text.split('\n')) {
    onLine(line, isPlain ? line.length : Buffer.byteLength(line))
  }
}
