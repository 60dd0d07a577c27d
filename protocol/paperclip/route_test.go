package paperclip

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

// Parameters to open routes with.
const (
	place   = `"driverKey":"d","environmentId":"e","providerLeaseId":"l"`
	shell   = `{` + place + `,"command":["sh","-c","true"]}`
	login   = `{` + place + `,"loginCommandKey":"claude"}`
	byToken = `{` + place + `,"command":"claude setup-token"}`
)

// newRouteRig makes a host's end whose worker has the methods.
func newRouteRig(t *testing.T, l Limits, methods ...string) rig {
	t.Helper()
	r := newRig(t, Plugin{Company: "c", Limits: l}, protocol.Settings{})
	if len(methods) > 0 {
		r.step(protocol.Run{Step: protocol.StepSetup, Params: raw(initialize)})
		r.receive(`{"id":1,"result":{"ok":true,"supportedMethods":["` + strings.Join(methods, `","`) + `"]}}`)
	}
	return r
}

func (r rig) open(id protocol.RouteID, kind protocol.RouteKind, params string) []string {
	r.t.Helper()
	return r.step(protocol.OpenRoute{ID: id, Route: protocol.Route{Kind: kind, Params: raw(params)}})
}

// channel opens a channel as route 1, and gives it a reader: its request is number 1, and its
// session is s.
func (r rig) channel() {
	r.t.Helper()
	r.open(1, protocol.RouteDuplex, shell)
	require.Equal(r.t, []string{"timer 1h0m0s", "opened 1"}, r.receive(`{"id":1,"result":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`))
	require.Empty(r.t, r.step(protocol.ReadRoute{ID: 1}))
}

// data is a chunk of that channel.
func (r rig) data(literal string) []string {
	r.t.Helper()
	return r.receive(`{"method":"duplexChannel.data","params":{"hostRouteId":"duplex-route-1","workerSessionId":"s","chunk":` + literal + `}}`)
}

func TestRoutes_areAskedForInTheWordsOfTheRelease(t *testing.T) {
	scope := `"companyId":"c","environmentId":"e","providerLeaseId":"l"`
	inv := func(id string) string {
		return `,"paperclipInvocation":{"id":"` + id + `","scope":{"companyId":"c"}}}`
	}
	r := newRouteRig(t, Limits{})
	require.Equal(t, []string{
		"timer 30s",
		`send {"id":1,"method":"duplexChannelOpen","params":{"hostRouteId":"duplex-route-1","driverKey":"d",` + scope + `,"command":["sh","-c","true"]}` + inv("id-1"),
	}, r.open(1, protocol.RouteDuplex, shell))
	require.Equal(t, `send {"id":2,"method":"setupTokenPtyOpen","params":{"hostRouteId":"id-2","driverKey":"d",`+scope+`,"command":"claude setup-token"}`+inv("id-3"),
		r.open(2, protocol.RoutePTY, byToken)[1], "by a command, where nobody knows the release")
	home := `,"sessionHome":"/tmp/paperclip-adapter-login/0f0e0d0c-1234-4321-8888-0123456789ab"`
	require.Equal(t, `send {"id":3,"method":"loginPtyOpen","params":{"hostRouteId":"id-4","driverKey":"d",`+scope+`,"loginCommandKey":"codex"`+home+`}`+inv("id-5"),
		r.open(3, protocol.RoutePTY, `{`+place+`,"loginCommandKey":"codex"`+home+`}`)[1])

	newer := newRouteRig(t, Limits{}, "loginPtyOpen")
	for id, params := range []string{byToken, login} {
		require.Regexp(t, `"method":"loginPtyOpen".*"loginCommandKey":"claude","sessionHome":"/tmp/paperclip-adapter-login/[-0-9a-f]{36}"`,
			newer.open(protocol.RouteID(id), protocol.RoutePTY, params)[1])
	}
	both := newRouteRig(t, Limits{}, "loginPtyOpen", "setupTokenPtyOpen", "duplexChannelOpen")
	both.open(1, protocol.RouteDuplex, shell)
	both.receive(`{"id":2,"result":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`)
	require.Contains(t, both.step(protocol.WriteRoute{ID: 1, Data: []byte("x")})[0], `"data":"eA=="`, "one that has both is no older one")
	older := newRouteRig(t, Limits{}, "setupTokenPtyOpen")
	require.Contains(t, older.open(1, protocol.RoutePTY, login)[1], `"method":"setupTokenPtyOpen"`)
}

