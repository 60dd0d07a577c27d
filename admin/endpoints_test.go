package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/plugin"
)

// web offers endpoints of every sort.
func web() *plugin.Definition {
	p := plugin.Define("web")
	shows := func(_ context.Context, in plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		return plugin.HTTPResponse{Body: in}, nil
	}
	answers := func(pattern string, out plugin.HTTPResponse, opts ...plugin.Option) {
		plugin.HTTP(p, pattern, func(context.Context, plugin.HTTPRequest) (plugin.HTTPResponse, error) { return out, nil }, opts...)
	}
	plugin.HTTP(p, "GET /users/:id", shows, plugin.Public())
	plugin.HTTP(p, "POST /echo", shows, plugin.Public())
	plugin.HTTP(p, "DELETE /users/:id", shows)
	answers("GET /", plugin.HTTPResponse{Body: "root"}, plugin.Public())
	answers("GET /users/me", plugin.HTTPResponse{Body: "me"}, plugin.Public())
	answers("GET /private", plugin.HTTPResponse{Body: "secret"})
	answers("GET /none", plugin.HTTPResponse{Status: http.StatusNoContent, Body: "nothing"}, plugin.Public())
	answers("GET /bytes", plugin.Bytes("image/png", []byte{0x89, 'P', 0, 0xff}), plugin.Public())
	answers("GET /json", plugin.HTTPResponse{Status: 201, Body: []int{1}}, plugin.Public())
	answers("GET /moved", plugin.HTTPResponse{Status: 302, Headers: map[string]string{"location": "/plugins/web/"}}, plugin.Public())
	answers("GET /bold", plugin.HTTPResponse{Headers: map[string]string{
		"Set-Cookie": "a=b", "access-control-allow-origin": "*", "X-Content-Type-Options": "none", "Content-Length": "7",
		"transfer-encoding": "chunked", "connection": "x-mine", "x-mine": "1", "strict-transport-security": "max-age=1",
		"x-accel-redirect": "/etc/passwd", "content-type": "text/html", "x-fine": "1", "cache-control": "max-age=5",
		"content-security-policy": "default-src 'none'",
	}, Body: "<p>"}, plugin.Public())
	answers("GET /inject", plugin.HTTPResponse{Headers: map[string]string{"x-a": "1\r\nSet-Cookie: a=b"}}, plugin.Public())
	answers("GET /misnamed", plugin.HTTPResponse{Headers: map[string]string{"x a": "1"}}, plugin.Public())
	answers("GET /many", plugin.HTTPResponse{Headers: map[string]string{"x-a": strings.Repeat("a", 1<<16)}}, plugin.Public())
	answers("GET /early", plugin.HTTPResponse{Status: 103}, plugin.Public())
	answers("GET /unbase", plugin.HTTPResponse{Headers: map[string]string{"content-transfer-encoding": "base64"}, Body: "!"}, plugin.Public())
	plugin.HTTP(p, "GET /fails", func(context.Context, plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		return plugin.HTTPResponse{}, errors.New("the password is 7")
	}, plugin.Public())
	plugin.HTTP(p, "GET /panics", func(context.Context, plugin.HTTPRequest) (plugin.HTTPResponse, error) { panic("oh") }, plugin.Public())
	plugin.HTTP(p, "GET /waits", func(ctx context.Context, _ plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		<-ctx.Done()
		return plugin.HTTPResponse{}, ctx.Err()
	}, plugin.Public())
	plugin.Webhook(p, "push", func(_ context.Context, in plugin.Delivery) error {
		if in.RawBody != `{"a":1}` || string(in.ParsedBody) != `{"a":1}` || in.Headers.Get("x-event") != "push" || in.RequestID == "" {
			return fmt.Errorf("unexpected: %+v", in)
		}
		return nil
	})
	return p
}

// aToken is the host's in these tests.
const aToken = "0123456789abcdef"

var (
	ajar   = Guard{Loopback: true}
	locked = Guard{Loopback: true, Token: aToken, Origins: []string{"http://here.example"}}
	bearer = []string{"Authorization", "Bearer " + aToken}
)

// startWeb runs a host with the plugin web, and others that have no endpoints.
func startWeb(t testing.TB, g Guard, limits Endpoints) *running {
	t.Helper()
	return startWebWith(t, g, Options{Endpoints: limits})
}

