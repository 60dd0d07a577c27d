package eliza

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

// soon is what the longest frame of an honest worker takes in a test, many times over.
const soon = 20 * time.Second

// announcing is a host that is given an announcement in its setup step, or later.
func announcing(t *testing.T, descriptor string) []string {
	t.Helper()
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.step(protocol.Run{Step: protocol.StepSetup})
	began := time.Now()
	lines := r.step(protocol.Received{Message: Announce{Descriptor: raw(descriptor)}})
	require.Less(t, time.Since(began), soon)
	return lines
}

// many is a list of so many texts, with commas in between.
func many(n int, text func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, ",")
}

func TestDriver_boundsAnnouncements(t *testing.T) {
	handler := func(i int) string { return fmt.Sprintf(`"M%d":{"rpc":true,"id":"m%d"}`, i, i) }
	last := func(lines []string) string { return lines[len(lines)-1] }
	require.Equal(t, "ran setup plugin lab: descriptor.models.M4096: 4096 handlers are announced, the limit: announce fewer",
		last(announcing(t, `{"name":"p","models":{`+many(20_000, handler)+`}}`)))
	require.Contains(t, last(announcing(t, `{"name":"p","config":"`+strings.Repeat("x", MaxAnnounced)+`"}`)),
		"bytes are announced, the limit is 16777216: announce less")
	methods := many(100_000, func(i int) string { return fmt.Sprintf(`"m%d"`, i) })
	others := many(40_000, func(i int) string { return fmt.Sprintf(`"rpc:n%d":1`, i) })
	require.Empty(t, announcing(t, `{"name":"p","services":[{"serviceType":"s","rpcMethods":[`+methods+`],`+others+`}]}`),
		"methods without a handler are none")
	require.Equal(t, []string{`offered service:s.m priority=0 "" `},
		announcing(t, `{"name":"p","services":[{"serviceType":"s","rpcMethods":["m","m"],"rpc:m":{"rpc":true,"id":"x"}}]}`))
	deep := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
	require.Equal(t, []string{`offered action:A priority=0 "" {"examples":` + deep + `}`},
		announcing(t, `{"name":"p","config":`+deep+`,"actions":[{"name":"A","handler":{"rpc":true,"id":"x"},"examples":`+deep+`}]}`))
}

// What is announced again and again is counted; the log has the beginning of it.
func TestDriver_boundsWhatIsAnnouncedLater(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	offers, logged, dropped := 0, 0, 0
	examples := strings.Repeat("x", 1<<20)
	for i := range 40 {
		for _, line := range r.step(protocol.Received{Message: Announce{Dynamic: true, Descriptor: raw(fmt.Sprintf(
			`{"name":"p","actions":[{"name":"A%d","handler":{"rpc":true,"id":"x%d"},"examples":"%s"}]}`, i, i, examples))}}) {
			switch what, _, _ := strings.Cut(line, " "); what {
			case "offered":
				offers++
			case "logged":
				logged++
			case "dropped":
				dropped++
			}
		}
	}
	require.Equal(t, 15, offers)
	require.Equal(t, protocol.StrayBurst, logged)
	require.Equal(t, 25, dropped)
}

// What a call is known by counts as what it asks: it is kept as long.
func TestDriver_boundsTheIdsOfCalls(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	id := `"` + strings.Repeat("x", 1<<20) + `"`
	taken := 0
	for range 300 {
		lines := r.step(protocol.Received{Message: HostRPC{RequestID: raw(id), Method: raw(`"getSetting"`), Args: raw(`{}`)}})
		if strings.HasPrefix(lines[0], "serve ") {
			taken++
			continue
		}
		require.Contains(t, lines[0], `"code":"overloaded"`)
	}
	require.Equal(t, 255, taken)
}

// Whatever stands in a frame, however deep, is passed on, refused or dropped.
func TestDriver_outlivesDeepFrames(t *testing.T) {
	const n = 20_000
	deep := strings.Repeat(`{"a":[`, n) + strings.Repeat(`]}`, n)
	for _, frame := range []string{
		`{"type":"worker-rpc-result","requestId":` + deep + `,"ok":true}`,
		`{"type":"worker-rpc-result","requestId":1,"ok":true,"payload":` + deep + `}`,
		`{"type":"worker-rpc-result","requestId":1,"ok":true,"streamId":` + deep + `}`,
		`{"type":"worker-rpc-result","requestId":1,"ok":` + deep + `}`,
		`{"type":"worker-rpc-result","requestId":1,"ok":false,"error":` + deep + `}`,
		`{"type":"worker-rpc-result","requestId":1,"ok":false,"error":{"name":` + deep + `,"message":` + deep + `,"code":` + deep + `,"cause":` + deep + `,"stack":` + deep + `}}`,
		`{"type":"host-rpc","requestId":` + deep + `,"method":"getSetting","args":` + deep + `}`,
		`{"type":"host-rpc","requestId":1,"method":` + deep + `}`,
		`{"type":"worker-action-callback","callbackId":` + deep + `,"payload":` + deep + `}`,
		`{"type":"event","name":"e","payload":` + deep + `}`,
		`{"type":"event","name":` + deep + `}`,
		`{"type":"stream-chunk","streamId":` + deep + `,"chunk":` + deep + `}`,
		`{"type":"stream-end","streamId":` + deep + `,"value":` + deep + `}`,
		`{"type":"worker-announce-dynamic","descriptor":` + deep + `}`,
	} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		r.start(everything)
		r.call(1, "model:TEXT", `1`)
		began := time.Now()
		for _, e := range r.d.Step(now, protocol.Received{Message: decode(t, []byte(frame))}, nil) {
			switch e := e.(type) {
			case protocol.Complete:
				require.Empty(t, protocol.CodeOf(errors.Unwrap(e.Err)))
			case protocol.Dropped:
				require.LessOrEqual(t, len(e.Detail), 4*protocol.MaxExcerpt)
			case protocol.Fail:
				t.Fatal(e.Err)
			}
		}
		require.Less(t, time.Since(began), soon, "%.60s", frame)
	}
}

