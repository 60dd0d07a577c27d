package bridge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// A handler that is written by hand numbers no answer: its first one is the result.
// Who wants to stream by hand listens to the end of request streams, as Eventa does.
func TestServed_handlersByHandAnswer(t *testing.T) {
	w := eventa(t, `
  const answer = (tag, { invokeId }, content) => say(tag + '-receive-' + invokeId, { invokeId, content })
  host.on(defineEventa('hand-send'), e => answer('hand', e.body, e.body.content))
  host.on(matchBy(e => e.id === 'match-send'), e => answer('match', e.body, 'matched'))
  host.on(defineEventa('items-send'), e => {
    answer('items', e.body, 1)
    answer('items', e.body, 2)
    say('items-receive-stream-end-' + e.body.invokeId, { invokeId: e.body.invokeId })
  })
  host.on(defineEventa('items-send-stream-end'), () => {})
  host.on(defineEventa('read-send'), async e => {
    let sum = 0
    for await (const n of e.body.content) sum += n
    answer('read', e.body, sum)
  })`)
	w.ready()
	w.wantCall("hand", `{"a":1}`, `{"a":1}`)
	w.wantCall("match", "", `"matched"`)
	w.wantCall("items", "", "[1,2]")
	w.follow("items", "")
	w.wantProgress("1", "2")
	w.wantDone("null")
	w.feed("read", nil, "1", "2")
	w.wantDone("3")
}

// What does not read a request stream costs the module no more than the bound, and
// hears of it when it reads.
func TestServed_whatIsNotReadIsBounded(t *testing.T) {
	w := eventa(t, `
  host.on(matchBy(e => e.id === 'sink-send'), e => JSON.stringify(e.body)) // opens one, too
  defineInvokeHandler(host, defineInvokeEventa('sink'), async (stream) => {
    await new Promise(resolve => host.on(defineEventa('read now'), resolve))
    let n = 0
    try { for await (const item of stream) n++ } catch (e) { return [n, e.name, e.message] }
    return n
  })`)
	w.ready()
	w.lastCall++
	w.step(protocol.Invoke{ID: w.lastCall, Call: protocol.Call{Key: "sink"}, Feeds: true})
	item := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	for range 65 {
		w.step(protocol.Feed{ID: w.lastCall, Item: item})
	}
	w.step(protocol.Emit{Event: protocol.Event{Name: "read now"}})
	w.wantDone(`[0,"RangeError","more than 67108864 bytes of the request stream are unread"]`)
}

// A handler that goes on when its call is over fills nothing up: what it says is
// counted and forgotten.
func TestServed_aStreamThatDoesNotStopIsCounted(t *testing.T) {
	w := eventa(t, `
  defineStreamInvokeHandler(host, defineInvokeEventa('deaf'), async function* () {
    yield 'first'
    await new Promise(resolve => host.on(defineEventa('go on'), resolve))
    for (let i = 0; i < 3000; i++) yield i
    say('over')
  })`)
	w.ready()
	w.follow("deaf", "")
	w.wantProgress(`"first"`)
	w.step(protocol.Cancel{ID: w.lastCall, Reason: "enough"})
	w.step(protocol.Emit{Event: protocol.Event{Name: "go on"}})
	for range 3000 {
		require.Equal(t, airi.DroppedLate, next[protocol.Dropped](w).What)
	}
	w.wantEvent("over", "")
}