func startWebWith(t testing.TB, g Guard, opts Options) *running {
	t.Helper()
	opts.Plugins = []string{"talker", "web", "@acme/web"}
	r := startGuarded(t, opts, g)
	for _, name := range []string{"web", "@acme/web"} {
		_, err := r.host.Start(t.Context(), manifestFor(name), actors.StartOptions{})
		require.NoError(t, err)
	}
	return r
}

// full asks as send does, and returns all of the answer. It follows no redirect.
func (r *running) full(t testing.TB, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.address+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else {
			req.Header.Add(header[i], header[i+1])
		}
	}
	got, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return got, string(text)
}

func TestEndpoints_whoMayAsk(t *testing.T) {
	const visit = "Sec-Fetch-Site=cross-site Sec-Fetch-Mode=navigate Sec-Fetch-Dest=document"
	for _, row := range []struct {
		name         string
		guard        Guard
		closed       bool
		method, path string
		header       string // NAME=VALUE, apart by blanks
		want         int
		says         string
	}{
		{name: "public, no token", guard: locked, path: "/users/1", want: 200},
		{name: "public, a wrong token", guard: locked, path: "/users/1", header: "Authorization=Bearer+no", want: 200},
		{name: "private, no token", guard: locked, path: "/private", want: 401, says: "Authorization: Bearer TOKEN"},
		{name: "private, a wrong token", guard: locked, path: "/private", header: "Authorization=Bearer+no", want: 401},
		{name: "private, the token", guard: locked, path: "/private", header: "Authorization=Bearer+" + aToken, want: 200},
		{name: "nothing there, no token", guard: locked, path: "/nothing", want: 401},
		{name: "nothing there, the token", guard: locked, path: "/nothing", header: "Authorization=Bearer+" + aToken, want: 404, says: "GET /users/:id"},
		{name: "public, but closed", guard: locked, closed: true, path: "/users/1", want: 401},
		{name: "a webhook", guard: locked, method: "POST", path: "/webhooks/push", want: 500},
		{name: "a webhook, but closed", guard: locked, closed: true, method: "POST", path: "/webhooks/push", want: 401},
		{name: "loopback without a token: public", guard: ajar, path: "/users/1", want: 200},
		{name: "loopback without a token: private", guard: ajar, path: "/private", want: 403, says: "airi-host call"},
		{name: "loopback without a token: closed", guard: ajar, closed: true, path: "/users/1", want: 403},
		{name: "loopback without a token: nothing there", guard: ajar, path: "/nothing", want: 404, says: "it offers"},
		{name: "the control socket", guard: Guard{}, path: "/private", want: 200},
		{name: "beyond loopback: public", guard: Guard{Open: true, Token: aToken}, path: "/users/1", header: "Host=other.example", want: 200},
		{name: "beyond loopback: private", guard: Guard{Open: true, Token: aToken}, path: "/private", want: 401},
		{name: "a name that points here", guard: locked, path: "/users/1", header: "Host=evil.example", want: 403, says: "evil.example"},
		{name: "a name that points here, visited", guard: locked, path: "/users/1", header: "Host=evil.example " + visit, want: 403},
		{name: "a page's fetch", guard: locked, path: "/users/1", header: "Sec-Fetch-Site=cross-site Sec-Fetch-Mode=no-cors", want: 403, says: "web page"},
		{name: "a page's fetch with an origin", guard: locked, method: "POST", path: "/echo", header: "Origin=http://evil.example", want: 403},
		{name: "a page in a sandbox", guard: locked, method: "POST", path: "/echo", header: "Origin=null", want: 403},
		{name: "a link", guard: locked, path: "/users/1", header: visit, want: 200},
		{name: "a link to what is private", guard: locked, path: "/private", header: visit + " Authorization=Bearer+" + aToken, want: 403},
		{name: "a form of another page", guard: locked, method: "POST", path: "/echo", header: visit, want: 403},
		{name: "a frame in another page", guard: locked, path: "/users/1", header: "Sec-Fetch-Site=cross-site Sec-Fetch-Mode=navigate Sec-Fetch-Dest=iframe", want: 403},
		{name: "a page that is listed", guard: locked, path: "/users/1", header: "Origin=http://here.example", want: 200},
		{name: "a page that is listed, private", guard: locked, path: "/private", header: "Origin=http://here.example", want: 401},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := startWeb(t, row.guard, Endpoints{Closed: row.closed})
			var header []string
			for _, one := range strings.Fields(row.header) {
				name, value, _ := strings.Cut(one, "=")
				header = append(header, name, strings.ReplaceAll(value, "+", " "))
			}
			method := row.method
			if method == "" {
				method = http.MethodGet
			}
			got, body := r.full(t, method, "/plugins/web"+row.path, "", header...)
			require.Equal(t, row.want, got.StatusCode, body)
			require.Contains(t, body, row.says)
			if row.want == http.StatusUnauthorized {
				require.Equal(t, "Bearer", got.Header.Get("WWW-Authenticate"))
			}
		})
	}
}