func TestRoutes_areRefusedBeforeAnyFrame(t *testing.T) {
	for name, c := range map[string]struct {
		kind   protocol.RouteKind
		params string
		want   string
	}{
		"another kind":        {"log", shell, `not-found: plugin lab: a route of the kind "log": expected pty or duplex`},
		"no object":           {protocol.RouteDuplex, `7`, "invalid: plugin lab: the input of duplex: expected an object with what to open"},
		"no lease":            {protocol.RouteDuplex, `{"driverKey":"d","environmentId":"e","command":["x"]}`, "invalid: plugin lab: the input of duplex: providerLeaseId: expected a string"},
		"no command":          {protocol.RouteDuplex, `{` + place + `}`, "invalid: plugin lab: the input of duplex: command: expected a list of strings, the program first"},
		"no program":          {protocol.RouteDuplex, `{` + place + `,"command":[]}`, "invalid: plugin lab: the input of duplex: command: expected a list of strings, the program first"},
		"a number in it":      {protocol.RouteDuplex, `{` + place + `,"command":["x",1,"y"]}`, "invalid: plugin lab: the input of duplex: command: expected a list of strings, the program first"},
		"another command":     {protocol.RoutePTY, `{` + place + `,"command":"rm -rf /"}`, `invalid: plugin lab: the input of pty: expected the command "claude setup-token" or the loginCommandKey "claude", which is all that the plugin's release allows (SETUP_TOKEN_PTY_COMMAND_NOT_ALLOWED)`},
		"another login":       {protocol.RoutePTY, `{` + place + `,"loginCommandKey":"bash"}`, "invalid: plugin lab: the input of pty: loginCommandKey: expected one of claude, codex, grok (LOGIN_PTY_COMMAND_NOT_ALLOWED)"},
		"another home":        {protocol.RoutePTY, `{` + place + `,"loginCommandKey":"grok","sessionHome":"/tmp/paperclip-adapter-login/../x"}`, "invalid: plugin lab: the input of pty: sessionHome: expected /tmp/paperclip-adapter-login/UUID, or nothing (LOGIN_PTY_INVALID_SESSION_HOME)"},
		"a home with a tail":  {protocol.RoutePTY, `{` + place + `,"loginCommandKey":"grok","sessionHome":"/tmp/paperclip-adapter-login/0f0e0d0c-1234-4321-8888-0123456789ab\n"}`, "invalid: plugin lab: the input of pty: sessionHome: expected /tmp/paperclip-adapter-login/UUID, or nothing (LOGIN_PTY_INVALID_SESSION_HOME)"},
		"another's company":   {protocol.RouteDuplex, `{` + place + `,"companyId":"x","command":["x"]}`, `invalid: plugin lab: the input of duplex: companyId: expected "c", the route's scope, or nothing`},
		"no company anywhere": {protocol.RouteDuplex, shell, "invalid: plugin lab: duplex needs a company and has none: give the call a scope, or the host a default one"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Plugin{}, protocol.Settings{})
			scope := "c"
			if strings.HasPrefix(name, "no company") {
				scope = ""
			}
			require.Equal(t, []string{"refused 1 error " + c.want, "routeclosed {1}"},
				r.step(protocol.OpenRoute{ID: 1, Route: protocol.Route{Kind: c.kind, Scope: scope, Params: raw(c.params)}}))
		})
	}
}

func TestRoutes_shareACeiling(t *testing.T) {
	shared := NewRoutes(2)
	newDriver := func() rig {
		return rig{t: t, d: Dialect{Shared: shared, Plugin: func(protocol.Settings) Plugin { return Plugin{Company: "c"} }}.NewDriver(protocol.Settings{Plugin: "lab"})}
	}
	a, b := newDriver(), newDriver()
	require.Contains(t, a.open(1, protocol.RouteDuplex, shell)[1], `"hostRouteId":"duplex-route-1"`)
	b.open(1, protocol.RoutePTY, login)
	full := "error overloaded: plugin lab: all plugins together have 2 routes, the limit (routes.open): open it again later, or raise it "
	require.Equal(t, []string{"refused 2 " + full + "(DUPLEX_CHANNEL_ROUTE_BUSY)", "routeclosed {2}"}, a.open(2, protocol.RouteDuplex, shell))
	require.Equal(t, []string{"refused 2 " + full + "(LOGIN_PTY_ROUTES_AT_CAPACITY)", "routeclosed {2}"}, b.open(2, protocol.RoutePTY, login))
	require.Contains(t, b.open(3, protocol.RoutePTY, byToken)[1], "setupTokenPtyOpen", "one a worker is bound enough")
	require.Equal(t, 2, shared.Open())

	a.step(protocol.CloseRoute{ID: 1})
	require.Equal(t, 1, shared.Open(), "a channel's share is free when it has ended")
	b.step(protocol.CloseRoute{ID: 1})
	require.Equal(t, 1, shared.Open(), "a terminal's when that is confirmed")
	require.Contains(t, b.open(4, protocol.RouteDuplex, shell)[1], `"hostRouteId":"duplex-route-2"`, "numbers are the host's")
	b.step(protocol.Closed{})
	require.Zero(t, shared.Open())
	require.Equal(t, MaxRoutes, NewRoutes(0).Limit())
}

