package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

const (
	initComplete = `{"type":"init-complete"}`
	initFrame    = `{"type":"init","manifest":{"id":"told"},"context":{"config":{"greeting":"Hello"}}}`
)

// model is a plugin with one model, M, that answers with its input.
func model() *plugin.Definition {
	p := plugin.Define("p")
	plugin.Model(p, "M", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	return p
}

const announceModel = `{"type":"worker-announce-plugin","descriptor":{"name":"p","mode":"remote","models":{"M":{"rpc":true,"id":"model:M:1"}}}}`

func TestServeEliza_announcesFirst(t *testing.T) {
	l, served, _ := newElizaLines(t.Context(), t, model(), plugin.ElizaOptions{})
	require.Equal(t, announceModel, l.next(), "before the host has said anything")
	require.Equal(t, initComplete, l.next())
	require.NoError(t, l.in.Close())
	require.NoError(t, <-served)
}

// The hooks wait for the configuration; a host that sends none lets them wait for a second.
func TestServeEliza_hooksWaitForTheConfiguration(t *testing.T) {
	hooked := func(ran *[]string) *plugin.Definition {
		p := model()
		hook := func(name string) plugin.Hook {
			return func(_ context.Context, s *plugin.Session) error {
				var config struct{ Greeting string }
				err := s.Config(&config)
				*ran = append(*ran, name+" "+config.Greeting+" "+s.Plugin())
				return err
			}
		}
		return p.OnInit(hook("init")).OnSetup(hook("setup")).OnStop(hook("stop"))
	}
	synctest.Test(t, func(t *testing.T) {
		var ran []string
		l, served, _ := newElizaLines(t.Context(), t, hooked(&ran), plugin.ElizaOptions{})
		l.next()
		synctest.Wait()
		require.Empty(t, ran)
		l.send(initFrame)
		require.Equal(t, initComplete, l.next())
		require.Equal(t, []string{"init Hello told", "setup Hello told"}, ran)
		l.send(strings.Replace(initFrame, "Hello", "Hi", 1))
		synctest.Wait()
		require.Equal(t, "setup Hi told", ran[2], "another configuration")
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
		require.Equal(t, "stop Hi told", ran[3])
	})
	synctest.Test(t, func(t *testing.T) {
		var ran []string
		began := time.Now()
		l, served, _ := newElizaLines(t.Context(), t, hooked(&ran), plugin.ElizaOptions{Name: "named"})
		l.next()
		require.Equal(t, initComplete, l.next())
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, []string{"init  named", "setup  named"}, ran)
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
	})
	synctest.Test(t, func(t *testing.T) {
		var ran []string
		began := time.Now()
		l, served, _ := newElizaLines(t.Context(), t, hooked(&ran), plugin.ElizaOptions{})
		l.next()
		l.send(`{"type":"worker-rpc","requestId":1,"surface":"model","target":"model:M:1","args":{"params":1}}`)
		got := l.next() + l.next()
		require.Contains(t, got, initComplete)
		require.Contains(t, got, `"requestId":1,"ok":true,"payload":1`, "who calls is served at once, and sends no init")
		require.Zero(t, time.Since(began))
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
	})
}

func TestServeEliza_aFailedStartIsTold(t *testing.T) {
	for _, hook := range []plugin.Hook{
		func(context.Context, *plugin.Session) error { return errors.New("no key for the sky") },
		func(context.Context, *plugin.Session) error { panic("no key for the sky") },
	} {
		h := newElizaHost(t, eliza.Plugin{}).serveEliza(t.Context(), model().OnSetup(hook), plugin.ElizaOptions{})
		require.ErrorContains(t, h.start(`{"manifest":{"id":"tested"},"context":{"config":{}}}`), "no key for the sky")
		require.ErrorContains(t, <-h.served, "the start: ")
	}
}