// The guard of a host that reads its settings again is asked for at each request.
func TestEndpoints_theGuardInForceIsGoneBy(t *testing.T) {
	var now atomic.Pointer[Guard]
	now.Store(&locked)
	r := startWeb(t, Guard{Current: func() Guard { return *now.Load() }}, Endpoints{})
	ask := func(path string, header ...string) int {
		t.Helper()
		got, _ := r.full(t, http.MethodGet, "/plugins/web"+path, "", header...)
		return got.StatusCode
	}
	require.Equal(t, 401, ask("/private"))
	require.Equal(t, 200, ask("/private", bearer...))
	require.Equal(t, 200, ask("/users/1"))
	require.Equal(t, 403, ask("/users/1", "Origin", "http://evil.example"))
	require.Equal(t, 403, ask("/users/1", "Host", "evil.example"))
	now.Store(&Guard{Loopback: true, Token: "another-token-0123"})
	require.Equal(t, 401, ask("/private", bearer...))
	require.Equal(t, 200, ask("/private", "Authorization", "Bearer another-token-0123"))
}

func TestEndpoints_aListedPageAsksFirst(t *testing.T) {
	r := startWeb(t, locked, Endpoints{})
	got, _ := r.full(t, http.MethodOptions, "/plugins/web/users/1", "", "Origin", "http://here.example", "Access-Control-Request-Method", "DELETE")
	require.Equal(t, http.StatusNoContent, got.StatusCode)
	require.Equal(t, "DELETE, GET, HEAD, OPTIONS", got.Header.Get("Access-Control-Allow-Methods"))
	got, _ = r.full(t, http.MethodOptions, "/plugins/web/private", "", "Access-Control-Request-Method", "GET")
	require.Equal(t, http.StatusUnauthorized, got.StatusCode, "one that is no page shows its token")
}

func TestEndpoints_whatThePluginIsTold(t *testing.T) {
	r := startWeb(t, locked, Endpoints{})
	got, body := r.full(t, http.MethodPost, "/plugins/web/echo?a=1&b=2&b=3&c", `{"n":1}`,
		"Content-Type", "application/json", "Authorization", "Bearer "+aToken, "Cookie", "session=1", "Connection", "X-Hop", "X-Hop", "1",
		"Te", "trailers", "Proxy-Authorization", "x", "Content-Transfer-Encoding", "base64", "X-Two", "1", "X-Two", "2", "User-Agent", "me",
		"Accept-Encoding", "identity")
	require.Equal(t, http.StatusOK, got.StatusCode, body)
	require.JSONEq(t, `{
		"params": {}, "query": {"a": ["1"], "b": ["2", "3"], "c": [""]}, "body": {"n": 1},
		"headers": {"content-type": ["application/json"], "content-length": ["7"], "x-two": ["1, 2"], "user-agent": ["me"], "accept-encoding": ["identity"]}
	}`, body)
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	for _, row := range []struct{ kind, body, want, encoding string }{
		{"text/plain", "hi", `"hi"`, ""},
		{"application/x-www-form-urlencoded", "a=b", `"a=b"`, ""},
		{"application/problem+json; charset=utf-8", `[1]`, `[1]`, ""},
		{"application/json", ``, `null`, ""},
		{"image/png", "\xff\x00", `"/wA="`, `["base64"]`},
		{"", "x", `"x"`, ""},
	} {
		got, body := r.full(t, http.MethodPost, "/plugins/web/echo", row.body, "Content-Type", row.kind)
		require.Equal(t, http.StatusOK, got.StatusCode, body)
		var in struct {
			Headers map[string]json.RawMessage `json:"headers"`
			Body    json.RawMessage            `json:"body"`
		}
		require.NoError(t, json.Unmarshal([]byte(body), &in))
		require.Equal(t, row.want, string(in.Body))
		require.Equal(t, row.encoding, string(in.Headers["content-transfer-encoding"]))
	}
	got, body = r.full(t, http.MethodPost, "/plugins/web/echo", "{", "Content-Type", "application/json")
	require.Equal(t, http.StatusBadRequest, got.StatusCode)
	require.Contains(t, body, "not the JSON")
}