func TestRoutes_oneSetupTokenTerminalAtATime(t *testing.T) {
	r := newRouteRig(t, Limits{})
	r.open(1, protocol.RoutePTY, byToken)
	busy := []string{"refused 2 error overloaded: plugin lab: the plugin's release has one pseudo-terminal at a time, and it is in use: close it first (SETUP_TOKEN_PTY_ROUTE_BUSY)", "routeclosed {2}"}
	require.Equal(t, busy, r.open(2, protocol.RoutePTY, byToken))
	require.Equal(t, []string{
		"refused 1 error cancelled: the route was closed before plugin lab had opened it",
		"timer 10s", `send {"id":2,"method":"setupTokenPtyClose","params":{"hostRouteId":"id-1"}}`,
	}, r.step(protocol.CloseRoute{ID: 1}))
	require.Equal(t, busy, r.open(2, protocol.RoutePTY, byToken), "until it is confirmed")
	require.Equal(t, []string{"dropped late-answer 1"}, r.receive(`{"id":1,"result":{"workerSessionId":"s"}}`))
	require.Equal(t, []string{"routeclosed {1}"}, r.receive(`{"id":2,"result":{"hostRouteId":"id-1"}}`))
	require.Contains(t, r.open(2, protocol.RoutePTY, byToken)[1], "setupTokenPtyOpen")
}

func TestRoutes_openIsAnsweredWrongly(t *testing.T) {
	for answer, want := range map[string]string{
		`"result":{}`: "wire: plugin lab: duplexChannelOpen: expected a workerSessionId (DUPLEX_CHANNEL_OPEN_FAILED)",
		`"result":{"hostRouteId":"duplex-route-1","workerSessionId":" "}`:                                "wire: plugin lab: duplexChannelOpen: expected a workerSessionId (DUPLEX_CHANNEL_OPEN_FAILED)",
		`"result":{"workerSessionId":"s"}`:                                                               "wire: plugin lab: duplexChannelOpen: expected the hostRouteId duplex-route-1 back (DUPLEX_CHANNEL_OPEN_FAILED)",
		`"result":{"hostRouteId":"duplex-route-1","workerSessionId":"` + strings.Repeat("s", 257) + `"}`: "wire: plugin lab: duplexChannelOpen: the bytes of the workerSessionId: more than 256, the limit (session.name) (DUPLEX_CHANNEL_OPEN_FAILED)",
		`"error":null`:                           `wire: plugin lab: Unexpected response format for "duplexChannelOpen": expected a result, or an error that is an object`,
		`"error":{"code":-32002,"message":"no"}`: "no",
	} {
		r := newRouteRig(t, Limits{})
		r.open(1, protocol.RouteDuplex, shell)
		require.Equal(t, []string{
			"refused 1 error " + want, "timer 10s", `send {"id":2,"method":"duplexChannelClose","params":{"hostRouteId":"duplex-route-1"}}`,
		}, r.receive(`{"id":1,`+answer+`}`))
		require.Equal(t, []string{"routeclosed {1}"}, r.receive(`{"id":2,"result":{"hostRouteId":"duplex-route-1"}}`), "it had no session yet")
	}
	r := newRouteRig(t, Limits{})
	r.open(1, protocol.RouteDuplex, shell)
	require.Contains(t, r.receive(`{"id":"1","result":{}}`)[0], `refused 1 error wire: plugin lab: duplexChannelOpen was answered under the id "1", a string; expected the number 1`)
}

