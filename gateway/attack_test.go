package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol/airi/server"
	"github.com/airi-host/airi-host/transport/websocket"
)

// What a stranger, or a peer gone wrong, may do to the host: as good as nothing.

// stranger is a client that does with its websocket what it likes.
type stranger struct {
	r *rig
	net.Conn
	in *bufio.Reader
}

// stranger connects; one that is small reads into as small a buffer as there is.
func (r *rig) stranger(small bool, headers ...string) *stranger {
	r.Helper()
	c, err := net.Dial("tcp", r.address())
	require.NoError(r, err)
	r.Cleanup(func() { _ = c.Close() })
	if small {
		require.NoError(r, c.(*net.TCPConn).SetReadBuffer(4<<10))
	}
	s := &stranger{r, c, bufio.NewReaderSize(c, 256)}
	_, err = fmt.Fprintf(c, "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n", strings.Join(append(headers, ""), "\r\n"))
	require.NoError(r, err)
	answer, err := http.ReadResponse(s.in, nil)
	require.NoError(r, err)
	require.NoError(r, answer.Body.Close())
	require.Equal(r, http.StatusSwitchingProtocols, answer.StatusCode)
	return s
}

func (r *rig) address() string {
	host, _, _ := strings.Cut(strings.TrimPrefix(r.url, "ws://"), "/")
	return host
}

// The first bytes of frames.
const (
	text, binaryFrame, more, ping = 0x81, 0x82, 0x01, 0x89
	goOn, goOnLast, closing       = 0x00, 0x80, 0x88
)

// frame is a frame as a client sends it, masked with nothing.
func frame(first byte, payload string) []byte {
	out := []byte{first}
	switch n := len(payload); {
	case n < 126:
		out = append(out, 0x80|byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 0x80|127), uint64(n))
	}
	return append(append(out, 0, 0, 0, 0), payload...)
}

// wantClosed reads until the end, and returns the last frame of it, which is the close frame.
func (s *stranger) wantClosed() (code int, reason string) {
	s.r.Helper()
	require.NoError(s.r, s.SetReadDeadline(time.Now().Add(patience)))
	all, err := io.ReadAll(s.in)
	if err != nil {
		require.NotErrorIs(s.r, err, context.DeadlineExceeded)
	}
	for len(all) >= 2 {
		n, at := int(all[1]), 2
		switch n {
		case 126:
			n, at = int(binary.BigEndian.Uint16(all[2:])), 4
		case 127:
			n, at = int(binary.BigEndian.Uint64(all[2:])), 10
		}
		if all[0] == closing && n >= 2 {
			return int(binary.BigEndian.Uint16(all[at:])), string(all[at+2 : at+n])
		}
		if len(all) < at+n {
			break
		}
		all = all[at+n:]
	}
	return 0, ""
}

// footprint is what the process holds; back checks that it does so again.
type footprint struct {
	goroutines int
	heap       uint64
}

func (r *rig) footprint() footprint { return footprint{runtime.NumGoroutine(), heapNow()} }

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// back waits until no more than that is held, but for what pools and caches may keep.
func (r *rig) back(was footprint) {
	r.Helper()
	const pools, servers = 16 << 20, 16 // the host keeps so many goroutines for the next calls
	require.Eventually(r, func() bool {
		return runtime.NumGoroutine() <= was.goroutines+servers+4 && heapNow() <= was.heap+pools
	}, patience, 50*time.Millisecond, "was %+v, is %+v", was, r.footprint())
}

// wantIdle waits until nobody is connected, and no session of a peer's is left.
func (r *rig) wantIdle() {
	r.Helper()
	g := r.gateway
	require.Eventually(r, func() bool {
		for _, s := range r.host.Sessions() {
			if s.Instance != "" {
				return false
			}
		}
		g.mu.Lock()
		left := len(g.members) + len(g.leaving) + len(g.conns)
		g.mu.Unlock()
		return left == 0 && g.Counts().Open == 0
	}, patience, 10*time.Millisecond)
}

// works checks that a peer is served.
func (p *peer) works() {
	p.r.Helper()
	p.say("transport:connection:heartbeat", `{"kind":"ping"}`)
	p.until(func(record []byte) (json.RawMessage, bool) { // others' events may be anything
		return nil, bytes.Contains(record, []byte(`"type":"transport:connection:heartbeat","data":{"kind":"pong"`))
	})
}

