package admin

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuard_letsNoWebPageCommandTheHost(t *testing.T) {
	r := startGuarded(t, Options{}, Guard{Loopback: true, Origins: []string{"http://localhost:5173"}})
	for _, c := range []struct {
		header []string
		status int
		text   string
	}{
		{nil, 200, ""},
		{[]string{"Host", "localhost:6121"}, 200, ""},
		{[]string{"Host", "LOCALHOST"}, 200, ""},
		{[]string{"Host", "127.0.0.1"}, 200, ""},
		{[]string{"Host", "127.1.2.3:80"}, 200, ""},
		{[]string{"Host", "[::1]:6121"}, 200, ""},
		{[]string{"Host", "evil.example"}, 403, `only localhost and loopback addresses`},
		{[]string{"Host", "localhost.evil.example"}, 403, `only localhost`},
		{[]string{"Host", "10.0.0.1:6121"}, 403, `only localhost`},
		{[]string{"Host", "0.0.0.0"}, 403, `only localhost`},
		{[]string{"Origin", "http://evil.example"}, 403, `the web page \"http://evil.example\", which may not ask this host: list it with --allow-origin`},
		{[]string{"Origin", "http://localhost:6121"}, 403, "may not ask"},
		{[]string{"Origin", "null"}, 403, "may not ask"},
		{[]string{"Origin", "http://localhost:5173"}, 200, ""},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403, "may not ask"},
		{[]string{"Sec-Fetch-Site", "same-site"}, 403, "may not ask"},
		{[]string{"Sec-Fetch-Site", "none"}, 200, ""},
	} {
		for _, path := range []string{pathHealth, pathReady, pathMetrics, pathAPI + "/plugins"} {
			status, body := r.get(t, path, c.header...)
			require.Equal(t, c.status, status, "%s %v: %s", path, c.header, body)
			require.Contains(t, body, c.text)
		}
		status, body := r.send(t, http.MethodPost, pathAPI+"/plugins/nobody/stop", "", c.header...)
		if c.status == 200 {
			c.status = 404
		}
		require.Equal(t, c.status, status, body)
	}
}

func TestGuard_answersToNamesThatAreListed(t *testing.T) {
	r := startGuarded(t, Options{}, Guard{Loopback: true, Hosts: []string{"airi.lan", "[::2]"}})
	for host, want := range map[string]int{
		"airi.lan": 200, "AIRI.lan:6121": 200, "airi.lan:": 200, "localhost": 200, "[::2]:80": 200,
		"airi.lan.evil.example": 403, "airi.lan:x": 403, "lan": 403,
	} {
		status, _ := r.get(t, pathReady, "Host", host)
		require.Equal(t, want, status, host)
	}
}

func TestIsLoopbackHost_readsNamesStrictly(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:6121": true, "127.0.0.1": true, "127.255.0.9:1": true, "127.0.0.1:": true,
		"[::1]": true, "[::1]:65535": true, "[::ffff:127.0.0.1]:80": true, "[0:0:0:0:0:0:0:1]": true,

		"": false, ":6121": false, "[": false, "[]": false, "]": false, "[]:80": false,
		"[127.0.0.1": false, "127.0.0.1]": false, "[127.0.0.1]": false, "[127.0.0.1]:80": false, "[[::1]]": false,
		"[::1": false, "::1]": false, "::1": false, "::1:80": false, "[::1]80": false, "[::1]evil.example": false, "[::1].evil.example": false,
		"[::1%25evil.com]": false, "[::1%evil.com]": false, "[::1%25lo]:80": false, "[fe80::1]": false, "[::2]": false,
		"[localhost]": false, "localhost.": false, "localhost:80:80": false, "localhost:x": false, "localhost:+1": false, "localhost:65536": false,
		"127.0.0.1:80@evil.example": false, "127.0.0.1.evil.example": false, "127.1": false, "0127.0.0.1": false, "2130706433": false,
		" 127.0.0.1": false, "127.0.0.1\x00": false, "128.0.0.1": false,
	} {
		require.Equal(t, want, isLoopbackHost(host), "%q", host)
	}
}