// A name that is padded with white space is trimmed, and that is not kept either.
func TestRoutes_keepNothingButTheNamesOfSessions(t *testing.T) {
	r := newRouteRig(t, Limits{})
	padded := `"` + strings.Repeat(" ", 1<<20) + `s"`
	require.Less(t, protocoltest.Held(func() any {
		for id := range protocol.RouteID(32) {
			r.open(id+1, protocol.RouteDuplex, shell)
			require.Contains(t, r.receive(fmt.Sprintf(`{"id":%d,"result":{"hostRouteId":"duplex-route-%d","workerSessionId":%s}}`, id+1, id+1, padded)),
				fmt.Sprintf("opened %d", id+1))
		}
		return r
	}), int64(8<<20))
}

func TestRoutes_writesGiveTheirRoomBack(t *testing.T) {
	r := newRouteRig(t, Limits{})
	r.channel()
	require.Equal(t, []string{
		`send {"id":2,"method":"duplexChannelWrite","params":{"hostRouteId":"duplex-route-1","workerSessionId":"s","data":"AP8="}}`, "timer 30s",
	}, r.step(protocol.WriteRoute{ID: 1, Data: []byte{0, 255}}))
	require.Len(t, r.step(protocol.WriteRoute{ID: 1, Data: []byte("abc")}), 1, "one timer for all")
	require.Equal(t, []string{"written 1 1 3"}, r.receive(`{"id":3,"error":{"code":-32002,"message":"whatever"}}`))
	require.Equal(t, []string{`send {"id":4,"method":"duplexChannelStop","params":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`}, r.step(protocol.StopRoute{ID: 1}))
	require.Empty(t, r.step(protocol.StopRoute{ID: 1}), "it is asked already")
	require.Empty(t, r.receive(`{"id":4,"result":null}`))

	d, ok := r.d.(*driver)
	require.True(t, ok)
	fire := protocol.Fired{Timer: d.routes.byID[1].timer(answerTimer)}
	require.Equal(t, []protocol.Effect{protocol.RouteWritten{ID: 1, Writes: 1, Bytes: 2}}, d.Step(now.Add(30*time.Second), fire, nil))
	require.Equal(t, []string{"dropped late-answer 2"}, r.receive(`{"id":2,"result":null}`))
	require.Empty(t, d.Step(now.Add(time.Minute), fire, nil))
}

func TestRoutes_waitForEachWriteByItself(t *testing.T) {
	r := newRouteRig(t, Limits{Duplex: RouteLimits{Answer: 10 * time.Second}})
	r.channel()
	d, ok := r.d.(*driver)
	require.True(t, ok)
	r.step(protocol.WriteRoute{ID: 1, Data: []byte("a")})
	d.Step(now.Add(4*time.Second), protocol.WriteRoute{ID: 1, Data: []byte("bc")}, nil)
	answers := d.routes.byID[1].timer(answerTimer)
	require.Equal(t, []protocol.Effect{
		protocol.RouteWritten{ID: 1, Writes: 1, Bytes: 1}, protocol.SetTimer{Timer: answers, After: 4 * time.Second},
	}, d.Step(now.Add(10*time.Second), protocol.Fired{Timer: answers}, nil))
}

func TestRoutes_nothingIsWrittenUnlessOpen(t *testing.T) {
	r := newRouteRig(t, Limits{})
	for _, in := range []protocol.Input{
		protocol.WriteRoute{ID: 1, Data: []byte("x")}, protocol.StopRoute{ID: 1}, protocol.ReadRoute{ID: 1}, protocol.CloseRoute{ID: 1},
	} {
		require.Empty(t, r.step(in), "there is none")
	}
	r.open(1, protocol.RoutePTY, login)
	require.Empty(t, r.step(protocol.WriteRoute{ID: 1, Data: []byte("x")}))
	require.Empty(t, r.step(protocol.StopRoute{ID: 1}))
	r.receive(`{"id":1,"result":{"workerSessionId":"s"}}`)
	require.Equal(t, []string{"exited 1 3"}, r.receive(`{"method":"loginPty.exit","params":{"hostRouteId":"id-1","workerSessionId":"s","exitCode":3}}`))
	require.Empty(t, r.step(protocol.WriteRoute{ID: 1, Data: []byte("x")}), "its program has ended")
	require.Equal(t, []string{"dropped late-route-frame loginPty.output"},
		r.receive(`{"method":"loginPty.output","params":{"hostRouteId":"id-1","workerSessionId":"s","chunk":"x"}}`))
}