// brief options make an attack short.
func brief() Options {
	return Options{
		Socket: websocket.ServerOptions{Options: websocket.Options{CloseTime: 200 * time.Millisecond}},
		Server: server.Options{Grace: 50 * time.Millisecond},
	}
}

func TestAttack_hundredsThatNeverAuthenticate(t *testing.T) {
	const many = 500
	o := brief()
	o.Socket.Token, o.Socket.MaxEarly, o.Socket.AuthTime = "secret", many, 3*time.Second
	r := start(t, o)
	was := r.footprint()
	for range many {
		r.stranger(true)
	}
	_, err := websocket.Dial(t.Context(), r.url, websocket.DialOptions{})
	var refused *websocket.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.Equal(t, "there are too many connections that have not been authenticated", refused.Text)

	friend, err := websocket.Dial(t.Context(), r.url, websocket.DialOptions{Token: "secret"})
	require.NoError(t, err)
	p := &peer{r, friend}
	p.announce("bot", "1")
	r.wantPhase("bot", lifecycle.Ready)
	require.Eventually(t, func() bool { return r.gateway.Counts().Open == 1 }, patience, 10*time.Millisecond)
	n := r.gateway.Counts()
	require.EqualValues(t, many, n.Late)
	require.Zero(t, n.Early)
	p.works()
	require.NoError(t, p.Close())
	<-p.Done()
	r.wantIdle()
	r.back(was)
}

// Who does not read what all are told is closed, with a reason; the others are told no later.
func TestAttack_slowReadersOfABroadcast(t *testing.T) {
	const many = 10
	o := brief()
	o.Socket.QueueBytes, o.Socket.CloseTime = 1<<20, 2*time.Second
	r := start(t, o)
	was := r.footprint()
	slow := make([]*stranger, many)
	for n := range slow {
		slow[n] = r.stranger(false)
	}
	sender, reader := r.dial(), r.dial()
	data := strings.Repeat("x", 64<<10)
	longest := time.Duration(0)
	for n := 0; r.gateway.Counts().Slow < many; n++ {
		require.Less(t, n, 2_000, "they read slowly, and nobody minds")
		began := time.Now()
		sender.say("chat", `{"n":%d,"x":%q}`, n, data)
		require.Contains(t, reader.hear("chat")[:20], fmt.Sprintf(`"n":%d,`, n))
		longest = max(longest, time.Since(began))
	}
	require.Less(t, longest, 2*time.Second)
	require.Positive(t, r.gateway.Counts().Dropped[droppedUnsent])
	code, reason := slow[0].wantClosed()
	require.Equal(t, websocket.CodePolicy, code)
	require.Equal(t, "the queue is full: what was sent was not read", reason)
	sender.works()
	reader.works()
	require.Len(t, r.gateway.Peers(), 2)
	for _, p := range []*peer{sender, reader} {
		require.NoError(t, p.Close())
		<-p.Done()
	}
	r.wantIdle()
	r.back(was)
}

// A connection whose far end is gone without a word is noticed, and its module with it.
func TestAttack_halfOpenConnections(t *testing.T) {
	o := brief()
	o.Socket.PingEvery, o.Socket.Silence = 100*time.Millisecond, 500*time.Millisecond
	r := start(t, o)
	was := r.footprint()
	const many = 50
	for n := range many {
		s := r.stranger(false)
		_, err := s.Write(frame(text, fmt.Sprintf(`{"type":"module:announce","data":{"name":"b","identity":{"kind":"plugin","plugin":{"id":"bot"},"id":"%d"}}}`, n)))
		require.NoError(t, err)
	}
	r.wantPhase("bot", lifecycle.Ready)
	r.wantIdle()
	require.EqualValues(t, many, r.gateway.Counts().Silent)
	r.back(was)
}

