import {
  defineInvoke, defineInvokeEventa, defineInvokeHandler, defineStreamInvoke, defineStreamInvokeHandler,
} from '@moeru/eventa'

const burnt = () => Object.assign(new RangeError('burnt'), { code: 7, data: { tray: 3 } })

// On a websocket (websocket.mjs) events come another way, and an Error would not be told.
export async function setupModules({ channels: { host, hear, failure = burnt } }) {
  const seen = []
  const handle = (key, run) => defineInvokeHandler(host, defineInvokeEventa(key), run)
  const stream = (key, run) => defineStreamInvokeHandler(host, defineInvokeEventa(key), run)
  const call = (key, input, options) => defineInvoke(host, defineInvokeEventa(key))(input, options)
  const said = text => `airi: ${text}`
  const saw = (what) => { seen.push(what) }
  hear ??= (event, run) => handle(`event:${event}`, run)

  handle('tool:airi-say', ({ text }) => ({ content: said(text) }))
  handle('model:airi-say', ({ text }) => said(text))
  handle('service:airi.say', ([text]) => said(text))
  handle('action:airi-say', ({ params }) => ({ success: true, text: said(params.text) }))
  handle('provider:airi-say', ({ message }) => ({ text: said(message.content.text) }))
  handle('evaluator:airi-say', ({ message }) => said(message.content.text))
  handle('data:airi-say', ({ text }) => said(text))
  handle('job:airi-say', () => saw('job'))
  handle('webhook:airi-say', ({ rawBody }) => saw(`webhook ${rawBody}`))
  handle('http:GET /airi/say', ({ query }) => ({ status: 200, headers: {}, body: said(query.text) }))
  handle('environment:airi.probe', () => ({ ok: true, summary: 'airi' }))
  hear('airi-say', ({ text }) => saw(`event ${text}`))
  handle('town:airi', ({ text }) => said(text))

  handle('tool:airi-seen', () => ({ data: seen }))
  handle('tool:airi-fail', () => { throw failure() })
  handle('tool:airi-hang', (_, { abortController }) => new Promise((resolve) => {
    const answer = setTimeout(resolve, 300, { content: 'late' })
    abortController.signal.addEventListener('abort', () => { clearTimeout(answer); saw('told'); resolve({ content: 'told' }) })
  }))
  stream('model:airi-count', async function* ({ to }) {
    for (let n = 1; n <= to; n++) yield n
  })
  hear('town.news', ({ from }) => saw(`news ${from}`))
  hear('plugin.paperclip.news', ({ from }) => saw(`news ${from}`))
  handle('tool:airi-tell', async () => ({ data: await call('event:town.news', { from: 'airi' }) ?? null }))

  handle('tool:airi-relay', async ({ key, input, ms, follow }) => {
    const items = []
    try {
      if (follow) {
        for await (const item of defineStreamInvoke(host, defineInvokeEventa(key))(input)) items.push(item)
        return { data: { items } }
      }
      return { data: { result: await call(key, input, ms ? { signal: AbortSignal.timeout(ms) } : undefined) ?? null } }
    }
    catch ({ name, message, code, data }) {
      return { data: { failed: { name, message, code, data } } }
    }
  })
}