func TestRoutes_closesAreConfirmedOrTheWorkerIsRetired(t *testing.T) {
	const unconfirmed = "retire error wire: plugin lab is ended: duplexChannelClose of duplex-route-1 was not confirmed: "
	for answer, want := range map[string][]string{
		`"result":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}`: {"routeclosed {1}"},
		`"result":{"hostRouteId":"duplex-route-1"}`:                       {unconfirmed + "expected the workerSessionId s back", "routeclosed {1}"},
		`"result":null`: {unconfirmed + "expected the hostRouteId back", "routeclosed {1}"},
		`"error":{"code":-32004,"message":"none"}`: {unconfirmed + "it was answered with an error: none", "routeclosed {1}"},
	} {
		r := newRouteRig(t, Limits{})
		r.channel()
		require.Equal(t, []string{"ended 1 ok", "timer 10s", `send {"id":2,"method":"duplexChannelClose","params":{"hostRouteId":"duplex-route-1"}}`},
			r.step(protocol.CloseRoute{ID: 1}))
		require.Empty(t, r.step(protocol.CloseRoute{ID: 1}))
		require.Equal(t, want, r.receive(`{"id":2,`+answer+`}`))
		if len(want) > 1 {
			require.Equal(t, []string{"refused 2 error not-ready: plugin lab is being ended; no route of it is opened", "routeclosed {2}"}, r.open(2, protocol.RouteDuplex, shell))
			require.Equal(t, []string{"dropped route-frame duplexChannel.data"}, r.data(`"eA=="`), "once is enough")
		}
	}
}

// Whoever asks a plugin for what it has not got ends it not.
func TestRoutes_workersWithoutThemNeedNotConfirm(t *testing.T) {
	const retired = "retire error wire: plugin lab is ended: loginPtyClose of id-1 was not confirmed: it was answered with an error: no"
	for name, row := range map[string]struct {
		open, close string
		want        []string
	}{
		"no hook":             {`"error":{"code":-32004,"message":"no"}`, `"error":{"code":-32004,"message":"no"}`, []string{"routeclosed {1}"}},
		"an older SDK":        {`"error":{"code":-32601,"message":"no"}`, `"error":{"code":-32601,"message":"no"}`, []string{"routeclosed {1}"}},
		"no driver":           {`"error":{"code":-32004,"message":"no"}`, `"result":{"hostRouteId":"id-1"}`, []string{"routeclosed {1}"}},
		"its close fails":     {`"error":{"code":-32004,"message":"no"}`, `"error":{"code":-32002,"message":"no"}`, []string{retired, "routeclosed {1}"}},
		"its open has failed": {`"error":{"code":-32002,"message":"no"}`, `"error":{"code":-32004,"message":"no"}`, []string{retired, "routeclosed {1}"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRouteRig(t, Limits{})
			r.open(1, protocol.RoutePTY, login)
			require.Equal(t, []string{
				"refused 1 error no", "timer 10s", `send {"id":2,"method":"loginPtyClose","params":{"hostRouteId":"id-1"}}`,
			}, r.receive(`{"id":1,`+row.open+`}`))
			require.Equal(t, row.want, r.receive(`{"id":2,`+row.close+`}`))
		})
	}
}

func TestRoutes_rememberClosedChannels(t *testing.T) {
	r := newRouteRig(t, Limits{Session: SessionLimits{Past: 1}})
	r.channel()
	r.step(protocol.CloseRoute{ID: 1})
	require.Equal(t, []string{"dropped late-route-frame duplexChannel.data"}, r.data(`"eA=="`), "it is not confirmed yet")
	r.receive(`{"id":2,"result":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`)
	require.Equal(t, []string{"dropped late-route-frame duplexChannel.data"}, r.data(`"eA=="`))
	r.open(2, protocol.RouteDuplex, shell)
	r.receive(`{"id":3,"result":{"hostRouteId":"duplex-route-2","workerSessionId":"s"}}`)
	require.Contains(t, r.step(protocol.CloseRoute{ID: 2}), "retire error overloaded: plugin lab is ended: closed channels: more than 1, the limit (session.past)")
}

func TestRoutes_whatComesForNobodyRetires(t *testing.T) {
	for _, params := range []string{
		`{}`, `{"hostRouteId":"duplex-route-1","chunk":"eA=="}`, `{"hostRouteId":"duplex-route-1","workerSessionId":"t","chunk":"eA=="}`,
		`{"hostRouteId":"duplex-route-2","workerSessionId":"s","chunk":"eA=="}`, `{"hostRouteId":7,"workerSessionId":"s","chunk":"eA=="}`,
	} {
		for _, method := range []string{"duplexChannel.data", "duplexChannel.exit"} {
			r := newRouteRig(t, Limits{})
			r.channel()
			require.Equal(t, []string{"retire error wire: plugin lab is ended: " + method + " came for a channel that is not its own: expected a hostRouteId and its workerSessionId, as they were given"},
				r.receive(`{"method":"`+method+`","params":`+params+`}`))
		}
	}
	r := newRouteRig(t, Limits{})
	require.Contains(t, r.receive(`{"method":"duplexChannel.exit","params":{}}`)[0], "retire ", "without any channel, too")
}

