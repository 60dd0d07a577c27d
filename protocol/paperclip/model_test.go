package paperclip

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// model drives our host's end as a host and a worker without any manners would, and holds
// what it tells to the promises of protocol.RouteID.
type model struct {
	t      testing.TB
	d      *driver
	shared *Routes
	now    time.Time
	// next chooses a number below n; it is random, or what a fuzzer says.
	next func(n int) int

	routes  map[protocol.RouteID]*modelRoute
	ids     []protocol.RouteID
	asks    []modelAsk
	timers  map[protocol.TimerID]time.Time
	calls   map[protocol.CallID]*modelCall
	lastID  protocol.CallID
	retired bool
	closed  bool
	tag     int
	story   []string
	// late is how many frames of routes that are over the step has counted.
	late int
}

// modelRoute is a route as it should be.
type modelRoute struct {
	wire                           wireRoute
	name, session                  string
	opened, exited, refused, ended bool
	closed                         bool
	// sent are the tags that came for it and have to get there; got are those that did.
	sent, got     []string
	room          protocol.Room
	writes, bytes int
	err           error
}

type modelAsk struct {
	id     string
	method string
	route  *modelRoute
	call   protocol.CallID
	params string
}

// modelCall is a call with a log.
type modelCall struct {
	company, invocation string
	latched, over       bool
	want, got           []string
}

func newModel(t testing.TB, next func(int) int) *model {
	t.Helper()
	shared := NewRoutes(3)
	n := 0
	d, ok := Dialect{
		Shared: shared,
		NewID:  func() string { n++; return "id-" + strconv.Itoa(n) },
		Plugin: func(protocol.Settings) Plugin {
			return Plugin{Limits: Limits{
				PTY:     RouteLimits{Total: 400, Writes: 3, Unanswered: 12, Write: 30},
				Duplex:  RouteLimits{Total: 400, Writes: 3, Unanswered: 12, Write: 30, Faults: 2},
				Session: SessionLimits{Past: 20},
			}}
		},
	}.NewDriver(protocol.Settings{Plugin: "lab"}).(*driver)
	require.True(t, ok)
	return &model{
		t: t, d: d, shared: shared, now: now, next: next, routes: map[protocol.RouteID]*modelRoute{},
		timers: map[protocol.TimerID]time.Time{}, calls: map[protocol.CallID]*modelCall{},
	}
}

// step gives an input and checks all that comes of it.
func (m *model) step(what string, in protocol.Input) {
	m.story = append(m.story, what)
	effects := m.d.Step(m.now, in, nil)
	m.late = 0
	for _, e := range effects {
		if d, ok := e.(protocol.Dropped); ok && d.What == DroppedRouteLate {
			m.late++
		}
	}
	for _, e := range effects {
		m.check(e)
	}
	live := 0
	for _, r := range m.routes {
		if !r.closed && r.wire != setupTokenPTY {
			live++
		}
	}
	require.LessOrEqual(m.t, m.shared.Open(), min(live, m.shared.Limit()), m.told())
	require.GreaterOrEqual(m.t, m.shared.Open(), 0, m.told())
	require.LessOrEqual(m.t, len(m.d.routes.past), 20)
}

// told is what has happened, should anybody want to know.
func (m *model) told() fmt.Stringer { return lately{m} }

type lately struct{ *model }

func (l lately) String() string { return strings.Join(l.story[max(0, len(l.story)-40):], "\n") }

func (m *model) check(e protocol.Effect) {
	switch e := e.(type) {
	case protocol.Send:
		m.sent(e.Message)
	case protocol.SetTimer:
		m.timers[e.Timer] = m.now.Add(e.After)
	case protocol.StopTimer:
		delete(m.timers, e.Timer)
	case protocol.Retire:
		require.False(m.t, m.retired, m.told())
		m.retired = true
	case protocol.Progress:
		c := m.calls[e.ID]
		require.NotNil(m.t, c)
		require.False(m.t, c.over, m.told())
		chunk, err := protocol.ReadLogChunk(e.Item)
		require.NoError(m.t, err)
		c.got = append(c.got, string(chunk.Text))
	case protocol.Complete:
		if c := m.calls[e.ID]; c != nil {
			require.False(m.t, c.over, m.told())
			require.Equal(m.t, c.want, c.got, m.told())
			c.over = true
		}
	default:
		m.checkRoute(e)
	}
}

