package paperclip

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func newRouteWorker(t *testing.T, s WorkerSettings) rig {
	t.Helper()
	s.Routes, s.Hooks = true, hooks
	return rig{t: t, d: NewWorker(s)}
}

const (
	openChannel = `{"id":1,"method":"duplexChannelOpen","params":{"hostRouteId":"r","command":["x"]},"paperclipInvocation":{"id":"i","scope":{"companyId":"c"}}}`
	opened      = `send {"id":1,"result":{"hostRouteId":"r","workerSessionId":"session-1"}}`
)

func (r rig) write(id, data string) []string {
	r.t.Helper()
	return r.receive(`{"id":` + id + `,"method":"duplexChannelWrite","params":{"hostRouteId":"r","workerSessionId":"session-1","data":"` + data + `"}}`)
}

func TestWorkerRoutes_live(t *testing.T) {
	r := newRouteWorker(t, WorkerSettings{})
	require.Equal(t, []string{`asked 1 duplex c {"hostRouteId":"r","command":["x"]}`}, r.receive(openChannel))
	require.Empty(t, r.step(protocol.WriteRoute{ID: 1, Data: []byte("x")}), "it is not open")
	require.Equal(t, []string{opened}, r.step(protocol.AcceptRoute{ID: 1}))
	require.Empty(t, r.step(protocol.AcceptRoute{ID: 1}))
	require.Equal(t, []string{`chunk 1 "a"`}, r.write("2", "YQ=="))
	require.Equal(t, []string{`chunk 1 "b"`}, r.write("3", "Yg=="))
	require.Equal(t, []string{`send {"id":2,"result":null}`}, r.step(protocol.TakeRoute{ID: 1, Chunks: 1}), "answered when it is taken")
	require.Equal(t, []string{`send {"method":"duplexChannel.data","params":{"hostRouteId":"r","workerSessionId":"session-1","chunk":"AP8="}}`},
		r.step(protocol.WriteRoute{ID: 1, Data: []byte{0, 255}}))
	require.Equal(t, []string{`send {"id":4,"result":null}`, "routestopped {1}"}, r.receive(`{"id":4,"method":"duplexChannelStop","params":{"hostRouteId":"r","workerSessionId":"session-1"}}`))
	require.Equal(t, []string{`send {"id":3,"result":null}`, `send {"method":"duplexChannel.exit","params":{"hostRouteId":"r","workerSessionId":"session-1","exitCode":2,"transportClosed":false}}`},
		r.step(protocol.ExitRoute{ID: 1, Exit: protocol.Exit{Code: 2, HasCode: true}}))
	require.Empty(t, r.step(protocol.WriteRoute{ID: 1, Data: []byte("x")}), "its program has ended")
	require.Empty(t, r.step(protocol.ExitRoute{ID: 1}))
	require.Equal(t, []string{`send {"id":5,"result":null}`, "dropped late-route-frame duplexChannelWrite"}, r.write("5", "YQ=="))
	closing := `"method":"duplexChannelClose","params":{"hostRouteId":"r"}}`
	require.Equal(t, []string{"routeclosing {1}"}, r.receive(`{"id":6,`+closing))
	require.Equal(t, []string{`send {"id":7,"error":{"code":-32002,"message":"duplexChannelClose: it is being closed"}}`}, r.receive(`{"id":7,`+closing))
	require.Equal(t, []string{`send {"id":6,"result":{"hostRouteId":"r","workerSessionId":"session-1"}}`}, r.step(protocol.CloseRoute{ID: 1}))
	require.Equal(t, []string{`send {"id":8,"result":{"hostRouteId":"r"}}`}, r.receive(`{"id":8,`+closing), "what is not there is closed")
	require.Equal(t, []string{`send {"id":9,"error":{"code":-32002,"message":"duplexChannelWrite: there is no such session"}}`}, r.write("9", "YQ=="))
}

func TestWorkerRoutes_areOpenedForAnInvocation(t *testing.T) {
	w := NewWorker(WorkerSettings{Routes: true, Hooks: hooks})
	messages, err := codec{}.Decode([]byte(strings.Replace(openChannel, "{", `{"jsonrpc":"2.0",`, 1)))
	require.NoError(t, err)
	effects := w.Step(time.Time{}, protocol.Received{Message: messages[0]}, nil)
	require.Len(t, effects, 1)
	require.Equal(t, "i", effects[0].(Opening).Invocation)
}