// What the hooks offer is announced with the end of init, and what is offered later at once.
func TestServeEliza_announcesWhatIsAdded(t *testing.T) {
	sessions := make(chan *plugin.Session, 1)
	nothing := func(context.Context, any) (any, error) { return "nothing", nil }
	p := model().OnSetup(func(_ context.Context, s *plugin.Session) error {
		plugin.Model(s, "M", func(context.Context, any) (any, error) { return "newer", nil })
		plugin.Model(s, "GONE", nothing)
		require.NoError(t, s.Withdraw("model:GONE"))
		plugin.Action(s, "A", func(context.Context, plugin.Invocation[any]) (any, error) { return nil, nil },
			plugin.Validate(func(context.Context, plugin.Turn) (bool, error) { return true, nil }))
		plugin.On(s, "e", func(context.Context, any) error { return nil })
		sessions <- s
		return nil
	})
	h := newElizaHost(t, eliza.Plugin{})
	told := h.hears()
	h.serveEliza(t.Context(), p, plugin.ElizaOptions{}).begun()
	require.Equal(t, []string{"model:M", "action:A", "action:A.validate", "event:e"}, told.list())
	h.want("model:M", `1`, `"newer"`)
	h.want("action:A.validate", `{}`, `true`)

	s := <-sessions
	plugin.Evaluator(s, "LATE", func(context.Context, plugin.Turn) (int, error) { return 7, nil },
		plugin.Validate(func(context.Context, plugin.Turn) (bool, error) { return true, nil }))
	told.await("evaluator:LATE.validate")
	h.want("evaluator:LATE", `{}`, `7`)
	h.want("evaluator:LATE.validate", `{}`, `true`)
	require.Equal(t, []string{"evaluator:LATE", "evaluator:LATE.validate"}, told.list()[4:])
	wantCode(t, s.Withdraw("evaluator:LATE"), protocol.CodeNotFound,
		"plugin tested: evaluator:LATE: it is announced, and an elizaOS host has no call to take it back")
	require.NoError(t, s.Withdraw("model:NONE"))
	require.NoError(t, h.close())
}

func TestServeEliza_refusesWhatTheHostHasNoCallFor(t *testing.T) {
	const none = "an elizaOS host has no call for it: expected one of the kinds action, provider, evaluator, model, service, event and http"
	refused := map[string]string{
		"tool:t": none, "data:d": none, "some:key": none, "service:clock": "expected service:TYPE.method",
		"http:HEAD /x": "an elizaOS host knows no such endpoint: expected one of GET, POST, PUT, PATCH, DELETE and a path",
	}
	early := model()
	for key, why := range refused {
		plugin.Handle(early, key, nil)
		p := model().OnSetup(func(_ context.Context, s *plugin.Session) error {
			plugin.Handle(s, key, nil)
			return nil
		})
		h := newElizaHost(t, eliza.Plugin{}).serveEliza(t.Context(), p, plugin.ElizaOptions{})
		require.ErrorContains(t, h.start(`{"manifest":{"id":"tested"},"context":{}}`), "offering "+key+": plugin tested: "+key+": "+why)
		require.Error(t, <-h.served)
	}
	l, served, log := newElizaLines(t.Context(), t, early, plugin.ElizaOptions{})
	require.Contains(t, l.next(), `"models":{"M"`)
	require.Equal(t, initComplete, l.next())
	require.NoError(t, l.in.Close())
	require.NoError(t, <-served)
	for key, why := range refused {
		require.Contains(t, log.String(), `msg="the host cannot call this" key=`, key)
		require.Contains(t, log.String(), why)
	}
}

// The wire has one priority for all that is announced at once.
func TestServeEliza_priorities(t *testing.T) {
	p, none := plugin.Define("p"), func(context.Context, any) (any, error) { return nil, nil }
	plugin.Tool(p, "first", func(context.Context, any) (plugin.Result, error) { return plugin.Result{}, nil }, plugin.Priority(9))
	for name, rank := range map[string]int{"A": 3, "B": 3} {
		plugin.Model(p, name, none, plugin.Priority(rank))
	}
	plugin.Model(p, "C", none, plugin.Priority(-1))
	plugin.Model(p, "D", none)
	p.OnSetup(func(_ context.Context, s *plugin.Session) error {
		plugin.Model(s, "E", none, plugin.Priority(5))
		return nil
	})
	h := newElizaHost(t, eliza.Plugin{})
	told := h.hears()
	h.serveEliza(t.Context(), p, plugin.ElizaOptions{}).begun()
	for name, rank := range map[string]int{"A": 3, "B": 3, "C": -1, "D": 0, "E": 5} {
		require.Equal(t, rank, told.all["model:"+name].Priority, name)
	}
	require.NoError(t, h.close())
	require.Empty(t, h.dropped)
}