// Garbage is answered or ends its connection; all others go on.
func TestAttack_garbage(t *testing.T) {
	r := start(t, brief())
	was := r.footprint()
	friend := r.dial()
	friend.announce("friend", "1", `"possibleEvents":["echo"]`)
	r.wantPhase("friend", lifecycle.Ready)
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	join := func(frames ...[]byte) []byte { return bytes.Join(frames, nil) }
	for name, row := range map[string]struct {
		sent []byte
		// code ends the connection; else it goes on.
		code int
	}{
		"a text that is not UTF-8":             {frame(text, "{\"type\":\"\xff\xfe\"}"), 1007},
		"bytes that are not UTF-8":             {frame(binaryFrame, "{\"type\":\"\xff\xfe\"}"), 0},
		"an event as bytes":                    {frame(binaryFrame, `{"type":"chat","data":{}}`), 0},
		"nothing":                              {frame(text, ""), 0},
		"no JSON":                              {frame(text, "hello"), 0},
		"a NUL":                                {frame(text, "\x00"), 0},
		"null":                                 {frame(text, "null"), 0},
		"a list":                               {frame(text, "[]"), 0},
		"an empty object":                      {frame(text, "{}"), 0},
		"a type that is none":                  {frame(text, `{"type":1,"data":{}}`), 0},
		"a type twice":                         {frame(text, `{"type":"a","type":"b","data":{}}`), 0},
		"data that are none":                   {frame(text, `{"type":"a","data":[]}`), 0},
		"a wrapper around nothing":             {frame(text, `{"json":null,"meta":{}}`), 0},
		"a wrapper in a wrapper":               {frame(text, `{"json":{"json":{"json":{}}}}`), 0},
		"a path into the prototype":            {frame(text, `{"json":{"type":"a","data":{}},"meta":{"values":{"__proto__.x":["Date"],"constructor.prototype":["undefined"]},"v":1}}`), 0},
		"deep JSON":                            {frame(text, deep), 0},
		"deep data":                            {frame(text, `{"type":"a","data":{"x":`+deep+`}}`), 0},
		"a deep identity":                      {frame(text, `{"type":"module:announce","data":{"name":"x","identity":`+deep+`}}`), 0},
		"a deep route":                         {frame(text, `{"type":"a","data":{},"route":{"destinations":[`+strings.Repeat(`{"type":"and","all":[`, 1000)+strings.Repeat(`]}`, 1000)+`]}}`), 0},
		"a frame of Eventa's of a reserved id": {frame(text, `{"id":"x","type":"airi-host:step","payload":{"body":{}}}`), 0},
		"a frame of Eventa's of no id":         {frame(text, `{"id":"x","type":"","payload":{"body":{}}}`), 0},
		"a record that is a note":              {frame(text, "away spoofed\n"), 0},
		"a note within a frame":                {frame(text, `{"type":"life module:status\n{}","data":{}}`), 0},
		"a name that is too long":              {frame(text, `{"type":"module:announce","data":{"name":"`+strings.Repeat("n", 5_000)+`","identity":{"kind":"plugin","plugin":{"id":"x"},"id":"1"}}}`), 0},
		"a number for an id":                   {frame(text, `{"type":"module:announce","data":{"name":"x","identity":{"kind":"plugin","plugin":{"id":1e999},"id":-0}}}`), 0},
		"8 MiB":                                {frame(text, `{"type":"x","route":{"destinations":["plugin:nobody"]},"data":{"x":"`+strings.Repeat("x", 8<<20-100)+`"}}`), 0},
		"8 MiB and one":                        {frame(text, strings.Repeat("x", 8<<20+1)), 1009},
		"8 MiB and one in fragments":           {join(frame(more, strings.Repeat("x", 4<<20)), frame(goOnLast, strings.Repeat("x", 4<<20+1))), 1009},
		"fragments of an event":                {join(frame(more, `{"type":"a",`), frame(ping, "x"), frame(goOn, `"data"`), frame(goOnLast, `:{}}`)), 0},
		"a fragment of nothing":                {frame(goOnLast, "{}"), 1002},
		"an event amid fragments":              {join(frame(more, "{"), frame(text, "{}")), 1002},
		"a ping in fragments":                  {frame(0x09, "x"), 1002},
		"a ping that is too long":              {frame(ping, strings.Repeat("x", 126)), 1002},
		"a reserved bit":                       {frame(0xC1, "{}"), 1002},
		"a reserved opcode":                    {frame(0x83, "{}"), 1002},
		"a frame without a mask":               {[]byte{0x81, 2, '{', '}'}, 1002},
		"a length that is negative":            {[]byte{0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}, 1002},
		"a close frame of one byte":            {frame(closing, "x"), 1002},
		"a close frame of a code that is none": {frame(closing, "\x00\x01"), 1002},
	} {
		t.Run(name, func(t *testing.T) {
			s := r.stranger(false)
			_, err := s.Write(row.sent)
			if row.code == 0 {
				require.NoError(t, err)
				_, err = s.Write(join(frame(text, `{"type":"transport:connection:heartbeat","data":{"kind":"ping"}}`), frame(closing, "\x03\xe8")))
				require.NoError(t, err)
				row.code = 1000
			}
			code, reason := s.wantClosed()
			require.Equal(t, row.code, code, reason)
			friend.works()
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := r.stranger(false)
		for range 1 + random.IntN(4) {
			_, _ = s.Write(noise(random))
		}
		_ = s.Close()
	}
	friend.works()
	require.NoError(t, friend.Close())
	<-friend.Done()
	r.wantIdle()
	r.back(was)
}

// noise is bytes, or a frame of such, or an event with a part of it changed.
func noise(r *rand.Rand) []byte {
	junk := make([]byte, r.IntN(300))
	for i := range junk {
		junk[i] = byte(r.Uint32())
	}
	switch r.IntN(3) {
	case 0:
		return junk
	case 1:
		return frame(byte(r.Uint32()), string(junk))
	}
	event := []byte(`{"json":{"type":"module:announce","data":{"name":"x","identity":{"kind":"plugin","plugin":{"id":"noise"},"id":"1"},"possibleEvents":["a"]},"route":{"destinations":["plugin:x"]}},"meta":{"values":{"data.at":["Date"]}}}`)
	for range 1 + r.IntN(3) {
		event[r.IntN(len(event))] = "{}[]\",:x0\x00"[r.IntN(10)]
	}
	return frame(text, string(event))
}

// A web page commands no host.
func TestAttack_webPagesAndForeignNames(t *testing.T) {
	r := start(t, brief())
	for name, row := range map[string]struct {
		host, header string
		refused      websocket.Refusal
	}{
		"a page elsewhere":       {"localhost", "Origin: https://evil.example", websocket.ForeignPage},
		"a page of no origin":    {"localhost", "Origin: null", websocket.ForeignPage},
		"a page of a like name":  {"localhost", "Origin: http://localhost.evil.example", websocket.ForeignPage},
		"a name that leads here": {"evil.example", "X-A: b", websocket.ForeignHost},
		"both":                   {"evil.example", "Origin: http://evil.example", websocket.ForeignHost},
		"what a browser says":    {"localhost", "Sec-Fetch-Site: cross-site", websocket.ForeignPage},
	} {
		t.Run(name, func(t *testing.T) {
			before := r.gateway.Counts().Refused[row.refused]
			c, err := net.Dial("tcp", r.address())
			require.NoError(t, err)
			defer func() { _ = c.Close() }()
			_, err = fmt.Fprintf(c, "GET /ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
				"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n\r\n", row.host, row.header)
			require.NoError(t, err)
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			require.Equal(t, http.StatusForbidden, answer.StatusCode)
			require.Equal(t, before+1, r.gateway.Counts().Refused[row.refused])
		})
	}
	require.Empty(t, r.gateway.Peers())
	r.stranger(false, "Origin: http://localhost:5173")
}

func TestAttack_wrongTokens(t *testing.T) {
	o := brief()
	o.Socket.Token = "secret"
	o.Socket.AuthTime, o.Server.Authentication = time.Minute, time.Minute
	r := start(t, o)
	was := r.footprint()
	p := r.dial()
	const many = 10_000
	for n := range many {
		kind := [...]string{"module:authenticate", "peer:authenticate", "extension:authenticate"}[n%3]
		p.say(kind, `{"token":"secret%d","peerId":"p","identity":{"id":"x"}}`, n)
		require.JSONEq(t, `{"message":"invalid token"}`, p.hear("error"))
	}
	require.EqualValues(t, many, r.gateway.Counts().Dropped[server.DroppedUnauthenticated])
	require.False(t, r.gateway.Peers()[0].Authenticated)
	for n := range 200 {
		_, err := websocket.Dial(t.Context(), r.url, websocket.DialOptions{Token: fmt.Sprint("secret", n)})
		var refused *websocket.RefusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, http.StatusUnauthorized, refused.Status)
	}
	p.say("module:authenticate", `{"token":"secret"}`)
	p.hear("module:authenticated")
	p.announce("bot", "1")
	r.wantModule(isReady)
	require.NoError(t, p.Close())
	<-p.Done()
	r.wantIdle()
	r.back(was)
}

// Nothing of what an unauthenticated peer sends is acted on, or passed on.
func TestAttack_whoIsNotAuthenticatedIsNotHeard(t *testing.T) {
	o := brief()
	o.Socket.Token = "secret"
	own := plugin.Define("own")
	called := make(chan string, 100)
	for _, key := range []string{"tool:x", "event:chat", "event:ui:configure"} {
		plugin.Handle(own, key, func(context.Context, json.RawMessage) (json.RawMessage, error) {
			called <- key
			return json.RawMessage(`{}`), nil
		})
	}
	r := start(t, o, own)
	victim := r.dial()
	victim.say("module:authenticate", `{"token":"secret"}`)
	victim.announce("victim", "1", `"possibleEvents":["x","chat"]`)
	r.wantPhase("victim", lifecycle.Ready)
	victim.hear("module:authenticated")
	victim.hear("registry:modules:sync")
	evil := r.dial()
	identity := `"identity":{"kind":"plugin","plugin":{"id":"victim"},"id":"1"}`
	for _, sent := range []string{
		`{"type":"ui:configure","data":{"moduleName":"victim","config":{"evil":true}}}`,
		`{"type":"chat","data":{"evil":true}}`,
		`{"type":"module:status","data":{` + identity + `,"phase":"failed","reason":"evil"}}`,
		`{"type":"module:status:change","data":{` + identity + `,"phase":"announced"}}`,
		`{"type":"module:configuration:commit","data":{` + identity + `,"config":{}}}`,
		`{"type":"module:consumer:register","data":{"event":"chat"}}`,
		`{"type":"module:compatibility:request","data":{"protocolVersion":"v1","apiVersion":"v1"}}`,
		`{"id":"d","type":"tool:x-send","payload":{"body":{"invokeId":"i","content":{}}}}`,
		`{"deliveryId":"d","hopsRemaining":3,"eventa":{"id":"tool:x-send","type":"event","body":{"invokeId":"i","content":{}}}}`,
	} {
		evil.raw(sent)
		require.JSONEq(t, `{"message":"not authenticated"}`, evil.hear("error"), sent)
	}
	for _, sent := range []string{
		`{"type":"module:announce","data":{"name":"victim",` + identity + `}}`,
		`{"type":"extension:announce","data":{"identity":{"id":"victim"}}}`,
		`{"type":"extension:module:announce","data":{"name":"victim","identity":{"id":"1","extension":{"id":"victim"}}}}`,
	} {
		evil.raw(sent)
		require.JSONEq(t, `{"message":"must authenticate before announcing"}`, evil.hear("error"), sent)
	}
	require.Equal(t, string(lifecycle.Ready), r.gateway.Peers()[0].Modules[0].Phase)
	require.Empty(t, r.gateway.Peers()[1].Modules)
	require.Empty(t, called)
	victim.say("transport:connection:heartbeat", `{"kind":"ping"}`)
	record, err := victim.Recv()
	for err == nil && strings.Contains(string(record), `"registry:modules:sync"`) || strings.Contains(string(record), `"module:announced"`) {
		record, err = victim.Recv()
	}
	require.NoError(t, err)
	require.Contains(t, string(record), `"kind":"pong"`, "it has heard of nothing")
}

// What only a server says changes nothing when a peer says it.
func TestAttack_eventsOfTheServersFromAPeer(t *testing.T) {
	r := start(t, brief())
	victim, evil := r.dial(), r.dial()
	victim.announce("victim", "1", `"possibleEvents":["x"]`)
	evil.announce("evil", "1")
	session := r.wantPhase("victim", lifecycle.Ready).ID
	identity := `"identity":{"kind":"plugin","plugin":{"id":"victim"},"id":"1"}`
	for _, kind := range []string{
		"module:de-announced", "module:announced", "module:authenticated", "registry:modules:sync", "registry:modules:health:unhealthy",
		"module:compatibility:result", "module:configure", "extension:module:de-announced", "error", "peer:authenticated",
	} {
		evil.say(kind, `{"name":"victim",%s,"modules":[],"authenticated":false,"config":{},"reason":"evil"}`, identity)
	}
	evil.works()
	victim.works()
	info := r.wantPhase("victim", lifecycle.Ready)
	require.Equal(t, session, info.ID)
	for _, p := range r.gateway.Peers() {
		require.True(t, p.Authenticated)
		require.Len(t, p.Modules, 1)
	}
}

// A new identity in each announcement leaves one session, or is refused in words.
func TestAttack_identitiesWithoutEnd(t *testing.T) {
	const many = 3_000
	o := brief()
	o.Server.Limits.Sessions = 100
	r := start(t, o)
	was := r.footprint()
	p := r.dial()
	for n := range many {
		p.announce(fmt.Sprint("bot-", n), fmt.Sprint(n))
		if n%250 == 249 { // no more than its own queue takes
			p.until(func(record []byte) (json.RawMessage, bool) {
				return nil, bytes.Contains(record, fmt.Appendf(nil, `"id":"bot-%d"`, n))
			})
		}
	}
	r.wantModule(func(m Module) bool { return isReady(m) && m.Instance == fmt.Sprint(many-1) })
	require.Eventually(t, func() bool { return len(r.host.Sessions()) == 1 }, patience, time.Millisecond)

	head := r.dial()
	for n := range 65 {
		head.say("extension:module:announce", `{"name":"m%d","identity":{"id":"%d","extension":{"id":"head"}}}`, n, n)
	}
	require.JSONEq(t, `{"message":"this connection has announced 64 modules, the limit"}`, head.hear("error"))
	var others []*peer
	for n := range 35 {
		other := r.dial()
		other.announce("other", fmt.Sprint(n))
		require.Eventually(t, func() bool { return r.gateway.Counts().Modules == 66+n }, patience, time.Millisecond)
		others = append(others, other)
	}
	last := r.dial()
	last.announce("last", "1")
	require.JSONEq(t, `{"message":"the host has 100 sessions, its limit"}`, last.hear("error"))
	require.Eventually(t, func() bool { return len(r.host.Sessions()) == 100 }, patience, time.Millisecond)
	for _, one := range append(others, p, head, last) {
		require.NoError(t, one.Close())
		<-one.Done()
	}
	r.wantIdle()
	r.back(was)
}

// However many never answer, the end comes at once.
func TestAttack_shutdownWithAThousandSilentPeers(t *testing.T) {
	const many = 1_000
	o := brief()
	o.Socket.CloseTime = time.Second
	r := start(t, o)
	was := r.footprint()
	for n := range many {
		s := r.stranger(true)
		if n%10 == 0 {
			_, err := s.Write(frame(text, fmt.Sprintf(`{"type":"module:announce","data":{"name":"b","identity":{"kind":"plugin","plugin":{"id":"bot"},"id":"%d"}}}`, n)))
			require.NoError(t, err)
		}
	}
	require.Eventually(t, func() bool { return len(r.host.Sessions()) == many/10 }, patience, 10*time.Millisecond)
	began := time.Now()
	require.NoError(t, r.gateway.Shutdown(t.Context()))
	took := time.Since(began)
	require.Less(t, took, 10*time.Second, "not one after the other")
	t.Logf("shut down in %v", took)
	r.wantIdle()
	r.back(was)
}

// Large records, one right behind the other, do not close those who read as fast as they can.
func TestAttack_largeRecordsInARow(t *testing.T) {
	r := start(t, Options{})
	reader := r.dial()
	c, err := websocket.Dial(t.Context(), r.url, websocket.DialOptions{Options: websocket.Options{QueueBytes: 64 << 20}})
	require.NoError(t, err)
	sender := &peer{r, c}
	defer func() { _ = c.Close() }()
	const rounds = 3
	data := strings.Repeat("x", 5<<20) // more than may wait for a peer
	heard := make(chan error, 1)
	go func() {
		var err error
		for small := 0; small < rounds && err == nil; {
			var record []byte
			record, err = reader.Recv()
			if len(record) < 1<<10 && bytes.Contains(record, fmt.Appendf(nil, `"small","data":{"n":%d}`, small)) {
				small++
			}
		}
		heard <- err
	}()
	for n := range rounds {
		sender.say("bulk", `{"n":%d,"data":%q}`, n, data)
		sender.say("small", `{"n":%d}`, n)
	}
	require.NoError(t, <-heard)
}
