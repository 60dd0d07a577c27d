package websocket

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServer_knowsWhoMayConnect(t *testing.T) {
	server := NewServer(ServerOptions{
		Token: "secret", Origins: []string{"https://stage.example", "null"}, Hosts: []string{"airi.lan"},
	}, nil)
	for _, c := range []struct {
		name, host string
		head       http.Header
		known      bool
		why        Refusal
	}{
		{name: "a program", host: "localhost:6121"},
		{name: "at an address", host: "127.0.0.1:6121"},
		{name: "at an address of IPv6", host: "[::1]:6121"},
		{name: "at another address of this machine", host: "192.168.1.7:6121"},
		{name: "at a listed name", host: "AIRI.lan:6121"},
		{name: "without a port", host: "localhost"},
		{name: "at a name that leads here", host: "evil.example:6121", why: ForeignHost},
		{name: "at a name that begins as ours", host: "localhost.evil.example", why: ForeignHost},
		{name: "at no name", host: "", why: ForeignHost},

		{name: "a page of this machine", host: "localhost", head: http.Header{"Origin": {"http://localhost:5173"}}},
		{name: "one by address", host: "localhost", head: http.Header{"Origin": {"https://127.0.0.1"}}},
		{name: "one by address of IPv6", host: "localhost", head: http.Header{"Origin": {"http://[::1]:80"}}},
		{name: "a listed page", host: "localhost", head: http.Header{"Origin": {"https://stage.example"}}},
		{name: "a listed page of nowhere", host: "localhost", head: http.Header{"Origin": {"null"}}},
		{name: "another page", host: "localhost", head: http.Header{"Origin": {"https://evil.example"}}, why: ForeignPage},
		{name: "the listed one unencrypted", host: "localhost", head: http.Header{"Origin": {"http://stage.example"}}, why: ForeignPage},
		{name: "one that begins as ours", host: "localhost", head: http.Header{"Origin": {"http://localhost.evil.example"}}, why: ForeignPage},
		{name: "one that has us as its user", host: "localhost", head: http.Header{"Origin": {"http://localhost@evil.example"}}, why: ForeignPage},
		{name: "a file", host: "localhost", head: http.Header{"Origin": {"file://"}}, why: ForeignPage},
		{name: "two pages", host: "localhost", head: http.Header{"Origin": {"http://localhost", "http://localhost"}}, why: ForeignPage},
		{name: "an empty origin", host: "localhost", head: http.Header{"Origin": {""}}, why: ForeignPage},
		{name: "a page by the browser's word", host: "localhost", head: http.Header{"Sec-Fetch-Site": {"cross-site"}}, why: ForeignPage},

		{name: "the token", host: "localhost", head: http.Header{"Authorization": {"bearer secret"}}, known: true},
		{name: "another token", host: "localhost", head: http.Header{"Authorization": {"Bearer secre"}}, why: WrongToken},
		{name: "no scheme", host: "localhost", head: http.Header{"Authorization": {"secret"}}, why: WrongToken},
		{name: "another scheme", host: "localhost", head: http.Header{"Authorization": {"Basic secret"}}, why: WrongToken},
		{name: "two tokens", host: "localhost", head: http.Header{"Authorization": {"Bearer secret", "Bearer secret"}}, why: WrongToken},
		{name: "a page that has the token", host: "localhost", head: http.Header{"Authorization": {"Bearer secret"}, "Origin": {"https://evil.example"}}, why: ForeignPage},
	} {
		r := httptest.NewRequest(http.MethodGet, "/ws", nil)
		r.Host = c.host
		if c.head != nil {
			r.Header = c.head
		}
		known, _, why := server.examine(r)
		require.Equal(t, c.why, why, c.name)
		require.Equal(t, c.known, known, c.name)
	}
}

// Who may connect is asked for at each request.
func TestServer_goesByWhoMayConnectNow(t *testing.T) {
	now := Access{Token: "old"}
	server := NewServer(ServerOptions{Token: "unused", Access: func() Access { return now }}, nil)
	asks := func(token string) (bool, Refusal) {
		r := httptest.NewRequest(http.MethodGet, "/ws", nil)
		r.Host = "airi.lan"
		r.Header = http.Header{"Authorization": {"Bearer " + token}, "Origin": {"https://stage.example"}}
		known, _, why := server.examine(r)
		return known, why
	}
	_, why := asks("old")
	require.Equal(t, ForeignHost, why)
	now.Hosts = []string{"airi.lan"}
	_, why = asks("old")
	require.Equal(t, ForeignPage, why)
	now.Origins = []string{"https://stage.example"}
	known, why := asks("old")
	require.True(t, known, why)
	now.Token = "new"
	_, why = asks("old")
	require.Equal(t, WrongToken, why)
	known, _ = asks("new")
	require.True(t, known)
	now.Token = ""
	known, _ = asks("whatever")
	require.True(t, known)
}

func TestServer_withoutATokenKnowsAll(t *testing.T) {
	h := startHost(t, ServerOptions{})
	c, _ := h.pair(t, DialOptions{Token: "whatever"})
	require.True(t, c.IsAuthenticated())
}

func TestServer_starLetsAllPagesIn(t *testing.T) {
	h := startHost(t, ServerOptions{Origins: []string{"*"}})
	h.pair(t, DialOptions{Header: http.Header{"Origin": {"https://evil.example"}}})
}