// What runs when the host closes its end comes to its end within a limit, and is answered;
// then contexts end.
func TestServeEliza_settlesAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, stopped := plugin.Define("p"), time.Time{}
		plugin.Model(p, "SHORT", func(ctx context.Context, _ any) (string, error) {
			time.Sleep(500 * time.Millisecond)
			return "done", ctx.Err()
		})
		plugin.Model(p, "LONG", func(ctx context.Context, _ any) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		p.OnStop(func(context.Context, *plugin.Session) error {
			stopped = time.Now()
			return errors.New("could not save")
		})
		call := func(l *lines, n, of string) {
			l.send(`{"type":"worker-rpc","requestId":` + n + `,"surface":"model","target":"` + of + `","args":{}}`)
		}
		l, served, log := newElizaLines(t.Context(), t, p, plugin.ElizaOptions{})
		l.next()
		require.Equal(t, initComplete, l.next())
		call(l, "1", "model:SHORT:1")
		began := time.Now()
		require.NoError(t, l.in.Close())
		require.Contains(t, l.next(), `"ok":true,"payload":"done"`)
		require.NoError(t, <-served)
		require.Equal(t, 500*time.Millisecond, time.Since(began))
		require.Equal(t, time.Now(), stopped)
		require.Contains(t, log.String(), "could not save")

		l, served, _ = newElizaLines(t.Context(), t, p, plugin.ElizaOptions{Settle: 2 * time.Second})
		l.next()
		l.next()
		call(l, "2", "model:LONG:2")
		synctest.Wait()
		began = time.Now()
		require.NoError(t, l.in.Close())
		require.Contains(t, l.next(), `"ok":false,"error":{"name":"Error","message":"context canceled"}`)
		require.NoError(t, <-served)
		require.Equal(t, 2*time.Second, stopped.Sub(began), "the hook runs when the time to settle is over")
	})
}

func TestServeEliza_endsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := newElizaHost(t, eliza.Plugin{}).serveEliza(ctx, model(), plugin.ElizaOptions{}).begun()
	cancel()
	require.NoError(t, <-h.served)
	<-h.gone
}

func TestServeEliza_limitsFrames(t *testing.T) {
	l, served, _ := newElizaLines(t.Context(), t, model(), plugin.ElizaOptions{MaxRecord: 1000})
	l.next()
	l.next()
	l.send(`{"type":"worker-rpc","requestId":1,"surface":"model","target":"model:M:1","args":{"params":"` + strings.Repeat("x", 880) + `"}}`)
	require.Contains(t, l.next(), `"payload":"xxx`)
	go l.send(strings.Repeat("x", 1001)) // it is not read to its end
	require.ErrorContains(t, <-served, "reading from the host: ")

	p := plugin.Define("p")
	plugin.Stream(p, "model:M", func(_ context.Context, _ any, emit func(string) error) error {
		return emit(strings.Repeat("x", 2000))
	})
	plugin.Model(p, "N", func(context.Context, any) (string, error) { return strings.Repeat("x", 2000), nil })
	h := newElizaHost(t, eliza.Plugin{}).serveEliza(t.Context(), p, plugin.ElizaOptions{MaxRecord: 1000}).begun()
	_, failure := h.call("model:N", `1`)
	require.Equal(t, "tested: the answer: a frame of 2065 bytes is above the limit of 1000: send less, or in parts", failure)
}

func TestServeEliza_failsWhenTheHostIsGone(t *testing.T) {
	p := plugin.Define("p")
	l, served, _ := newElizaLines(t.Context(), t, p, plugin.ElizaOptions{})
	l.close()
	require.ErrorContains(t, <-served, "writing to the host: ")
}