// Whoever gives up while the worker opens a channel, or has waited for it for too long, does
// not know what its session will be: what that says meanwhile is late, and no fault.
func TestRoutes_aChannelThatWasGivenUpMayStillSpeak(t *testing.T) {
	r := newRouteRig(t, Limits{})
	r.open(1, protocol.RouteDuplex, shell)
	require.Empty(t, r.data(`"eA=="`))
	r.step(protocol.CloseRoute{ID: 1})
	require.Equal(t, []string{"dropped late-answer 1"}, r.receive(`{"id":1,"result":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`))
	require.Equal(t, []string{"dropped late-route-frame duplexChannel.data"}, r.data(`"eA=="`))
	require.Equal(t, []string{"dropped late-route-frame duplexChannel.exit"},
		r.receive(`{"method":"duplexChannel.exit","params":{"hostRouteId":"duplex-route-1","workerSessionId":"s","exitCode":0}}`))
	require.Equal(t, []string{"routeclosed {1}"}, r.receive(`{"id":2,"result":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`))
	require.Contains(t, r.data(`"eA=="`)[0], "retire ", "the worker has said that it is over")
}

func TestRoutes_loginsWithoutAName(t *testing.T) {
	r := newRouteRig(t, Limits{})
	out := func() []string {
		return r.receive(`{"method":"loginPty.output","params":{"workerSessionId":"s","chunk":"x"}}`)
	}
	require.Equal(t, []string{"dropped route-frame loginPty.output"}, out())
	r.open(1, protocol.RoutePTY, login)
	require.Equal(t, []string{"logged WARN login pseudo-terminal message has no hostRouteId; the plugin build is too old"}, out(), "told once, and held")
	r.step(protocol.ReadRoute{ID: 1})
	require.Equal(t, []string{"timer 1h0m0s", "opened 1", `chunk 1 "x"`}, r.receive(`{"id":1,"result":{"workerSessionId":"s"}}`))
	require.Equal(t, []string{`chunk 1 "x"`}, out())
	r.open(2, protocol.RoutePTY, login)
	require.Equal(t, []string{"dropped route-frame loginPty.output"}, out(), "there are two")
	r.step(protocol.CloseRoute{ID: 2})
	require.Equal(t, []string{`chunk 1 "x"`}, out())
}

func TestRoutes_holdWithinBoundsUntilTheyAreOpen(t *testing.T) {
	early := func(r rig, chunk string) []string {
		return r.receive(`{"method":"loginPty.output","params":{"hostRouteId":"id-1","workerSessionId":"s","chunk":"` + chunk + `"}}`)
	}
	r := newRouteRig(t, Limits{PTY: RouteLimits{Held: 8, HeldChunks: 3, Chunk: 5}})
	r.open(1, protocol.RoutePTY, login)
	require.Equal(t, []string{"dropped route-chunk loginPty.output"}, early(r, "123456"), "too long anyway")
	require.Empty(t, early(r, "äöü"))
	require.Contains(t, early(r, "abcd")[0], "refused 1 error overloaded: plugin lab: the route has ended: what came before it was open: more than 8, the limit (held)",
		"the names of sessions count, in units")

	r = newRouteRig(t, Limits{PTY: RouteLimits{HeldChunks: 2}})
	r.open(1, protocol.RoutePTY, login)
	early(r, "a")
	r.receive(`{"method":"loginPty.exit","params":{"hostRouteId":"id-1","workerSessionId":"s"}}`)
	require.Contains(t, early(r, "b")[0], "messages before it was open: more than 2, the limit (heldChunks)")
}

// What was kept of a route that ends while it is passed on is late, as if it came then.
func TestRoutes_countWhatWasKeptBehindTheEnd(t *testing.T) {
	r := newRouteRig(t, Limits{})
	r.open(1, protocol.RoutePTY, login)
	for _, early := range []string{`output","params":{"chunk":"a",`, `exit","params":{"exitCode":0,`, `output","params":{"chunk":"b",`} {
		require.Empty(t, r.receive(`{"method":"loginPty.`+early+`"hostRouteId":"id-1","workerSessionId":"s"}}`))
	}
	r.step(protocol.ReadRoute{ID: 1})
	require.Equal(t, []string{"timer 1h0m0s", "opened 1", `chunk 1 "a"`, "exited 1 0", "dropped late-route-frame loginPty.output"},
		r.receive(`{"id":1,"result":{"workerSessionId":"s"}}`))
}

