// Handlers that append to a file, and are then late, steady, or dead.
import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineInvokeEventa, defineInvokeHandler, defineStreamInvokeHandler } from '@moeru/eventa'

export function setupModules({ channels: { host } }) {
  const handle = (key, handler) => defineInvokeHandler(host, defineInvokeEventa(key), handler)
  const stream = (key, handler) => defineStreamInvokeHandler(host, defineInvokeEventa(key), handler)

  const aborts = []
  let release = () => {}
  handle('model:WAIT', ({ file, name }, { abortController: { signal } }) => {
    appendFileSync(file, `${name}\n`)
    signal.addEventListener('abort', () => aborts.push(name))
    return new Promise((resolve) => {
      const before = release
      release = () => {
        before()
        resolve(name)
      }
    })
  })
  handle('model:RELEASE', () => {
    release()
    return aborts
  })
  handle('model:DIE', ({ file }) => {
    appendFileSync(file, 'once\n')
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  })
  stream('model:STEADY', async function* ({ ms, n }) {
    for (let i = 1; i <= n; i++) {
      await sleep(ms)
      yield i
    }
  })
  handle('model:PID', () => process.pid)
}
