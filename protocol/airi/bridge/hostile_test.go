package bridge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// What a module does on its channel that nobody should: it hears of it where it can,
// and its host counts the rest.

func TestHostile_recordsThatAreTooLongStayInside(t *testing.T) {
	w := eventa(t, `
  const huge = '日'.repeat(23 << 20)
  host.on(defineEventa('huge'), e => say('heard', e.body === huge))
  say('huge', huge)
  defineInvokeHandler(host, defineInvokeEventa('huge'), () => huge)
  await defineInvoke(host, defineInvokeEventa('theirs'))(huge).catch(e => say('refused', [e.name, e.message]))`)
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	w.wantEvent("heard", "true")
	w.wantEvent("refused", `["TypeError","theirs-send cannot go to the host: it is longer than 67108864 bytes"]`)
	require.NoError(t, next[protocol.Ran](w).Err)
	_, err := w.call("huge", "")
	require.ErrorContains(t, err, "cannot go to the host: it is longer than 67108864 bytes")
	require.NoError(t, w.stdin.Close())
	w.wantExit(0)
	require.Contains(t, w.stderr.String(), "airi-host: the event huge stays in the plugin: it is longer than 67108864 bytes")
}

func TestHostile_failuresThatHaveNoWordsAreAnswersAllTheSame(t *testing.T) {
	w := eventa(t, `
  const throws = (tag, what) => defineInvokeHandler(host, defineInvokeEventa(tag), () => { throw what })
  const loop = {}
  loop.self = loop
  throws('loop', loop)
  throws('loop in data', Object.assign(new Error('kept'), { data: loop }))
  throws('getters', Object.defineProperties(new Error('x'), {
    message: { get() { throw 1 } }, data: { enumerable: true, get() { throw 2 } }, code: { get() { throw 3 } },
  }))
  throws('no text', { toJSON() { throw 1 }, toString() { throw 2 } })
  throws('nothing', undefined)
  throws('null', null)
  throws('prototype', JSON.parse('{"message":"m","__proto__":{"polluted":1}}'))
  throws('added prototype', Object.defineProperty(new Error('m'), '__proto__', { value: { polluted: 1 }, enumerable: true }))
  const controller = new AbortController()
  const pending = defineInvoke(host, defineInvokeEventa('theirs'))(1, { signal: controller.signal }).catch(e => say('aborted', e.name))
  controller.abort(loop)
  await pending`)
	w.open = true
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	abandoned := next[protocol.Serve](w).ID
	require.Equal(t, abandoned, next[protocol.Abandon](w).ID)
	w.wantEvent("aborted", `"AbortError"`)
	require.NoError(t, next[protocol.Ran](w).Err)
	for key, want := range map[string]protocol.PeerError{
		"loop":            {Message: "[object Object]"},
		"loop in data":    {Name: "Error", Message: "kept"},
		"getters":         {Name: "Error"},
		"no text":         {Message: "something that is no text"},
		"nothing":         {Message: "the handler of nothing failed without a message"},
		"null":            {Message: "the handler of null failed without a message"},
		"prototype":       {Message: "m", Data: json.RawMessage(`{"__proto__":{"polluted":1}}`)},
		"added prototype": {Name: "Error", Message: "m"},
	} {
		_, err := w.call(key, "")
		require.Equal(t, &want, peerOf(t, err), key)
	}
}

// What comes from another plugin changes no object but the one that it makes.
func TestHostile_anErrorFromOutsideIsAnErrorAndNoMore(t *testing.T) {
	w := eventa(t, `
  host.on(defineEventa('theirs-receive-error-mine'), ({ body: { content: { error: e } } }) => say('error', [
    e instanceof Error, Object.getPrototypeOf(e) === Error.prototype, Object.keys(e), typeof e.stack, e.data.polluted ?? null, ({}).polluted ?? null,
  ]))
  say('theirs-send', { invokeId: 'mine' })`)
	w.open = true
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	require.Equal(t, "theirs", next[protocol.Serve](w).Call.Key)
	_, err := w.in.WriteString(`{"type":"theirs-receive-error-mine","payload":{"invokeType":5,"body":{"invokeId":"mine","content":{"error":` +
		`{"message":"m","name":"E","stack":1,"cause":2,"__proto__":{"polluted":1},"data":{"__proto__":{"polluted":1}}}}}}}` + "\n")
	require.NoError(t, err)
	w.wantEvent("error", `[true,true,["data"],"string",null,null]`)
}