func TestEndpoints_paths(t *testing.T) {
	r := startWeb(t, Guard{}, Endpoints{})
	for path, want := range map[string]string{
		"/plugins/web":                   "200 root",
		"/plugins/web/":                  "200 root",
		"/plugins/@acme%2Fweb/users/me":  "200 me",
		"/plugins/web/users/me":          "200 me",
		"/plugins/web/users/7":           `200 "params":{"id":"7"}`,
		"/plugins/web/users/a%2Fb":       `200 "params":{"id":"a/b"}`,
		"/plugins/web/users/%C3%BC%20":   `200 "params":{"id":"ü "}`,
		"/plugins/web/users/..%2f..%2fx": "400 leads elsewhere",
		"/plugins/web/users/%2e%2e":      "400 leads elsewhere",
		"/plugins/web/users/a%5c..%5cb":  "400 leads elsewhere",
		"/plugins/web/users/a%00b":       "400 control character",
		"/plugins/web/../../healthz":     "400 leads elsewhere",
		"/plugins/web/users/":            "404 GET /users/:id",
		"/plugins/web//users/7":          "404",
		"/plugins/web/users/7/":          "404",
		"/plugins/web/users%2F7":         "404",
		"/plugins/nobody/x":              `404 no plugin is called \"nobody\"; there are: talker, web`,
		"/plugins/":                      "404 no plugin is called",
		"/plugins/talker/x":              "404 it offers no endpoint",
		"/%70lugins/web/users/7":         "404 there is no such thing",
		"/plugins/web/echo":              "405 expected one of POST, OPTIONS",
		"/plugins/web/webhooks/push":     "405 expected one of POST, OPTIONS",
	} {
		status, says, _ := strings.Cut(want, " ")
		got, body := raw(t, r, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
		require.Equal(t, status, strconv.Itoa(got.StatusCode), "%s: %s", path, body)
		require.Contains(t, body, says, path)
	}
}

// raw sends what no client would, and reads one answer.
func raw(t testing.TB, r *running, request string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", r.address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return got, string(body)
}

func TestEndpoints_methods(t *testing.T) {
	r := startWeb(t, Guard{}, Endpoints{})
	got, body := r.full(t, http.MethodHead, "/plugins/web/users/me", "")
	require.Equal(t, []any{200, "", "2"}, []any{got.StatusCode, body, got.Header.Get("Content-Length")})
	got, _ = r.full(t, http.MethodOptions, "/plugins/web/users/7", "")
	require.Equal(t, []any{204, "DELETE, GET, HEAD, OPTIONS"}, []any{got.StatusCode, got.Header.Get("Allow")})
	got, _ = r.full(t, http.MethodPatch, "/plugins/web/users/7", "")
	require.Equal(t, []any{405, "DELETE, GET, HEAD, OPTIONS"}, []any{got.StatusCode, got.Header.Get("Allow")})
	got, body = r.full(t, http.MethodDelete, "/plugins/web/users/7", "")
	require.Equal(t, 200, got.StatusCode, body)
	got, body = r.full(t, http.MethodPost, "/plugins/web/webhooks/push", `{"a":1}`, "X-Event", "push")
	require.Equal(t, 204, got.StatusCode, body)
	got, body = r.full(t, http.MethodPost, "/plugins/web/webhooks/push", "\xff")
	require.Equal(t, 400, got.StatusCode, body)
}

func TestEndpoints_answers(t *testing.T) {
	r := startWeb(t, Guard{}, Endpoints{})
	for path, want := range map[string]struct {
		status     int
		body, kind string
	}{
		"/users/me": {200, "me", "text/plain; charset=utf-8"},
		"/json":     {201, "[1]", "application/json"},
		"/bytes":    {200, "\x89P\x00\xff", "image/png"},
		"/none":     {204, "", ""},
		"/moved":    {302, "", ""},
	} {
		got, body := r.full(t, http.MethodGet, "/plugins/web"+path, "")
		require.Equal(t, []any{want.status, want.body, want.kind}, []any{got.StatusCode, body, got.Header.Get("Content-Type")}, path)
		require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
		require.Equal(t, sandbox, got.Header.Get("Content-Security-Policy"))
	}
	got, _ := r.full(t, http.MethodGet, "/plugins/web/moved", "")
	require.Equal(t, "/plugins/web/", got.Header.Get("Location"))
}

func TestEndpoints_answersThatAreTooBold(t *testing.T) {
	r := startWeb(t, ajar, Endpoints{})
	got, body := r.full(t, http.MethodGet, "/plugins/web/bold", "")
	require.Equal(t, []any{200, "<p>"}, []any{got.StatusCode, body})
	got.Header.Del("Date")
	require.Equal(t, http.Header{
		"Content-Type": {"text/html"}, "X-Fine": {"1"}, "Cache-Control": {"max-age=5"}, "X-Content-Type-Options": {"nosniff"},
		"Content-Security-Policy": {"default-src 'none'", sandbox}, "Content-Length": {"3"},
	}, got.Header)
	require.EqualValues(t, 9, r.server.endpoints.dropped.Load())
	for path, says := range map[string]string{
		"/inject":   "result.headers.x-a: its value has a line break",
		"/misnamed": "is not the name of a header",
		"/many":     "at most 64 of 16384 bytes",
		"/early":    "expected a whole number from 200 to 599",
		"/unbase":   "it is not base64",
		"/fails":    "the password is 7",
		"/panics":   "panic",
	} {
		got, body := r.full(t, http.MethodGet, "/plugins/web"+path, "")
		want := http.StatusBadGateway
		if path == "/fails" || path == "/panics" {
			want = http.StatusInternalServerError // the handler's own
		}
		require.Equal(t, want, got.StatusCode, path+" "+body)
		require.Contains(t, body, says)
		require.Empty(t, got.Header.Get("Set-Cookie"))
	}
}

func TestEndpoints_strangersHearNothingOfTroubles(t *testing.T) {
	r := startWeb(t, locked, Endpoints{})
	got, body := r.full(t, http.MethodGet, "/plugins/web/fails", "")
	require.Equal(t, http.StatusInternalServerError, got.StatusCode)
	require.JSONEq(t, `{"error": {"code": "failed", "message": "plugin web failed the request", "plugin": "web"}}`, body)
	_, body = r.full(t, http.MethodGet, "/plugins/web/fails", "", bearer...)
	require.Contains(t, body, "the password is 7")
}

func TestEndpoints_timeLimit(t *testing.T) {
	r := startWeb(t, Guard{}, Endpoints{Time: 50 * time.Millisecond})
	got, body := r.full(t, http.MethodGet, "/plugins/web/waits", "")
	require.Equal(t, http.StatusGatewayTimeout, got.StatusCode, body)
}

func TestEndpoints_bodyLimits(t *testing.T) {
	r := startWeb(t, ajar, Endpoints{Body: 10})
	got, body := r.full(t, http.MethodPost, "/plugins/web/echo", strings.Repeat("a", 11))
	require.Equal(t, http.StatusRequestEntityTooLarge, got.StatusCode)
	require.Contains(t, body, "larger than 10 bytes")
	got, _ = r.full(t, http.MethodPost, "/plugins/web/echo", strings.Repeat("a", 10))
	require.Equal(t, http.StatusOK, got.StatusCode)
	const post = "POST /plugins/web/echo HTTP/1.1\r\nHost: localhost\r\n"
	got, _ = raw(t, r, post+"Transfer-Encoding: chunked\r\n\r\nb\r\naaaaaaaaaaa\r\n0\r\n\r\n")
	require.Equal(t, http.StatusRequestEntityTooLarge, got.StatusCode, "of a length that is not told")
	got, _ = raw(t, r, post+"Content-Length: 1000000000000\r\n\r\na")
	require.Equal(t, http.StatusRequestEntityTooLarge, got.StatusCode, "nothing of it is awaited")
	got, _ = raw(t, r, "POST /plugins/web/private HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\na")
	require.Equal(t, http.StatusForbidden, got.StatusCode, "refused before the body has come")
	got, _ = raw(t, startWeb(t, ajar, Endpoints{Time: 100 * time.Millisecond}), post+"Content-Length: 5\r\n\r\na")
	require.Equal(t, http.StatusRequestTimeout, got.StatusCode, "the rest does not come")
}

func TestEndpoints_aSlowPluginKeepsNobodyFromOthers(t *testing.T) {
	r := startWeb(t, ajar, Endpoints{Each: 2, All: 3})
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	wait := func(plugin string) {
		waiting.Go(func() {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.address+"/plugins/"+plugin+"/waits", nil)
			if got, err := http.DefaultClient.Do(req); err == nil {
				_ = got.Body.Close()
			}
		})
	}
	wait("web")
	wait("web")
	wantEventually(t, func() bool { return r.server.endpoints.busy() == 2 }, "two are served")
	got, body := r.full(t, http.MethodGet, "/plugins/web/users/me", "")
	require.Equal(t, []any{429, "1"}, []any{got.StatusCode, got.Header.Get("Retry-After")}, body)
	require.Contains(t, body, "2 requests to its endpoints")
	got, body = r.full(t, http.MethodGet, "/plugins/@acme%2Fweb/users/me", "")
	require.Equal(t, 200, got.StatusCode, body)
	wait("@acme%2Fweb")
	wantEventually(t, func() bool { return r.server.endpoints.busy() == 3 }, "three are served")
	got, body = r.full(t, http.MethodGet, "/plugins/@acme%2Fweb/users/me", "")
	require.Equal(t, 429, got.StatusCode, body)
	require.Contains(t, body, "3 requests to plugins' endpoints")
	_, metrics := r.get(t, "/metrics")
	require.Contains(t, metrics, "airi_host_endpoint_requests 3")
	require.Contains(t, metrics, `airi_host_endpoint_answers_total{status="4xx"} 2`)
	status, _ := r.get(t, "/api/v1/host")
	require.Equal(t, 200, status)
	cancel()
	wantEventually(t, func() bool { return r.server.endpoints.busy() == 0 }, "who has gone is served no more")
}