func (m *model) checkRoute(e protocol.Effect) {
	switch e := e.(type) {
	case protocol.RouteOpened:
		r := m.live(e.ID)
		require.False(m.t, r.opened || r.refused, m.told())
		r.opened, r.room = true, e.Room
	case protocol.RouteRefused:
		r := m.live(e.ID)
		require.False(m.t, r.opened || r.refused, m.told())
		require.Error(m.t, e.Err)
		r.refused = true
	case protocol.Chunk:
		r := m.live(e.ID)
		require.True(m.t, r.opened && !r.ended, m.told())
		require.NotEmpty(m.t, e.Data)
		r.got = append(r.got, strings.Split(strings.TrimSuffix(string(e.Data), " "), " ")...)
	case protocol.RouteWritten:
		r := m.live(e.ID)
		require.True(m.t, r.opened && !r.ended, m.told())
		r.writes, r.bytes = r.writes-e.Writes, r.bytes-e.Bytes
		require.GreaterOrEqual(m.t, min(r.writes, r.bytes), 0, m.told())
	case protocol.RouteExited:
		r := m.live(e.ID)
		require.True(m.t, r.opened && !r.exited && !r.ended, m.told())
		r.exited = true
	case protocol.RouteEnded:
		r := m.live(e.ID)
		require.True(m.t, r.opened && !r.ended, m.told())
		r.ended, r.err = true, e.Err
		m.wantNoneLost(r)
	case protocol.RouteClosed:
		r := m.live(e.ID)
		require.True(m.t, r.ended || r.refused, m.told())
		r.closed = true
	}
}

// live is a route of which something may be told.
func (m *model) live(id protocol.RouteID) *modelRoute {
	r := m.routes[id]
	require.NotNil(m.t, r, m.told())
	require.False(m.t, r.closed, "told of route %d, which is closed\n%s", id, m.told())
	return r
}

// wantNoneLost compares what came with what went on. Only the chunk that ended the route may
// be missing, with what was held behind it and is counted, or what came behind a forged one.
func (m *model) wantNoneLost(r *modelRoute) {
	missing := len(r.sent) - len(r.got)
	require.GreaterOrEqual(m.t, missing, 0, m.told())
	require.True(m.t, missing == 0 || r.err != nil && missing <= 1+m.late || m.retired, m.told())
	require.True(m.t, slices.Equal(r.sent[:len(r.got)], r.got), m.told())
}

// sent takes a frame that our host wrote: one more request to answer.
func (m *model) sent(message protocol.Message) {
	q, ok := message.(Request)
	if !ok {
		return
	}
	ask := modelAsk{id: string(q.ID), method: q.Method, params: string(q.Params)}
	name, _ := text(member(q.Params, "hostRouteId"))
	session, _ := text(member(q.Params, "workerSessionId"))
	for _, id := range m.ids {
		r := m.routes[id]
		if strings.HasSuffix(q.Method, "Open") && r.name == "" && !r.refused && !r.closed {
			r.name, r.wire = name, routeMethods[q.Method].wire
		}
		if name != "" && r.name == name || name == "" && session != "" && r.session == session {
			ask.route = r
		}
	}
	if q.Method == methodExecute {
		ask.call = m.lastID
		m.calls[m.lastID].invocation, _ = text(member(q.Invocation, "id"))
	}
	require.False(m.t, m.closed, "sent after the end: %s", q.Method)
	m.asks = append(m.asks, ask)
}

// some is any of the routes; nil for none.
func (m *model) some() (protocol.RouteID, *modelRoute) {
	if len(m.ids) == 0 {
		return 0, nil
	}
	id := m.ids[m.next(len(m.ids))]
	return id, m.routes[id]
}

// act does one thing.
func (m *model) act() {
	m.now = m.now.Add(time.Duration(m.next(3)) * time.Second)
	id, r := m.some()
	switch op := m.next(24); {
	case op < 3 || r == nil:
		m.open()
	case op == 3:
		m.step("read", protocol.ReadRoute{ID: id})
	case op == 4, op > 19:
		m.write(id, r)
	case op == 5:
		m.step("stop", protocol.StopRoute{ID: id})
	case op == 6:
		m.step(fmt.Sprintf("close %d", id), protocol.CloseRoute{ID: id})
	case op < 11:
		m.answer()
	case op < 15:
		m.data(r)
	case op == 15:
		m.exit(r)
	case op == 16:
		m.fire()
	case op == 17:
		m.execute()
	default:
		m.log()
	}
}

