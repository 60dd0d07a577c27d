// Misbehaves on demand: each entry of `deeds` is a data handler, and the variable
// ROGUE does one of them in setup, e.g. ROGUE=exit or ROGUE='exit {"code":3}'.
import { spawn } from 'node:child_process'
import { closeSync, writeSync } from 'node:fs'
import { definePlugin, runWorker } from '@paperclipai/plugin-sdk'

const forever = () => new Promise(() => {})

// stay keeps the process alive with nothing left to wait for.
const stay = () => void setInterval(() => {}, 60_000)

function flood(fd, { bytes = 1 << 20, line = 1000 }) {
  const text = Buffer.from(`${'x'.repeat(Math.max(line - 1, 0))}\n`)
  for (let left = bytes; left > 0; left -= text.length) writeAll(fd, text)
}

function writeAll(fd, data) {
  for (let at = 0; at < data.length;) {
    try {
      at += writeSync(fd, data, at)
    } catch (err) {
      if (err.code !== 'EAGAIN') throw err
    }
  }
}

let release = () => {}

const deeds = {
  echo: async (params) => params,
  pid: async () => process.pid,
  // Errors.
  throw: async ({ message = 'thrown on demand', code }) => {
    throw Object.assign(new Error(message), code === undefined ? {} : { code })
  },
  'throw-value': async ({ value }) => { throw value },
  'throw-later': async () => void setImmediate(() => { throw new Error('thrown outside of any handler') }),
  'reject-later': async () => void Promise.reject(new Error('rejected outside of any handler')),
  // Ends.
  exit: async ({ code = 1 }) => process.exit(code),
  'exit-after-answer': async ({ code = 1, ms = 10 }) => void setTimeout(() => process.exit(code), ms),
  kill: async ({ signal = 'SIGKILL' }) => {
    process.kill(process.pid, signal)
    return forever()
  },
  // Silence.
  hang: forever,
  late: ({ ms = 100 }) => new Promise((done) => setTimeout(() => done({ late: ms }), ms)),
  held: () => new Promise((done) => { release = done }), // until it is released
  release: async () => release({ held: true }),
  spin: async ({ ms = 1000 }) => { for (const end = Date.now() + ms; Date.now() < end;); },
  // Noise.
  stdout: async (params) => flood(1, params),
  stderr: async (params) => flood(2, params),
  // Notifications like the SDK's own, as fast as they are taken.
  notify: async ({ count = 1000, method = 'log', params = { level: 'info', message: 'again' } }) => {
    const frame = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`)
    for (let left = count; left > 0; left--) writeAll(1, frame)
  },
  // Text straight onto the wire, as it is.
  say: async ({ text }) => writeAll(1, Buffer.from(text)),
  // One line of so many bytes, without its end unless asked.
  'long-line': async ({ bytes = 1 << 20, end = false }) => {
    const part = Buffer.alloc(1 << 16, 'x')
    for (let left = bytes; left > 0; left -= part.length) writeAll(1, part.subarray(0, Math.min(left, part.length)))
    if (end) writeAll(1, Buffer.from('\n'))
  },
  // Descriptors.
  'close-stdin': async () => {
    stay()
    process.stdin.destroy() // which leaves the descriptor
    setImmediate(() => closeSync(0))
  },
  'close-stdout': async () => {
    stay()
    setImmediate(() => {
      process.stdout.write = () => true // else the next answer would end the process
      closeSync(1)
    })
  },
  // Reads nothing for a while.
  deaf: async ({ ms = 1000 }) => {
    process.stdin.pause()
    setTimeout(() => process.stdin.resume(), ms)
  },
  // Signals and descendants.
  'ignore-term': async () => {
    stay()
    process.on('SIGTERM', () => {})
    process.stdin.removeAllListeners('end')
  },
  'ignore-shutdown': async () => { onShutdown = forever },
  // A grandchild in a session of its own, which holds the worker's output open
  // unless told otherwise and outlives the worker.
  fork: async ({ ms = 60_000, hold = true }) => {
    const script = `process.on('SIGTERM', () => {}); setTimeout(() => {}, ${Number(ms)})`
    const stdio = hold ? ['ignore', 'inherit', 'inherit'] : 'ignore'
    const child = spawn(process.execPath, ['-e', script], { detached: true, stdio })
    child.unref()
    return { pid: child.pid, parent: process.pid }
  },
}

let onShutdown = async () => {}

const plugin = definePlugin({
  async setup(ctx) {
    for (const [name, deed] of Object.entries(deeds)) ctx.data.register(name, async (params) => deed(params))
    const [, name, params = '{}'] = /^(\S+)\s*(.+)?$/.exec(process.env.ROGUE ?? '') ?? []
    if (name) await deeds[name](JSON.parse(params))
  },
  onShutdown: () => onShutdown(),
})

export default plugin
runWorker(plugin, import.meta.url)