func TestWorkerRoutes_refuse(t *testing.T) {
	r := newRouteWorker(t, WorkerSettings{MaxPending: 1, Limits: RouteLimits{Write: 4, Writes: 2, Unanswered: 4}})
	require.Contains(t, r.receive(`{"id":1,"method":"loginPtyOpen","params":{}}`)[0], "hostRouteId: expected a string of 1 to 256 bytes")
	r.receive(openChannel)
	require.Contains(t, r.receive(openChannel)[0], "the hostRouteId is in use")
	require.Contains(t, r.receive(strings.Replace(openChannel, `"r"`, `"q"`, 1))[0], `"code":-32000,"message":"duplexChannelOpen: 1 routes are open, the limit"`)
	r.step(protocol.AcceptRoute{ID: 1})
	require.Contains(t, r.write("2", "YQ")[0], "data: expected text that is not empty, or the canonical base64 of bytes")
	require.Contains(t, r.write("2", "YWJjZGU=")[0], "one write: more than 4, the limit (write)")
	r.write("2", "YWJj")
	require.Contains(t, r.write("3", "YWI=")[0], `"code":-32000,"message":"duplexChannelWrite: 1 writes of 3 bytes wait for the program, the limit"`)
	r.write("3", "YQ==")
	require.Contains(t, r.write("4", "YQ==")[0], `2 writes of 4 bytes wait`)
	require.Contains(t, r.receive(`{"id":5,"method":"duplexChannelStop","params":{"hostRouteId":"q","workerSessionId":"session-1"}}`)[0], "there is no such session")
	require.Len(t, r.step(protocol.TakeRoute{ID: 1, Chunks: 9}), 2, "there are two")

	r = newRouteWorker(t, WorkerSettings{})
	r.receive(openChannel)
	require.Equal(t, []string{`send {"id":1,"error":{"code":-32002,"message":"no sandbox"}}`}, r.step(protocol.AcceptRoute{ID: 1, Err: errors.New("no sandbox")}))
	require.Empty(t, r.step(protocol.WriteRoute{ID: 1, Data: []byte("x")}))
}

func TestWorkerRoutes_closeAtAnyTime(t *testing.T) {
	closing := `{"id":2,"method":"duplexChannelClose","params":{"hostRouteId":"r"}}`
	r := newRouteWorker(t, WorkerSettings{})
	r.receive(openChannel)
	require.Equal(t, []string{`send {"id":1,"error":{"code":-32002,"message":"the host has closed it"}}`, "routeclosing {1}"}, r.receive(closing), "before it is open")
	require.Empty(t, r.step(protocol.AcceptRoute{ID: 1}))
	require.Equal(t, []string{`send {"id":2,"result":{"hostRouteId":"r"}}`}, r.step(protocol.CloseRoute{ID: 1}))

	r = newRouteWorker(t, WorkerSettings{})
	r.receive(openChannel)
	require.Equal(t, []string{`send {"id":1,"error":{"code":-32002,"message":"the plugin has not opened it"}}`}, r.step(protocol.CloseRoute{ID: 1}))

	r = newRouteWorker(t, WorkerSettings{})
	r.receive(openChannel)
	r.step(protocol.AcceptRoute{ID: 1})
	require.Equal(t, []string{`send {"method":"duplexChannel.exit","params":{"hostRouteId":"r","workerSessionId":"session-1","exitCode":null,"transportClosed":true}}`},
		r.step(protocol.CloseRoute{ID: 1}), "the plugin leaves first")
	require.Empty(t, r.step(protocol.CloseRoute{ID: 1}))
	require.Equal(t, []string{`send {"id":2,"result":{"hostRouteId":"r","workerSessionId":"session-1"}}`}, r.receive(closing))

	r = newRouteWorker(t, WorkerSettings{})
	r.receive(openChannel)
	r.receive(strings.Replace(strings.Replace(openChannel, `"r"`, `"q"`, 1), `"id":1`, `"id":2`, 1))
	require.Equal(t, []string{"routeclosing {1}", "routeclosing {2}"}, r.step(protocol.Closed{}), "with the host")
	require.Empty(t, r.step(protocol.CloseRoute{ID: 1}))
}

func TestWorkerRoutes_cutWhatIsTooLong(t *testing.T) {
	r := newRouteWorker(t, WorkerSettings{Duplex: DuplexText, Limits: RouteLimits{Chunk: 4}})
	r.receive(openChannel)
	r.step(protocol.AcceptRoute{ID: 1})
	chunk := func(s string) string {
		return `send {"method":"duplexChannel.data","params":{"hostRouteId":"r","workerSessionId":"session-1","chunk":"` + s + `"}}`
	}
	require.Equal(t, []string{chunk("a€"), chunk("€b")}, r.step(protocol.WriteRoute{ID: 1, Data: []byte("a€€b\xe2\x82")}))
	require.Equal(t, []string{chunk("€")}, r.step(protocol.WriteRoute{ID: 1, Data: []byte("\xac\xe2")}))
	out := r.step(protocol.ExitRoute{ID: 1})
	require.Equal(t, chunk(`\ufffd`), out[0], "what never became a character")
	require.Len(t, out, 2)
}