func (m *model) open() {
	id := protocol.RouteID(len(m.ids) + 1)
	kind, command := protocol.RouteDuplex, `["sh"]`
	switch m.next(3) {
	case 0:
		kind, command = protocol.RoutePTY, `"claude setup-token"`
	case 1:
		kind, command = protocol.RoutePTY, `"","loginCommandKey":"grok"`
	}
	m.routes[id] = &modelRoute{}
	m.ids = append(m.ids, id)
	m.step(fmt.Sprintf("open %d %s", id, command), protocol.OpenRoute{ID: id, Route: protocol.Route{
		Kind: kind, Scope: "c", Params: raw(`{"driverKey":"d","environmentId":"e","providerLeaseId":"l","command":` + command + `}`),
	}})
}

// write keeps to the room that the route has, so that it never ends the route.
func (m *model) write(id protocol.RouteID, r *modelRoute) {
	data := []byte("€uro"[:1+m.next(6)%6])
	if !r.opened || r.ended || r.writes+1 > r.room.Writes || r.bytes+len(data) > r.room.Bytes || len(data) > r.room.Write || r.wire == loginPTY && r.exited {
		return
	}
	r.writes, r.bytes = r.writes+1, r.bytes+len(data)
	m.step("write", protocol.WriteRoute{ID: id, Data: data})
	require.False(m.t, r.ended, m.told())
}

// answer answers one of the requests, well or not.
func (m *model) answer() {
	if len(m.asks) == 0 {
		return
	}
	i := m.next(len(m.asks))
	ask := m.asks[i]
	if m.next(8) > 0 { // else it will be answered twice
		m.asks = slices.Delete(m.asks, i, i+1)
	}
	r := Response{ID: raw(ask.id), Result: raw("null")}
	bad := m.next(10) == 0
	switch {
	case bad:
		r.Result, r.Error = nil, raw(`{"code":-32002,"message":"no"}`)
	case strings.HasSuffix(ask.method, "Open"):
		session := "s" + ask.id
		if ask.route != nil && ask.route.session == "" {
			ask.route.session = session
		}
		r.Result = raw(fmt.Sprintf(`{"hostRouteId":%s,"workerSessionId":"%s"}`, member(raw(ask.params), "hostRouteId"), session))
	case strings.HasSuffix(ask.method, "Close"):
		session := ""
		if ask.route != nil {
			session = ask.route.session
		}
		r.Result = raw(fmt.Sprintf(`{"hostRouteId":%s,"workerSessionId":"%s"}`, member(raw(ask.params), "hostRouteId"), session))
	}
	m.step("answer "+ask.method+" "+string(r.Result), protocol.Received{Message: r})
}

// data sends a chunk for a route; rarely a malformed one, or one for a session that is not
// its own.
func (m *model) data(r *modelRoute) {
	if r.name == "" {
		return
	}
	m.tag++
	tag := fmt.Sprintf("%s-%d", r.name, m.tag)
	chunk, session, good := tag+" ", r.session, true
	if session == "" {
		session = m.sessionToBe(r)
	}
	literal := string(quote(chunk))
	if r.wire.isDuplex() {
		literal = string(quote(base64.StdEncoding.EncodeToString([]byte(chunk))))
	}
	switch m.next(24) {
	case 0:
		literal, good = `"="`, false
		if !r.wire.isDuplex() {
			literal = "5"
		}
	case 1:
		if !r.wire.isDuplex() || m.next(3) == 0 {
			session, good = "forged", false
		}
	}
	if good && !r.refused && !r.ended && !m.retired && (r.wire != loginPTY || !r.exited) {
		r.sent = append(r.sent, tag)
	}
	m.step("data "+tag+" "+session+" "+literal, protocol.Received{Message: Notification{Method: wordsOf[r.wire].data, Params: raw(fmt.Sprintf(
		`{"hostRouteId":%q,"workerSessionId":%q,"chunk":%s}`, r.name, session, literal))}})
}