func TestRoutes_channelsHoldWithinBounds(t *testing.T) {
	r := newRouteRig(t, Limits{Duplex: RouteLimits{Held: 4}})
	r.open(1, protocol.RouteDuplex, shell)
	require.Empty(t, r.data(`"YWJj"`))
	require.Contains(t, r.data(`"YWJj"`)[0], "refused 1 error overloaded: plugin lab: the route has ended: what came before it was open: more than 4, the limit (held)")

	r = newRouteRig(t, Limits{Duplex: RouteLimits{HeldChunks: 1, Faults: 1}})
	r.open(1, protocol.RouteDuplex, shell)
	r.data(`"YQ=="`)
	r.data(`"Yg=="`)
	require.Equal(t, []string{"dropped route-fault duplexChannel.data"}, r.data(`"Yw=="`), "one more than may be kept is, to end the route then")
	for range 2 { // the last one counts
		require.Empty(t, r.receive(`{"method":"duplexChannel.exit","params":{"hostRouteId":"duplex-route-1","workerSessionId":"s","exitCode":2}}`))
	}
	require.Equal(t, []string{
		"timer 1h0m0s", "opened 1", `chunk 1 "a"`,
		"ended 1 error overloaded: plugin lab: the route has ended: chunks without a reader: more than 1, the limit (heldChunks)",
		"timer 10s", `send {"id":2,"method":"duplexChannelClose","params":{"hostRouteId":"duplex-route-1"}}`,
		"dropped late-route-frame duplexChannel.data", // the exit
	}, r.receive(`{"id":1,"result":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`))
}

func TestRoutes_base64IsCanonical(t *testing.T) {
	for literal, want := range map[string]string{
		`"eA=="`: `chunk 1 "x"`, `"AAEC"`: `chunk 1 "\x00\x01\x02"`, `"\u0065A=="`: `chunk 1 "x"`, `"\/\/79"`: `chunk 1 "\xff\xfe\xfd"`,
		`"eA"`: "", `"eB=="`: "", `"eA=\n="`: "", `"AA\nEC"`: "", `"!!!!"`: "", `""`: "", `"-_79"`: "", `7`: "", `"eA==eA=="`: "", `null`: "",
	} {
		r := newRouteRig(t, Limits{})
		r.channel()
		if want == "" {
			want = "dropped route-fault duplexChannel.data"
		}
		require.Equal(t, []string{want}, r.data(literal), literal)
	}
	r := newRouteRig(t, Limits{})
	r.channel()
	require.Equal(t, []string{"dropped route-fault duplexChannel.data"}, r.receive(`{"method":"duplexChannel.data","params":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`))
}

func TestRoutes_channelsOfText(t *testing.T) {
	r := newRouteRig(t, Limits{}, "setupTokenPtyOpen", "duplexChannelOpen") // of the time before base64
	r.open(1, protocol.RouteDuplex, shell)
	r.receive(`{"id":2,"result":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`)
	r.step(protocol.ReadRoute{ID: 1})
	require.Equal(t, []string{`chunk 1 "€\n😀�"`}, r.data(`"\u20ac\n\ud83d\ude00\ud83d"`))
	require.Equal(t, []string{"written 1 1 2"}, r.step(protocol.WriteRoute{ID: 1, Data: []byte("€")[:2]}), "the beginning of a character waits")
	require.Equal(t, `send {"id":3,"method":"duplexChannelWrite","params":{"hostRouteId":"duplex-route-1","workerSessionId":"s","data":"€\"x"}}`,
		r.step(protocol.WriteRoute{ID: 1, Data: append([]byte("€")[2:], `"x`...)})[0])

	forced := newRig(t, Plugin{Company: "c", Duplex: DuplexText, Limits: Limits{Duplex: RouteLimits{Chunk: 2, Write: 2}}}, protocol.Settings{})
	forced.channel()
	require.Equal(t, []string{`chunk 1 "€€"`}, forced.data(`"€€"`), "counted in units")
	require.Len(t, forced.step(protocol.WriteRoute{ID: 1, Data: []byte("€€")}), 2)
	require.Contains(t, forced.step(protocol.WriteRoute{ID: 1, Data: []byte("€€x")})[0], "one write: more than 2, the limit (write)")
}