// A long message is one line of at most 64 KiB where it is logged, and whole for who wants it.
func TestRemoteError_boundsItsLine(t *testing.T) {
	long := strings.Repeat("words\n", 1<<16)
	text, err := json.Marshal(long)
	require.NoError(t, err)
	e := remoteError(raw(`{"message":` + string(text) + `}`))
	require.LessOrEqual(t, len(e.Error()), 64<<10)
	require.NotContains(t, e.Error(), "\n")
	require.Equal(t, long, e.Message())
}

// What limits count is what is kept: a part of a message must not keep the rest of its frame.
func TestCodec_keepsNoMoreThanWhatAMessageSays(t *testing.T) {
	pad := `,"api":"` + strings.Repeat("x", 1<<20) + `","pad":"` + strings.Repeat("x", 1<<20) + `"}`
	for _, c := range []struct {
		frame string
		part  func(protocol.Message) json.RawMessage
	}{
		{`{"type":"stream-chunk","streamId":"s","chunk":"a"`, func(m protocol.Message) json.RawMessage { return m.(StreamChunk).Chunk }},
		{`{"type":"event","name":"e","payload":"a"`, func(m protocol.Message) json.RawMessage { return m.(Event).Payload }},
		{`{"type":"host-rpc","requestId":1,"method":"getSetting","args":"a"`, func(m protocol.Message) json.RawMessage { return m.(HostRPC).Args }},
		{`{"type":"worker-action-callback","callbackId":"c","payload":"a"`, func(m protocol.Message) json.RawMessage { return m.(Callback).Payload }},
		{`{"type":"worker-rpc-result","requestId":1,"ok":true,"payload":"a"`, func(m protocol.Message) json.RawMessage { return m.(Result).Payload }},
	} {
		require.Less(t, protocoltest.Kept(t, codec{}, []byte(c.frame+pad), c.part), int64(1<<16), c.frame)
	}
}

// Nor must what an action says by a call keep the rest of that call.
func TestDriver_keepsNoMoreThanWhatAnActionSays(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "action:GREET"}, Follows: true})
	frame := `{"type":"host-rpc","requestId":1,"method":"actionCallback","args":{"callbackId":"action-callback:1","response":"a","pad":"` +
		strings.Repeat("x", 1<<20) + `"}}`
	require.Less(t, protocoltest.Kept(t, codec{}, []byte(frame), func(m protocol.Message) json.RawMessage {
		return r.d.Step(now, protocol.Received{Message: m}, nil)[0].(protocol.Progress).Item
	}), int64(1<<16))
}

// A stream without an id is none: the answer is whole, and nobody waits for more of it.
func TestEnds_takeNoStreamWithoutAnID(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "model:TEXT"}, Follows: true})
	const result = `{"type":"worker-rpc-result","requestId":1,"ok":true,"streamId":null}`
	require.Equal(t, []string{"complete 1 ok null"}, r.receive(result))
	require.Equal(t, []string{"dropped late-answer 1"}, r.receive(result))

	w := newWorkerRig(t, WorkerSettings{})
	w.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "useModel"}, Follows: true})
	require.Equal(t, []string{"complete 1 ok null"}, w.receive(`{"type":"host-rpc-result","requestId":1,"ok":true,"streamId":null}`))
}

// A host that answers two calls in one stream has failed the second one.
func TestWorker_refusesAStreamThatIsInUse(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{})
	for id := range protocol.CallID(3) {
		r.step(protocol.Invoke{ID: id + 1, Call: protocol.Call{Key: "useModel"}, Follows: true})
	}
	require.Empty(t, r.receive(`{"type":"host-rpc-result","requestId":1,"ok":true,"streamId":"s"}`))
	require.Equal(t, []string{`complete 2 error useModel was answered as the stream "s": expected a short id that is not in use`},
		r.receive(`{"type":"host-rpc-result","requestId":2,"ok":true,"streamId":"s"}`))
	require.Contains(t, r.receive(`{"type":"host-rpc-result","requestId":3,"ok":true,"streamId":"` + strings.Repeat("s", 300) + `"}`)[0], "expected a short id")
	require.Equal(t, []string{`progress 1 1`}, r.receive(`{"type":"stream-chunk","streamId":"s","chunk":1}`))
	require.Equal(t, []string{`complete 1 error useModel was answered as the stream "t": expected a short id that is not in use`},
		r.receive(`{"type":"host-rpc-result","requestId":1,"ok":true,"streamId":"t"}`))
}