func TestEndpoints_aThousandAtOnce(t *testing.T) {
	r := startWeb(t, ajar, Endpoints{})
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 200}}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	statuses := make(chan int, 1000)
	for i := range 1000 {
		all.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s/plugins/web/users/%d", r.address, i), nil)
			if err != nil {
				return
			}
			got, err := client.Do(req)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(got.Body)
			_ = got.Body.Close()
			if got.StatusCode == 200 && !strings.Contains(string(body), fmt.Sprintf(`"id":"%d"`, i)) {
				return
			}
			statuses <- got.StatusCode
		})
	}
	status, _ := r.get(t, "/healthz")
	require.Equal(t, 200, status)
	all.Wait()
	close(statuses)
	seen := map[int]int{}
	for status := range statuses {
		seen[status]++
	}
	require.Equal(t, 1000, seen[200]+seen[429], "%v", seen)
	require.NotZero(t, seen[200])
	require.Zero(t, r.server.endpoints.busy())
}

func TestEndpoints_aPluginThatIsNotReady(t *testing.T) {
	r := startWeb(t, locked, Endpoints{})
	_, err := r.host.Stop(t.Context(), sessionOf(t, r, "web"))
	require.NoError(t, err)
	got, body := r.full(t, http.MethodGet, "/plugins/web/users/1", "", bearer...)
	require.Equal(t, 503, got.StatusCode, body)
	require.Contains(t, body, "plugin web is stopped")
	require.Empty(t, got.Header.Get("Retry-After"), "it does not start by itself")
	got, _ = r.full(t, http.MethodGet, "/plugins/web/users/1", "")
	require.Equal(t, 401, got.StatusCode)
}

// sessionOf is the id of a plugin's session.
func sessionOf(t testing.TB, r *running, name string) string {
	t.Helper()
	for _, s := range r.host.Sessions() {
		if s.Plugin == name {
			return s.ID
		}
	}
	t.Fatalf("plugin %s has no session", name)
	return ""
}