// sessionToBe is the session that the open of a route will be answered with.
func (m *model) sessionToBe(r *modelRoute) string {
	for _, a := range m.asks {
		if a.route == r && strings.HasSuffix(a.method, "Open") {
			return "s" + a.id
		}
	}
	return "none"
}

func (m *model) exit(r *modelRoute) {
	if r.name == "" || r.session == "" {
		return
	}
	m.step("exit "+r.name, protocol.Received{Message: Notification{Method: exitOf[r.wire], Params: raw(fmt.Sprintf(
		`{"hostRouteId":%q,"workerSessionId":%q,"exitCode":%d}`, r.name, r.session, m.next(3)))}})
}

// fire lets the time pass until the next timer.
func (m *model) fire() {
	var first protocol.TimerID
	for id, at := range m.timers {
		if first == 0 || at.Before(m.timers[first]) || at.Equal(m.timers[first]) && id < first {
			first = id
		}
	}
	if first == 0 {
		first = protocol.TimerID(m.next(40))
	} else if m.timers[first].After(m.now) {
		m.now = m.timers[first]
	}
	delete(m.timers, first)
	m.step(fmt.Sprintf("timer %d", first), protocol.Fired{Timer: first})
}

func (m *model) execute() {
	m.lastID++
	m.calls[m.lastID] = &modelCall{company: string(rune('a' + m.next(8)/7))}
	m.step("execute", protocol.Invoke{ID: m.lastID, Follows: true, Call: protocol.Call{
		Key: "environment:d.execute", Scope: m.calls[m.lastID].company, Input: raw(`{}`),
	}})
}

func (m *model) log() {
	if m.lastID == 0 {
		return
	}
	c := m.calls[1+protocol.CallID(m.next(int(m.lastID)))]
	m.tag++
	chunk := "log" + strconv.Itoa(m.tag)
	companies := map[string]bool{}
	for _, other := range m.calls {
		if !other.over {
			companies[other.company] = true
		}
	}
	switch {
	case c.over || c.latched:
	case len(companies) > 1:
		for _, other := range m.calls {
			other.latched = other.latched || !other.over
		}
	default:
		c.want = append(c.want, chunk)
	}
	m.step("log", protocol.Received{Message: Notification{
		Method: methodLogChunk, Params: protocol.LogChunk{Stream: "stdout", Text: []byte(chunk)}.Item(), InvocationID: quote(c.invocation),
	}})
}

// end closes the connection: then all is over, once.
func (m *model) end() {
	m.step("end", protocol.Closed{})
	m.closed = true
	for id, r := range m.routes {
		require.True(m.t, r.closed, "route %d\n%s", id, m.told())
		require.True(m.t, r.refused != r.opened && r.ended == r.opened)
	}
	for _, c := range m.calls {
		require.True(m.t, c.over)
	}
	require.Zero(m.t, m.shared.Open(), "every route gives its share back once")
	for range 5 {
		m.act()
	}
}

func TestRoutes_keepTheirPromisesWhateverComes(t *testing.T) {
	opened, ended, exits, retired := 0, 0, 0, 0
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 7))
		m := newModel(t, random.IntN)
		for range 60 + random.IntN(300) {
			m.act()
			if m.retired && random.IntN(10) == 0 {
				break
			}
		}
		m.end()
		for _, r := range m.routes {
			opened += b2i(r.opened)
			exits += b2i(r.exited)
			ended += b2i(r.err != nil)
		}
		retired += b2i(m.retired)
	}
	require.Greater(t, min(opened, exits, ended, retired), 100, "%d opened, %d exits, %d ended by a limit, %d retired", opened, exits, ended, retired)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// FuzzRoutes lets the fuzzer choose what happens.
func FuzzRoutes_keepTheirPromises(f *testing.F) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 7))
		choices := make([]byte, 400)
		for i := range choices {
			choices[i] = byte(random.Uint32())
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		next := func(n int) int {
			if len(choices) == 0 || n < 1 {
				return 0
			}
			c := int(choices[0])
			choices = choices[1:]
			return c % n
		}
		m := newModel(t, next)
		for len(choices) > 0 {
			m.act()
		}
		m.end()
	})
}
