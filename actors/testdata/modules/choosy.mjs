// Says whether it would take a configuration, and asks to go back.
import { defineEventa, defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'

const on = name => defineEventa(name)
let inits = 0
let setups = 0
let identity
const heard = []

export function init({ channels: { host } }) {
  inits++
  if (inits > 1) {
    return
  }
  host.on(on('module:announce'), ({ body }) => { identity = body.identity })
  host.on(on('module:configuration:commit'), ({ body }) => heard.push(`commit ${body.config.revision}`))
  host.on(on('module:configuration:configured'), ({ body }) => heard.push(`configured ${body.config.revision}`))
  host.on(on('module:configuration:validate:request'), ({ body }) => {
    const { current } = body
    const { full } = current
    const answer = validation => host.emit(on('module:configuration:validate:response'), { identity: body.identity, current, validation })
    if (full.mute) return
    if (full.throws) throw new Error('its listener broke')
    if (full.late) {
      setTimeout(() => answer({ status: 'valid' }), full.late)
      return
    }
    answer(full.bad
      ? { status: 'invalid', missing: ['token'], invalid: [{ path: '/bad', reason: { key: 'x', fallback: 'this is bad' } }], warnings: ['beware'] }
      : { status: 'valid', warnings: full.warn ? ['mind the gap'] : undefined })
  })
}

export function setupModules({ channels: { host } }) {
  setups++
  if (setups > 1) {
    return
  }
  defineInvokeHandler(host, defineInvokeEventa('model:SEEN'), () => ({ inits, setups, heard }))
  defineInvokeHandler(host, defineInvokeEventa('model:ASK'), ({ phase, reason }) => {
    host.emit(on('module:status:change'), { identity, phase, reason })
  })
}