// Both ends have a channel.
func TestServeEliza_eventsBothWays(t *testing.T) {
	heard := make(chan string, 8)
	listening := func(begin func(*plugin.Session) error) *plugin.Definition {
		return model().OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Listen(func(e protocol.Event) {
				payload, _ := e.JSON()
				heard <- e.Name + string(payload)
				if e.Name == "stuck" {
					panic("boom")
				}
			})
			return begin(s)
		})
	}
	p := listening(func(s *plugin.Session) error { return s.Send("bad", make(chan int)) })
	h := newElizaHost(t, eliza.Plugin{}).serveEliza(t.Context(), p, plugin.ElizaOptions{})
	require.ErrorContains(t, h.start(`{"context":{}}`), "the payload of bad: json: unsupported type")
	require.Error(t, <-h.served)

	p = listening(func(s *plugin.Session) error { return s.Send("hello", 1) })
	h = newElizaHost(t, eliza.Plugin{})
	told := h.hears()
	h.serveEliza(t.Context(), p, plugin.ElizaOptions{}).begun()
	require.Equal(t, []string{"hello 1"}, told.heard())
	for _, name := range []string{"stuck", "next"} {
		h.step(protocol.Emit{Event: protocol.Event{Name: name, Payload: 2}})
		require.Equal(t, name+"2", <-heard)
	}
	require.NoError(t, h.close())
}

// A call is taken once, rightly signed; whatever is not is told to the audit.
func TestServeEliza_checksSignatures(t *testing.T) {
	key := []byte("k")
	var denied []eliza.Denial
	o := plugin.ElizaOptions{Key: key, ReplayWindow: 64, Denied: func(d eliza.Denial) { denied = append(denied, d) }}
	l, served, _ := newElizaLines(t.Context(), t, model(), o)
	l.next()
	l.next()
	frame := func(n, args string) string {
		m := eliza.RPC{RequestID: json.RawMessage(n), Surface: json.RawMessage(`"model"`), Target: json.RawMessage(`"model:M:1"`), Args: json.RawMessage(`{"params":1}`)}
		mac, err := eliza.Sign(key, m)
		require.NoError(t, err)
		return `{"type":"worker-rpc","requestId":` + n + `,"surface":"model","target":"model:M:1","args":` + args + `,"mac":` + string(mac) + `}`
	}
	for _, c := range []struct{ frame, want string }{
		{frame("1", `{"params":1}`), `"ok":true,"payload":1`},
		{frame("1", `{"params":1}`), `"message":"Worker RPC message came before, or is too old","code":"RPC_AUTH_FAILED"`},
		{frame("2", `{"params":2}`), `"message":"Worker RPC message MAC missing or invalid","code":"RPC_AUTH_FAILED"`},
		{frame("100", `{"params":1}`), `"ok":true`},
		{frame("3", `{"params":1}`), `came before, or is too old`},
		{`{"type":"worker-rpc","requestId":101,"surface":"model","target":"model:M:1","args":{}}`, `MAC missing`},
	} {
		l.send(c.frame)
		require.Contains(t, l.next(), c.want, c.frame)
	}
	require.NoError(t, l.in.Close())
	require.NoError(t, <-served)
	require.Len(t, denied, 4)
}

// Without anybody to tell, a denial is a line of the log.
func TestServeEliza_keepsToItsPermissions(t *testing.T) {
	p := model()
	plugin.Action(p, "A", func(context.Context, plugin.Invocation[any]) (any, error) { return nil, nil })
	l, served, log := newElizaLines(t.Context(), t, p, plugin.ElizaOptions{})
	l.next()
	require.Equal(t, initComplete, l.next())
	l.send(`{"type":"init","manifest":{"id":"told"},"context":{"grantedPermissions":{"bun":{"read":true}}}}`)
	l.send(`{"type":"worker-rpc","requestId":1,"surface":"model","target":"model:M:2","args":{"params":1}}`)
	require.Contains(t, l.next(), `"ok":true`)
	l.send(`{"type":"worker-rpc","requestId":2,"surface":"action","target":"action:A:1","args":{}}`)
	require.Contains(t, l.next(), `"name":"PermissionDeniedError","message":"Plugin p not granted permission for surface action","code":"PERMISSION_DENIED"`)
	require.NoError(t, l.in.Close())
	require.NoError(t, <-served)
	require.Contains(t, log.String(), `level=WARN msg=denied plugin=p surface=action target=action:A:1 permission="bun:run | host:*"`)
}

