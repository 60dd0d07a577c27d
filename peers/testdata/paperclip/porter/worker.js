import { definePlugin, runWorker } from '@paperclipai/plugin-sdk'
import { spawn } from 'node:child_process'

// A channel's command is run, but for one that begins with an @: that is done here. A login
// asks for a code, says what it got, and ends; ctrl-C ends it, too.

let host
const sessions = new Map() // by their own ids
const byRoute = new Map()
let last = 0
const text = (size) => 'x'.repeat(size)

function begin(hostRouteId, one) {
  one.id = `session-${process.pid}-${++last}`
  one.route = hostRouteId
  sessions.set(one.id, one)
  byRoute.set(hostRouteId, one)
  return one
}

// end forgets a session, whoever names it.
function end(hostRouteId) {
  const one = byRoute.get(hostRouteId)
  one?.stop()
  sessions.delete(one?.id)
  byRoute.delete(hostRouteId)
  return one
}

function channel(hostRouteId, [program, ...args]) {
  const data = (chunk) => host.duplexChannel.data(hostRouteId, one.id, chunk)
  const exit = (code, lost = false) => host.duplexChannel.exit(hostRouteId, one.id, code, lost)
  const one = begin(hostRouteId, { write: () => {}, stop: () => {} })
  switch (program) {
    case '@echo':
      one.write = data
      one.stop = () => exit(143)
      return one
    case '@pour': { // so many chunks of that size, as fast as it goes
      const [chunks, size] = args.map(Number)
      setImmediate(() => {
        for (let i = 0; i < chunks; i++) data(Buffer.alloc(size, 97 + i % 26))
        exit(0)
      })
      return one
    }
    case '@early': // before the open is answered
      data(Buffer.from('early'))
      exit(7)
      return one
    case '@lost':
      setImmediate(() => exit(null, true))
      return one
    case '@keep': // its close is not confirmed
      one.keep = true
      return one
    case '@forge':
      setImmediate(() => host.duplexChannel.data(hostRouteId, 'not-mine', Buffer.from('x')))
      return one
    case '@refuse':
      throw Object.assign(new Error('there is no such door'), { code: 7 })
  }
  const child = spawn(program, args)
  child.on('error', (err) => { data(Buffer.from(`${err.message}\n`)); exit(127) })
  child.stdout.on('data', data)
  child.stderr.on('data', data)
  child.on('close', (code, signal) => exit(signal ? 128 + 15 : code))
  child.stdin.on('error', () => {})
  one.write = (bytes) => { child.stdin.write(bytes) }
  one.stop = () => { child.kill() }
  return one
}

function login(hostRouteId, output, exit) {
  const say = (what) => output(one.id, what)
  let line = ''
  const one = begin(hostRouteId, { stop: () => {} })
  one.write = (data) => {
    for (const c of data) {
      if (c === '\x03') {
        say('^C\r\n')
        exit(one.id, 130)
      } else if (c === '\r') {
        say(`\r\ngot ${line}\r\n`)
        exit(one.id, line === 'wrong' ? 1 : 0)
      } else {
        line += c
        say(c)
      }
    }
  }
  one.stop = () => { one.stop = () => {}; exit(one.id, 143) }
  setImmediate(() => say('code: '))
  return one
}

const closed = (one, hostRouteId) => (one?.keep ? {} : { hostRouteId, ...(one && { workerSessionId: one.id }) })

const plugin = definePlugin({
  async setup(ctx) {
    host = ctx
    ctx.data.register('pid', async () => process.pid)
    ctx.actions.register('streams', async ({ channel, companyId, company = companyId, events = [], open }) => {
      ctx.streams.open(channel, company)
      for (const event of events) ctx.streams.emit(channel, event)
      if (!open) ctx.streams.close(channel)
      return null
    })
    ctx.actions.register('die', async () => process.exit(9))
  },
  async onEnvironmentValidateConfig({ config }) { return { ok: true, normalizedConfig: config } },
  async onEnvironmentProbe() { return { ok: true, summary: 'dry' } },
  async onEnvironmentAcquireLease({ runId }) { return { providerLeaseId: `lease-of-${runId}`, metadata: {} } },
  async onEnvironmentReleaseLease() {},
  async onEnvironmentExecute({ command, args = [], env, stdin, timeoutMs }) {
    if (command === '@log') { // so many chunks of that size
      const [chunks, size] = args.map(Number)
      for (let i = 0; i < chunks; i++) {
        host.execution.log('stdout', text(size))
        if (i % 64 === 63) await new Promise(setImmediate)
      }
      return { exitCode: 0, timedOut: false, stdout: '', stderr: '' }
    }
    return new Promise((resolve) => {
      const child = spawn(command, args, { env: { ...process.env, ...env }, timeout: timeoutMs })
      const all = { stdout: '', stderr: '' }
      for (const stream of ['stdout', 'stderr']) {
        child[stream].setEncoding('utf8')
        child[stream].on('data', (chunk) => { all[stream] += chunk; host.execution.log(stream, chunk) })
      }
      child.on('error', (err) => resolve({ exitCode: 127, timedOut: false, stdout: '', stderr: err.message }))
      child.on('close', (code, signal) => resolve({ exitCode: code, signal: signal ?? undefined, timedOut: false, ...all }))
      child.stdin.on('error', () => {})
      child.stdin.end(stdin ?? '')
    })
  },
  // 2026.824
  async onSetupTokenPtyOpen({ hostRouteId }) {
    return { workerSessionId: login(hostRouteId, host.setupTokenPty.output, host.setupTokenPty.exit).id }
  },
  async onSetupTokenPtyInput({ workerSessionId, data }) { sessions.get(workerSessionId)?.write(data) },
  async onSetupTokenPtyStop({ workerSessionId }) { sessions.get(workerSessionId)?.stop() },
  async onSetupTokenPtyClose({ hostRouteId }) { return closed(end(hostRouteId), hostRouteId) },
  // since 2026.831
  async onLoginPtyOpen({ hostRouteId }) {
    return { workerSessionId: login(hostRouteId, (id, chunk) => host.loginPty.output(hostRouteId, id, chunk), (id, code) => host.loginPty.exit(hostRouteId, id, code)).id }
  },
  async onLoginPtyInput({ workerSessionId, data }) { sessions.get(workerSessionId)?.write(data) },
  async onLoginPtyStop({ workerSessionId }) { sessions.get(workerSessionId)?.stop() },
  async onLoginPtyClose({ hostRouteId }) { return closed(end(hostRouteId), hostRouteId) },
  async onDuplexChannelOpen({ hostRouteId, command }) { return { hostRouteId, workerSessionId: channel(hostRouteId, command).id } },
  async onDuplexChannelWrite({ workerSessionId, data }) { sessions.get(workerSessionId)?.write(Buffer.from(data, 'base64')) },
  async onDuplexChannelStop({ workerSessionId }) { sessions.get(workerSessionId)?.stop() },
  async onDuplexChannelClose({ hostRouteId }) { return closed(end(hostRouteId), hostRouteId) },
})

export default plugin
runWorker(plugin, import.meta.url)
