// A module that does with Eventa what can be done with it. It is given the library
// that it has imported, by import or by require.
function cases(eventa) {
  const { defineEventa, defineInvoke, defineInvokeEventa, defineInvokeHandler, defineStreamInvoke, defineStreamInvokeHandler, undefineInvokeHandler, withRemoteMethods } = eventa
  const tag = defineInvokeEventa
  let host
  const say = (id, payload) => host.emit(defineEventa(id), payload)
  const tick = () => new Promise(resolve => setImmediate(resolve))
  const told = error => [error instanceof Error, error.name, error.message, error.code, error.data]
  const errorWith = (error, members) => Object.assign(error, members)

  function handlers() {
    defineInvokeHandler(host, tag('echo'), x => x)
    defineInvokeHandler(host, tag('fail'), async () => { throw errorWith(new TypeError('no number'), { code: 'E1', data: { at: 1 } }) })
    defineInvokeHandler(host, tag('fail-added'), () => { throw errorWith(new Error('not found'), { status: 404, big: 10n }) })
    defineInvokeHandler(host, tag('fail-plain'), () => { throw { code: 7, message: 'plain', why: [1] } })
    defineInvokeHandler(host, tag('fail-text'), () => { throw 'text' })
    defineInvokeHandler(host, tag('fail-bigint'), () => { throw 10n })

    defineStreamInvokeHandler(host, tag('count'), async function* (n) { for (let i = 1; i <= n; i++) yield i })
    defineStreamInvokeHandler(host, tag('count-fail'), async function* () {
      yield 1
      throw errorWith(new RangeError('ran out'), { data: [2] })
    })
    defineStreamInvokeHandler(host, tag('endless'), async function* (_, { abortController: { signal } }) {
      for (let i = 0; !signal.aborted; i++) {
        yield i
        await tick()
      }
      say('stopped', signal.reason)
    })
    defineStreamInvokeHandler(host, tag('unserializable'), async function* () { yield 1n })
    defineInvokeHandler(host, tag('slow'), (_, { abortController: { signal } }) =>
      new Promise(resolve => signal.addEventListener('abort', () => { say('stopped', signal.reason); resolve('late') })))

    defineInvokeHandler(host, tag('sum'), async (stream) => {
      let sum = 0
      try {
        for await (const n of stream) sum += n
      }
      catch (error) {
        say('cut', [sum, ...told(error)])
        throw error
      }
      return sum
    })
    defineInvokeHandler(host, tag('first'), async (stream) => {
      for await (const n of stream) {
        await tick()
        say('read', n)
        return n
      }
    })
    defineStreamInvokeHandler(host, tag('double'), async function* (stream) {
      try {
        for await (const n of stream) yield 2 * n
      }
      catch (error) {
        say('cut', told(error))
        throw error
      }
    })
    defineInvokeHandler(host, tag('sum-twice'), async (stream) => { let n = 0; for await (const x of stream) n += x; return n })
    defineInvokeHandler(host, tag('sum-twice'), async (stream) => { let n = 0; for await (const x of stream) n += x; return n })

    defineInvokeHandler(host, tag('twice'), () => 'first')
    defineInvokeHandler(host, tag('twice'), () => 'second')
    changing()
    defineInvokeHandler(host, tag('do'), name => acts[name]())
  }

  // changing defines a handler that is replaced, and removed while it is at work.
  function changing() {
    let finish
    const change = tag('change')
    const one = () => new Promise(resolve => { finish = resolve })
    defineInvokeHandler(host, change, one)
    defineInvokeHandler(host, tag('change-away'), () => undefineInvokeHandler(host, change))
    defineInvokeHandler(host, tag('change-finish'), () => finish('from the one that was removed'))
    defineInvokeHandler(host, tag('change-back'), () => { defineInvokeHandler(host, change, () => 'the new one') })
  }

  async function all(stream) {
    const items = []
    try {
      for await (const item of stream) items.push(item)
    }
    catch (error) {
      return [...items, told(error)]
    }
    return items
  }
  const failing = promise => promise.then(result => ({ result }), told)
  const items = async function* (...list) { yield* list }
  const breaking = async function* () {
    yield 1
    throw errorWith(new RangeError('cut here'), { data: { n: 1 } })
  }

  const acts = {
    unary: () => failing(defineInvoke(host, tag('theirs'))({ n: 1 })),
    publish: async () => {
      const heard = []
      const stop = defineInvokeHandler(host, tag('event:e'), (x) => { heard.push(x) })
      await defineInvoke(host, tag('event:e'))('news')
      stop()
      return heard
    },
    nothing: () => failing(defineInvoke(host, tag('theirs'))()),
    stream: () => all(defineStreamInvoke(host, tag('theirs'))({ n: 1 })),
    feed: () => failing(defineInvoke(host, tag('theirs'))(items(1, 2))),
    'feed-nothing': () => failing(defineInvoke(host, tag('theirs'))(items())),
    'feed-stream': () => all(defineStreamInvoke(host, tag('theirs'))(items(1, 2))),
    'feed-stream-nothing': () => all(defineStreamInvoke(host, tag('theirs'))(items())),
    'feed-broken': () => failing(defineInvoke(host, tag('theirs'))(breaking())),
    'feed-stream-broken': () => all(defineStreamInvoke(host, tag('theirs'))(breaking())),
    // Goes on feeding when its call is over.
    async 'feed-late'() {
      let go
      const gone = new Promise(resolve => { go = resolve })
      const late = async function* () {
        yield 1
        await gone
        yield 2
        say('fed', 2)
      }
      const answer = await failing(defineInvoke(host, tag('theirs'))(late()))
      go()
      return answer
    },
    async abort() {
      const controller = new AbortController()
      const answer = failing(defineInvoke(host, tag('theirs'))({}, { signal: controller.signal }))
      host.on(defineEventa('abort now'), () => controller.abort('enough'))
      return (await answer).slice(0, 2)
    },
    async 'abort-stream'() {
      const controller = new AbortController()
      const stream = defineStreamInvoke(host, tag('theirs'))({}, { signal: controller.signal })
      const read = []
      try {
        for await (const item of stream) {
          read.push(item)
          controller.abort('enough')
        }
      }
      catch (error) {
        return [...read, error.name]
      }
    },
    async 'leave-stream'() {
      for await (const item of defineStreamInvoke(host, tag('theirs'))({})) return item
    },
    async 'aborted-before'() {
      const controller = new AbortController()
      controller.abort('early')
      const answer = await failing(defineInvoke(host, tag('theirs'))({}, { signal: controller.signal }))
      const read = await all(defineStreamInvoke(host, tag('theirs'))({}, { signal: controller.signal })).catch(told)
      return [answer[1], read[0][1]]
    },
    async own() {
      const mine = tag('mine')
      defineStreamInvokeHandler(host, mine, async function* (stream) { for await (const n of stream) yield -n })
      return all(defineStreamInvoke(host, mine)(items(1, 2)))
    },
    function: () => failing(withRemoteMethods(true).defineInvoke(host, tag('theirs'))({ callback: n => n + 1 })),
    'own-function': () => {
      const methods = withRemoteMethods(true)
      methods.defineInvokeHandler(host, tag('mine-too'), async ({ callback }) => callback(1))
      return failing(methods.defineInvoke(host, tag('mine-too'))({ callback: n => n + 1 }))
    },
    'their-function': () => failing(defineInvoke(host, tag('eventa-invoke-fn-theirs'))(1)),
  }

  return {
    init({ channels }) {
      host = channels.host
      handlers()
    },
    setupModules() {
      say('library', 'pipeChannel' in eventa)
    },
  }
}