func TestGuard_refusesANameThatOnlyBeginsLikeThisMachines(t *testing.T) {
	r := startGuarded(t, Options{}, Guard{Loopback: true})
	for _, host := range []string{"[127.0.0.1", "[::1%25evil.com]", "[::1%25evil.com]:6121"} {
		got := tell(t, r.address, "GET "+pathHealth+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n")
		require.Regexp(t, "^HTTP/1.1 40[03] ", got, host)
	}
}

func TestGuard_answersTheBrowserOfAListedPage(t *testing.T) {
	r := startGuarded(t, Options{}, Guard{Loopback: true, Token: "0123456789abcdef", Origins: []string{"http://localhost:5173"}})
	answer, _ := r.full(t, http.MethodOptions, pathAPI+"/call", "", "Origin", "http://localhost:5173", "Access-Control-Request-Method", "POST")
	status := answer.StatusCode
	require.Equal(t, "GET, POST, PUT, DELETE", answer.Header.Get("Access-Control-Allow-Methods"), "those of the API")
	require.Equal(t, http.StatusNoContent, status)
	status, _ = r.send(t, http.MethodOptions, pathAPI+"/call", "", "Origin", "http://evil.example", "Access-Control-Request-Method", "POST")
	require.Equal(t, http.StatusForbidden, status)
}

func TestGuard_asksForTheToken(t *testing.T) {
	const token = "a-token-of-some-length"
	for name, g := range map[string]Guard{"loopback": {Loopback: true, Token: token}, "open": {Open: true, Token: token}} {
		t.Run(name, func(t *testing.T) {
			r := startGuarded(t, Options{}, g)
			for _, c := range []struct {
				authorization string
				status        int
			}{
				{"Bearer " + token, 200},
				{"bearer " + token, 200},
				{token, 200},
				{"Bearer " + token + "x", 401},
				{"Bearer ", 401},
				{"Basic " + token, 401},
				{"", 401},
			} {
				for _, path := range []string{pathReady, pathMetrics, pathAPI + "/plugins"} {
					status, body := r.get(t, path, "Authorization", c.authorization)
					require.Equal(t, c.status, status, "%q %s: %s", c.authorization, path, body)
				}
			}
			status, _ := r.get(t, pathHealth)
			require.Equal(t, http.StatusOK, status, "whether it lives may be asked without")
			status, _ = r.get(t, pathHealth, "Origin", "http://evil.example")
			require.Equal(t, http.StatusForbidden, status)
		})
	}
}

func TestGuard_refusesBeforeTheBodyHasCome(t *testing.T) {
	r := startGuarded(t, Options{}, Guard{Open: true, Token: "a-token-of-some-length"})
	got, _ := raw(t, r, "POST "+pathAPI+"/call HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
	require.Equal(t, http.StatusUnauthorized, got.StatusCode)
}

// Whoever is a user of the machine may ask on loopback, but for what may hold secrets.
func TestGuard_keepsConfigurationsFromOtherUsersOfTheMachine(t *testing.T) {
	paths := []string{"/plugins/x/config", "/plugins/x/config/history", "/plugins/x/config?company=acme"}
	open := startGuarded(t, Options{}, Guard{Loopback: true})
	for _, path := range paths {
		status, body := open.get(t, pathAPI+path)
		require.Equal(t, http.StatusForbidden, status, path)
		require.Contains(t, body, "use airi-host config", path)
		status, _ = open.send(t, http.MethodPut, pathAPI+path, "{}")
		require.Equal(t, http.StatusForbidden, status, path)
	}
	status, body := open.get(t, pathAPI+"/plugins/config")
	require.Equal(t, http.StatusNotFound, status, "a plugin may have that name: %s", body)

	const token = "a-token-of-some-length"
	for _, r := range []*running{
		startGuarded(t, Options{}, Guard{Loopback: true, Token: token}), startGuarded(t, Options{}, Guard{}),
	} {
		for _, path := range paths {
			status, body := r.get(t, pathAPI+path, "Authorization", "Bearer "+token)
			require.NotContains(t, body, "use airi-host config", path)
			require.NotEqual(t, http.StatusUnauthorized, status, path)
		}
	}
}

// A guard that has changed holds for the next request, on the connections that are there.
func TestGuard_goesByTheOneThatIsCurrent(t *testing.T) {
	const first, second = "a-token-of-some-length", "another-token-of-some-length"
	var now atomic.Pointer[Guard]
	now.Store(&Guard{Loopback: true})
	r := startGuarded(t, Options{}, Guard{Current: func() Guard { return *now.Load() }})
	wantStatus := func(want int, token string) {
		t.Helper()
		status, body := r.get(t, pathReady, "Authorization", "Bearer "+token)
		require.Equal(t, want, status, body)
	}
	wantStatus(http.StatusOK, first)
	now.Store(&Guard{Loopback: true, Token: first})
	wantStatus(http.StatusOK, first)
	now.Store(&Guard{Loopback: true, Token: second})
	wantStatus(http.StatusUnauthorized, first)
	wantStatus(http.StatusOK, second)
}