// Whoever keeps to the room that a route of text has never ends it, wherever its writes are cut:
// what was kept of a character goes with the next one, and what is no text is sent as U+FFFD.
func TestRoutes_theRoomOfATextHoldsWhateverIsWritten(t *testing.T) {
	for _, kept := range []string{"", "\xf0", "\xe2\x82", "\xf0\x9f\x98"} {
		for name, pattern := range map[string]string{
			"ends it": "\x80aaa", "ascii": "a", "lead of two": "\xc3", "lead of four": "\xf0", "behind": "\x80", "emoji": "😀", "euro": "€",
		} {
			r := newRig(t, Plugin{Company: "c", Duplex: DuplexText, Limits: Limits{Duplex: RouteLimits{Write: 40}}}, protocol.Settings{})
			r.open(1, protocol.RouteDuplex, shell)
			var room protocol.Room
			for _, e := range r.d.Step(now, protocol.Received{Message: decode(t, []byte(
				`{"jsonrpc":"2.0","id":1,"result":{"hostRouteId":"duplex-route-1","workerSessionId":"s"}}`))}, nil) {
				if opened, ok := e.(protocol.RouteOpened); ok {
					room = opened.Room
				}
			}
			require.Positive(t, room.Write)
			r.step(protocol.WriteRoute{ID: 1, Data: []byte(kept)})
			data := strings.Repeat(pattern, room.Write)[:room.Write]
			for _, e := range r.d.Step(now, protocol.WriteRoute{ID: 1, Data: []byte(data)}, nil) {
				_, ended := e.(protocol.RouteEnded)
				require.False(t, ended, "%q, %s", kept, name)
				if sent, ok := e.(protocol.Send); ok {
					q, ok := sent.Message.(Request)
					require.True(t, ok)
					require.LessOrEqual(t, protocol.TextUnits(member(q.Params, "data")), 40, "%q, %s", kept, name)
				}
			}
		}
	}
}

func TestRoutes_endWithTheConnection(t *testing.T) {
	r := newRouteRig(t, Limits{})
	r.channel()
	r.open(2, protocol.RouteDuplex, shell)
	r.receive(`{"id":2,"result":{"hostRouteId":"duplex-route-2","workerSessionId":"s"}}`)
	r.receive(`{"method":"duplexChannel.data","params":{"hostRouteId":"duplex-route-2","workerSessionId":"s","chunk":"eA=="}}`)
	r.open(3, protocol.RoutePTY, login)
	lost := "error outcome-unknown: plugin lab ended while the route was in flight; it may have run: gone"
	require.Equal(t, []string{
		"ended 1 " + lost, "routeclosed {1}", `chunk 2 "x"`, "ended 2 " + lost, "routeclosed {2}", "refused 3 " + lost, "routeclosed {3}",
	}, r.step(protocol.Closed{Err: fmt.Errorf("gone")}))
	require.Equal(t, []string{"refused 4 error not-ready: plugin lab: not opened: duplex: the connection has ended", "routeclosed {4}"}, r.open(4, protocol.RouteDuplex, shell))
	require.Empty(t, r.step(protocol.WriteRoute{ID: 1, Data: []byte("x")}))
}

func TestRouteLimits_haveDefaults(t *testing.T) {
	for _, w := range []wireRoute{setupTokenPTY, loginPTY, duplexBase64, duplexText} {
		l := RouteLimits{}.of(w)
		require.Positive(t, min(l.Chunk, l.Write, l.Total, l.Held, l.HeldChunks, l.Writes, l.Unanswered, l.Faults))
		require.Positive(t, min(l.Life, l.Open, l.Close, l.Answer))
		require.Equal(t, l, l.of(w))
	}
	require.Equal(t, 262_144, RouteLimits{}.of(duplexBase64).Chunk)
	require.Equal(t, 1_000_000, RouteLimits{}.of(duplexText).Chunk)
	require.Equal(t, 393_216, RouteLimits{}.of(duplexBase64).Held)
	require.Equal(t, 8<<20, RouteLimits{}.of(loginPTY).Total)
}

func TestRoutes_numbersOfTimersBeginAnew(t *testing.T) {
	v := newRoutes(nil)
	v.timers[1] = &route{}
	v.block = maxBlock - 1
	r := &route{id: 1, name: "r"}
	v.add(r)
	require.Equal(t, uint32(2), r.block)
	require.Greater(t, r.timer(openTimer), expiryTimer)
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