func TestHostile_whatIsWrittenPastTheBridgeIsCounted(t *testing.T) {
	frames := []string{
		`{"type":"x-send-abort","payload":{"body":{"invokeId":"i"}}}`,
		`{"type":"x-send-stream-end","payload":{"body":{"invokeId":"i"}}}`,
		`{"type":"x-send-error","payload":{"body":{"invokeId":["i"]}}}`,
		`{"type":"x-send","payload":{"body":{"invokeId":{"__proto__":1},"isReqStream":true}}}`,
		`{"type":"x-receive-7","payload":{"body":{"invokeId":7}}}`,
		`{"type":"x-receive-stream-end-airi-host-999","payload":{"body":{"invokeId":"airi-host-999"}}}`,
		`{"type":"airi-host:bridge:dance","payload":{"body":{}}}`,
	}
	text, err := json.Marshal(frames)
	require.NoError(t, err)
	w := start(t, `import fs from 'node:fs'
export function init({ channels }) {
  for (const frame of `+string(text)+`) fs.writeSync(4, frame + '\n')
  channels.host.emit({ id: 'still there', type: 'event' })
}`)
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	for _, want := range []string{
		airi.DroppedUnknown, airi.DroppedUnknown, airi.DroppedUnknown, airi.DroppedUnknown, airi.DroppedUnknown, airi.DroppedUnknown, airi.DroppedControl,
	} {
		require.Equal(t, want, next[protocol.Dropped](w).What)
	}
	w.wantEvent("still there", "")
}

func TestHostile_oddStepsOnTheChannelStayInside(t *testing.T) {
	w := eventa(t, `
  const odd = [1, ['i'], { a: 1 }, true, 'constructor', '__proto__', 'x'.repeat(2000)]
  for (const invokeId of odd) {
    say('x-send-abort', { invokeId })
    say('x-send-stream-end', { invokeId })
    say('x-send-error', { invokeId, content: 'cut' })
    say('x-send', { invokeId, content: 1, isReqStream: true })
    say('x-receive-' + invokeId, { invokeId })
    say('x-receive-error-' + invokeId, { invokeId, content: {} })
    say('x-receive-stream-end-' + invokeId, { invokeId })
  }
  say('done')`)
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	require.Equal(t, protocol.Emitted{Event: protocol.Event{Name: "done"}}, <-w.effects, "and nothing before it")
	require.NoError(t, next[protocol.Ran](w).Err)
}

// Calls whose ids are of any type are answered under them.
func TestHostile_oddIDsAreAnswered(t *testing.T) {
	w := eventa(t, `
  for (const invokeId of [1, true, '__proto__', 'constructor', 'a b']) {
    await new Promise(resolve => {
      host.on(defineEventa('clock.fail-receive-error-' + invokeId), e => { say('answered', e.body.invokeId); resolve() })
      say('clock.fail-send', { invokeId })
    })
  }
  say('clock.fail-send', { invokeId: 'x'.repeat(2000) })`)
	w.run(protocol.StepLoad)
	w.step(protocol.Run{Step: protocol.StepInit})
	for _, id := range []string{"1", "true", `"__proto__"`, `"constructor"`, `"a b"`} {
		w.wantEvent("answered", id)
	}
	require.Equal(t, airi.DroppedName, next[protocol.Dropped](w).What)
}

func TestHostile_listenersThatThrowDisturbNoCall(t *testing.T) {
	w := eventa(t, `
  defineInvokeHandler(host, defineInvokeEventa('echo'), x => x)
  for (const id of ['echo-send', 'sum-send', 'echo-send-abort']) host.on(defineEventa(id), () => { throw new Error('listener exploded') })
  defineInvokeHandler(host, defineInvokeEventa('sum'), async (stream) => { let n = 0; for await (const x of stream) n += x; return n })`)
	w.ready()
	for range 100 {
		w.wantCall("echo", "1", "1")
	}
	w.run(protocol.StepStop)
	require.NoError(t, w.stdin.Close())
	w.wantExit(0)
	require.Equal(t, 100, strings.Count(w.stderr.String(), "a listener of echo-send failed at "))
}

// Frames of different calls may overtake each other on their way: what begins a call is
// told from what comes late for one by what it says, not by its number.
func TestHostile_callsMayOvertakeEachOther(t *testing.T) {
	w := eventa(t, `
  defineInvokeHandler(host, defineInvokeEventa('echo'), x => x)
  defineInvokeHandler(host, defineInvokeEventa('sum'), async (stream) => { let n = 0; for await (const x of stream) n += x; say('sum', n); return n })`)
	w.ready()
	feed := func(n int, opens string, item int) string {
		return fmt.Sprintf(`{"type":"sum-send","payload":{%s"body":{"invokeId":"airi-host-%d","content":%d,"isReqStream":true}}}`+"\n", opens, n, item)
	}
	end := func(n int, opens string) string {
		return fmt.Sprintf(`{"type":"sum-send-stream-end","payload":{%s"body":{"invokeId":"airi-host-%d"}}}`+"\n", opens, n)
	}
	const first = `"opens":"value",`
	for _, frame := range []string{
		`{"type":"echo-send","payload":{"body":{"invokeId":"airi-host-99","content":1}}}` + "\n",
		feed(50, first, 1), feed(40, first, 10), feed(50, "", 2), end(50, ""), feed(40, "", 20), end(40, ""),
		feed(50, "", 4), end(50, ""), feed(60, "", 4), end(60, ""), // late, and of none
		end(30, first),
	} {
		_, err := w.in.WriteString(frame)
		require.NoError(t, err)
	}
	var sums []string
	for range 3 {
		sum, err := next[protocol.Emitted](w).Event.JSON()
		require.NoError(t, err)
		sums = append(sums, string(sum))
	}
	require.ElementsMatch(t, []string{"3", "30", "0"}, sums)
	w.wantCall("echo", "1", "1")
}