func TestWorkerRoutes_areTasksUnlessAskedFor(t *testing.T) {
	r := rig{t: t, d: NewWorker(WorkerSettings{Hooks: hooks})}
	require.Contains(t, r.receive(openChannel)[0], "serve 1 duplexChannelOpen")
	r = rig{t: t, d: NewWorker(WorkerSettings{Routes: true})}
	require.Contains(t, r.receive(openChannel)[0], "duplexChannelOpen is not implemented by this plugin")
}

func TestWorkerLog_isStampedAndCut(t *testing.T) {
	w := NewWorker(WorkerSettings{Hooks: []string{methodExecute, "environmentProbe"}})
	r := rig{t: t, d: w}
	r.receive(`{"id":1,"method":"environmentExecute","params":{},"paperclipInvocation":{"id":"i","scope":{"companyId":"c"}}}`)
	r.receive(`{"id":2,"method":"environmentProbe","params":{}}`)
	report := func(id protocol.RequestID, text string) []string {
		return r.step(protocol.Report{ID: id, Item: protocol.LogChunk{Stream: protocol.LogStdout, Text: []byte(text)}.Item()})
	}
	require.Equal(t, []string{`send {"method":"execute.log","params":{"stream":"stdout","chunk":"x\n"},"paperclipInvocationId":"i"}`}, report(1, "x\n"))
	require.Empty(t, report(1, ""))
	require.Empty(t, report(2, "x"), "it runs no command")
	require.Empty(t, report(3, "x"))
	long := report(1, strings.Repeat("€", MaxLogChunk+1))
	require.Len(t, long, 4, "cut by bytes, at characters")
	for _, line := range long {
		require.NotContains(t, line, "\ufffd")
	}
	require.Contains(t, r.step(protocol.Report{ID: 1, Item: raw(`{"stream":"x","chunk":"` + strings.Repeat("x", MaxLogChunk+1) + `"}`)})[0], "dropped log-chunk")
	r.step(protocol.Reply{ID: 1})
	require.Empty(t, report(1, "x"), "it is over")
}

func TestWorkerStreams_knowTheirCompany(t *testing.T) {
	r := rig{t: t, d: NewWorker(WorkerSettings{})}
	tell := func(what protocol.StreamPart, channel, scope string) []string {
		return r.step(Streaming{Stream: protocol.Stream{Streamed: protocol.Streamed{What: what, Channel: channel, Scope: scope, Item: raw("1")}}, Invocation: "i"})
	}
	require.Equal(t, []string{`send {"method":"streams.open","params":{"channel":"a","companyId":"c"},"paperclipInvocationId":"i"}`}, tell(protocol.StreamOpen, "a", "c"))
	require.Equal(t, []string{`send {"method":"streams.emit","params":{"channel":"a","companyId":"c","event":1},"paperclipInvocationId":"i"}`}, tell(protocol.StreamItem, "a", ""))
	require.Equal(t, []string{`send {"method":"streams.close","params":{"channel":"a","companyId":"c"},"paperclipInvocationId":"i"}`}, tell(protocol.StreamClose, "a", ""))
	require.Equal(t, []string{`send {"method":"streams.emit","params":{"channel":"a","companyId":"","event":1},"paperclipInvocationId":"i"}`}, tell(protocol.StreamItem, "a", "c"))
	for i := range MaxStreams {
		tell(protocol.StreamOpen, strings.Repeat("x", i+1), "c")
	}
	require.Equal(t, []string{"dropped stream-limit one more"}, tell(protocol.StreamOpen, "one more", "c"))
}