func TestServer_saysWhyItRefuses(t *testing.T) {
	h := startHost(t, ServerOptions{Token: "secret"})
	for _, c := range []struct {
		o      DialOptions
		why    Refusal
		status int
	}{
		{DialOptions{Token: "guess"}, WrongToken, 401},
		{DialOptions{Header: http.Header{"Origin": {"https://evil.example"}}}, ForeignPage, 403},
	} {
		_, err := Dial(t.Context(), h.url, c.o)
		var refused *RefusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, c.status, refused.Status)
		require.EqualValues(t, 1, h.Counts().Refused[c.why])
	}
	require.Zero(t, h.Counts().Early)
}

// What is refused is named, and what would be taken.
func TestServer_namesWhatItRefuses(t *testing.T) {
	for _, c := range []struct {
		host, path string
		head       http.Header
		status     int
		text       string
	}{
		{"evil.example:80", "/ws", nil, 403, `the request is for the host "evil.example:80": only localhost, addresses and the names that are listed (listen.hosts) are answered here`},
		{strings.Repeat("x", 200), "/ws", nil, 403, `the request is for the host "` + strings.Repeat("x", 100) + `…": only`},
		{"localhost", "/ws", http.Header{"Origin": {"https://evil.example"}}, 403, `the request comes from the web page "https://evil.example", which may not connect: list its origin (--allow-origin, listen.origins)`},
		{"localhost", "/ws", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403, `from the web page "cross-site", which`},
		{"localhost:6121", "/ws", nil, 426, `peers connect here, at localhost:6121/ws, by websocket: expected a request with "Connection: Upgrade" and "Upgrade: websocket"`},
		{"localhost:6121", "/ws", http.Header{"Upgrade": {"h2c"}}, 426, "peers connect here, at"},
	} {
		s := NewServer(ServerOptions{}, nil)
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Host, r.Header = c.host, c.head
		if r.Header == nil {
			r.Header = http.Header{}
		}
		s.ServeHTTP(w, r)
		require.Equal(t, c.status, w.Code)
		require.Contains(t, w.Body.String(), c.text)
		if c.status == http.StatusUpgradeRequired {
			require.Equal(t, "websocket", w.Header().Get("Upgrade"))
			require.EqualValues(t, 1, s.Counts().Refused[NotUpgraded])
		}
	}
}

// What stands behind a request as its body is nobody's frames.
func TestServer_refusesAHandshakeWithABody(t *testing.T) {
	for name, body := range map[string]string{
		"a length": "Content-Length: 5\r\n\r\nhello", "chunks": "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
				"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + body)))
			require.NoError(t, err)
			s, w := NewServer(ServerOptions{}, nil), httptest.NewRecorder()
			s.ServeHTTP(w, r)
			require.Equal(t, http.StatusBadRequest, w.Code)
			require.Contains(t, w.Body.String(), "expected a handshake without a body")
			require.EqualValues(t, 1, s.Counts().Refused[WithBody])
		})
	}
}

func TestServer_countsConnections(t *testing.T) {
	for _, c := range []struct {
		o    ServerOptions
		most int
		why  Refusal
	}{
		{ServerOptions{MaxConns: 3}, 3, TooMany},
		{ServerOptions{MaxEarly: 2, Token: "secret"}, 2, TooManyEarly},
	} {
		h := startHost(t, c.o)
		var all []*Conn
		for range c.most {
			_, peer := h.pair(t, DialOptions{})
			all = append(all, peer)
		}
		_, err := Dial(t.Context(), h.url, DialOptions{})
		var refused *RefusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, http.StatusServiceUnavailable, refused.Status)
		require.EqualValues(t, 1, h.Counts().Refused[c.why])
		require.Equal(t, c.most, h.Counts().Open)

		first := h.Conns()[0]
		require.NoError(t, all[0].Close())
		_, err = first.Recv()
		require.Error(t, err)
		<-first.Done()
		h.pair(t, DialOptions{}) // there is room again
		require.EqualValues(t, c.most+1, h.Counts().Accepted)
	}
}

func TestServer_countsConnectionsOfAnAddress(t *testing.T) {
	s := NewServer(ServerOptions{MaxPerAddress: 2}, nil)
	for _, c := range []struct {
		remote string
		why    Refusal
	}{
		{"10.0.0.1:1", ""},
		{"10.0.0.1:2", ""},
		{"10.0.0.1:3", TooManyOfAddress},
		{"[::ffff:10.0.0.1]:4", TooManyOfAddress},
		{"10.0.0.2:1", ""},
		{"[2001:db8::1]:1", ""},
		{"[2001:db8::2]:1", ""},
		{"[2001:db8::3]:1", TooManyOfAddress},
		{"[2001:db8:0:1::3]:1", ""},
		{"127.0.0.1:1", ""},
		{"127.0.0.1:2", ""},
		{"127.0.0.1:3", ""},
		{"[::1]:3", ""},
	} {
		require.Equal(t, c.why, s.hold(addressOf(c.remote), true), c.remote)
	}
	s.release(addressOf("10.0.0.1:1"), true)
	require.Empty(t, s.hold(addressOf("10.0.0.1:9"), true))
}