// What the host writes and nobody can use is told, and harms nobody.
func TestServeEliza_passesOverWhatItDoesNotKnow(t *testing.T) {
	l, served, log := newElizaLines(t.Context(), t, model(), plugin.ElizaOptions{})
	l.next()
	l.next()
	for _, line := range []string{"noise", "", `[]`, `{"type":"request","requestId":1}`, `{"type":"host-rpc-result","requestId":9,"ok":true}`} {
		l.send(line)
	}
	l.send(`{"type":"worker-rpc","requestId":1,"surface":"model","target":"model:M:1","args":{}}`)
	require.Contains(t, l.next(), `"ok":true,"payload":null`)
	require.NoError(t, l.in.Close())
	require.NoError(t, <-served)
	require.Equal(t, 4, strings.Count(log.String(), "something was not used"), log.String())
}

// Of a flood the log has the beginning, and the count.
func TestServeEliza_thinsOutWhatItPassesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, served, log := newElizaLines(t.Context(), t, model(), plugin.ElizaOptions{})
		l.next()
		l.next()
		for range 100 {
			l.send("noise")
		}
		synctest.Wait()
		time.Sleep(protocol.StrayPause)
		l.send("noise")
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
		require.Equal(t, protocol.StrayBurst+1, strings.Count(log.String(), "something was not used"))
		require.Contains(t, log.String(), "count=101")
	})
}

// However often the host changes its mind, one hook waits for the newest configuration.
func TestServeEliza_takesTheNewestConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran []string
		stuck := make(chan struct{})
		p := model().OnSetup(func(_ context.Context, s *plugin.Session) error {
			var config struct{ Greeting string }
			err := s.Config(&config)
			if ran = append(ran, config.Greeting); len(ran) == 1 {
				<-stuck
				return err
			}
			return errors.New("not that") // which is no end of a plugin that runs
		})
		l, served, log := newElizaLines(t.Context(), t, p, plugin.ElizaOptions{})
		l.next()
		for _, word := range []string{"a", "b", "c", "d"} {
			l.send(strings.Replace(initFrame, "Hello", word, 1))
			synctest.Wait()
		}
		close(stuck)
		require.Equal(t, initComplete, l.next())
		synctest.Wait()
		require.Equal(t, []string{"a", "d"}, ran)
		require.Contains(t, log.String(), `msg="the configuration could not be taken" error="not that"`)
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
	})
}

// Whoever listens and does not return keeps so many events, and the rest is counted.
func TestServeEliza_boundsTheEventsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, stuck := 0, make(chan struct{})
		p := model().OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Listen(func(protocol.Event) {
				heard++
				<-stuck
			})
			return nil
		})
		l, served, log := newElizaLines(t.Context(), t, p, plugin.ElizaOptions{MaxPending: 2, InitWait: time.Nanosecond})
		l.next()
		l.next()
		for range 5 {
			l.send(`{"type":"event","name":"e"}`)
			synctest.Wait()
		}
		close(stuck)
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
		require.Equal(t, 3, heard)
		require.Equal(t, 2, strings.Count(log.String(), "too many wait"))
	})
}

func TestServeEliza_handlersWaitForAHostThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := 0
		p := plugin.Define("talker")
		plugin.Stream(p, "model:M", func(_ context.Context, _ any, emit func(string) error) error {
			for range 100 {
				if err := emit(strings.Repeat("x", 100)); err != nil {
					return err
				}
				said++
			}
			return nil
		})
		l, served, _ := newElizaLines(t.Context(), t, p, plugin.ElizaOptions{QueueBytes: 1000})
		l.next()
		l.next()
		l.send(`{"type":"worker-rpc","requestId":1,"surface":"model","target":"model:M:1","args":{},"streamReply":true}`)
		synctest.Wait()
		require.Less(t, said, 20, "the handler waits")
		require.Contains(t, l.next(), `"streamId"`)
		for range 100 {
			require.Contains(t, l.next(), `"type":"stream-chunk"`, "and nothing of it is lost")
		}
		require.Contains(t, l.next(), `"type":"stream-end"`)
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
	})
}