func TestEnds_haveRoutes(t *testing.T) {
	for _, c := range []struct {
		kind   protocol.RouteKind
		params string
		bytes  string
	}{
		{protocol.RouteDuplex, shell, "\x00\xff€"}, {protocol.RoutePTY, login, "€\r\n\x1b"}, {protocol.RoutePTY, byToken, "a\tb"},
	} {
		w := newWire(t, Plugin{Company: "c"}, WorkerSettings{Routes: true, Hooks: hooks})
		w.At(w.Host, protocol.OpenRoute{ID: 7, Route: protocol.Route{Kind: c.kind, Params: raw(c.params)}})
		require.Contains(t, w.Says()[1], "asked 1 "+string(c.kind)+" c ")
		w.At(w.Worker, protocol.AcceptRoute{ID: 1})
		w.At(w.Worker, protocol.WriteRoute{ID: 1, Data: []byte(c.bytes)})
		w.At(w.Host, protocol.ReadRoute{ID: 7})
		require.Equal(t, []string{"timer 1h0m0s", "opened 7", "chunk 7 " + quoted(c.bytes)}, w.Says())
		w.At(w.Host, protocol.WriteRoute{ID: 7, Data: []byte(c.bytes)})
		require.Equal(t, []string{"chunk 1 " + quoted(c.bytes), "timer 30s"}, w.Says())
		w.At(w.Worker, protocol.TakeRoute{ID: 1, Chunks: 1})
		w.At(w.Host, protocol.StopRoute{ID: 7})
		w.At(w.Worker, protocol.ExitRoute{ID: 1, Exit: protocol.Exit{Code: 130, HasCode: true}})
		w.At(w.Host, protocol.CloseRoute{ID: 7})
		w.At(w.Worker, protocol.CloseRoute{ID: 1})
		says := strings.Join(w.Says(), "\n")
		for _, line := range []string{"written 7 1 ", "routestopped {1}", "exited 7 130", "ended 7 ok", "routeclosing {1}"} {
			require.Contains(t, says, line)
		}
		require.True(t, strings.HasSuffix(says, "routeclosed {7}"), says)
	}
}

// The worker takes all that its host has room for, wherever a text is cut, also what is none:
// what it refuses would be missing in the midst of it.
func TestEnds_theRoomOfATextIsTheWorkersToo(t *testing.T) {
	const limit = 12
	for size := 1; size <= limit; size++ {
		for _, text := range []string{strings.Repeat("a€😀ü", 30), strings.Repeat("\xf0\x9f\xff\x80a€", 30)} {
			limits := RouteLimits{Unanswered: limit, Write: limit}
			w := newWire(t, Plugin{Company: "c", Limits: Limits{PTY: limits}}, WorkerSettings{Routes: true, Hooks: hooks, Limits: limits})
			var room, left protocol.Room
			owed, got := 0, ""
			w.Line = func(e protocol.Effect) string {
				switch e := e.(type) {
				case protocol.RouteOpened:
					room, left = e.Room, e.Room
				case protocol.RouteWritten:
					left.Bytes += e.Bytes
				case protocol.RouteEnded:
					require.NoError(t, e.Err)
				case protocol.Chunk:
					owed, got = owed+1, got+string(e.Data)
				}
				return ""
			}
			w.At(w.Host, protocol.OpenRoute{ID: 7, Route: protocol.Route{Kind: protocol.RoutePTY, Params: raw(login)}})
			w.At(w.Worker, protocol.AcceptRoute{ID: 1})
			for rest := []byte(text); len(rest) > 0 || owed > 0; {
				if n := min(size, len(rest), room.Write, left.Bytes); n > 0 {
					left.Bytes -= n
					w.At(w.Host, protocol.WriteRoute{ID: 7, Data: rest[:n]})
					rest = rest[n:]
					continue
				}
				owed--
				w.At(w.Worker, protocol.TakeRoute{ID: 1, Chunks: 1})
			}
			require.Equal(t, string([]rune(text)), got, "%d bytes at a time", size)
		}
	}
}

func TestEnds_logWhatACommandWrites(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Hooks: hooks})
	w.At(w.Host, protocol.Invoke{ID: 1, Follows: true, Call: protocol.Call{Key: "environment:e.execute", Scope: "c", Input: raw(`{}`)}})
	task := w.task()
	require.True(t, task.Follows)
	chunk := protocol.LogChunk{Stream: protocol.LogStderr, Text: []byte("<€>\n")}
	w.At(w.Worker, protocol.Report{ID: task.ID, Item: chunk.Item()})
	w.At(w.Worker, Streaming{Stream: protocol.Stream{Streamed: protocol.Streamed{What: protocol.StreamOpen, Channel: "ch", Scope: "c"}}, Invocation: task.Invocation})
	w.At(w.Worker, protocol.Reply{ID: task.ID, Result: raw(`{"exitCode":0}`)})
	require.Equal(t, []string{`progress 1 {"stream":"stderr","chunk":"<€>\n"}`, "stream 1 ch c", `complete 1 ok {"exitCode":0}`}, w.Says())
}
