package services

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// serving is a worker whose host may reach a web server.
func serving(t *testing.T, limits HTTP, handler http.HandlerFunc) (worker, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	limits.Allowed = allow(t, strings.TrimPrefix(server.URL, "http://"))
	return newWorker(t, &plugins{}, Options{HTTP: limits}), server.URL
}

func get(url string) string { return `{"url":"` + url + `"}` }

func TestFetch_asksAndAnswers(t *testing.T) {
	w, url := serving(t, HTTP{}, func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rw.Header().Add("X-Many", "1")
		rw.Header().Add("X-Many", "2")
		rw.Header().Set("Content-Type", "text/html")
		rw.Header().Set("X-Bytes", "\xfc 日")
		rw.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(rw, "<b>%s %s %s %s %s</b>", r.Method, r.RequestURI, r.Header.Get("X-A"), body, r.UserAgent())
	})
	got := w.fetch(`{"url":"` + url + `/a%20b?x=1#f","init":{"method":"post","headers":{"x-a":"b"},"body":"hé"}}`)
	require.Equal(t, 418, got.Status)
	require.Equal(t, "I'm a teapot", got.StatusText)
	require.Equal(t, "<b>POST /a%20b?x=1 b hé airi-host</b>", *got.Body)
	require.Equal(t, "1, 2", got.Headers["x-many"])
	require.Equal(t, "ü \u00e6\u0097\u00a5", got.Headers["x-bytes"], "as Node reads it: a Response takes no more")
	require.Equal(t, "text/html", got.Headers["content-type"])
	require.NotContains(t, w.call("http.fetch", get(url)), `\u003c`, "text is escaped no more than JSON needs")
}

func TestFetch_sendsTheURLsHost(t *testing.T) {
	w, url := serving(t, HTTP{}, func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, r.Host) })
	got := w.fetch(`{"url":"` + url + `","init":{"headers":{"host":"evil.example"}}}`)
	require.Equal(t, strings.TrimPrefix(url, "http://"), *got.Body)
}

func TestFetch_lineEndsInHeadersAreRefused(t *testing.T) {
	w, url := serving(t, HTTP{}, func(http.ResponseWriter, *http.Request) {})
	for _, header := range []string{`"x-a":"secret\r\nx-b: 2"`, `"x-a":"secret\n"`, `"x\r\ny":"secret"`, `" x":"secret"`, `"":"secret"`} {
		_, err := w.try("http.fetch", `{"url":"`+url+`","init":{"headers":{`+header+`}}}`)
		require.ErrorContains(t, err, "http.fetch: 127.0.0.1: net/http: invalid header field")
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestFetch_readsWhatIsCompressed(t *testing.T) {
	w, url := serving(t, HTTP{MaxResponse: 100}, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(rw)
		_, _ = io.WriteString(z, strings.Repeat("x", len(r.URL.Path)*50))
		_ = z.Close()
	})
	got := w.fetch(`{"url":"` + url + `/","init":{"headers":{"accept-encoding":"br"}}}`)
	require.Equal(t, strings.Repeat("x", 50), *got.Body)
	w.wantRefused(protocol.CodeOverloaded, "http.fetch", get(url+"/large"), "more than 100 bytes")
}

func TestFetch_theBodyIsText(t *testing.T) {
	w, url := serving(t, HTTP{}, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("a\xffb\x00")) })
	require.Equal(t, "a\ufffdb\x00", *w.fetch(get(url)).Body)
}

// new Response("", {status: 204}) throws in JavaScript, with null it does not.
func TestFetch_whatCannotHaveABodyHasNone(t *testing.T) {
	w, url := serving(t, HTTP{}, func(rw http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		rw.WriteHeader(status)
	})
	for _, status := range []int{204, 205, 304} {
		require.Nil(t, w.fetch(get(fmt.Sprintf("%s/%d", url, status))).Body)
	}
	require.Empty(t, *w.fetch(get(url + "/200")).Body)
	require.Empty(t, *w.fetch(`{"url":"` + url + `/404","init":{"method":"HEAD"}}`).Body)
}

func TestFetch_limitsTheResponse(t *testing.T) {
	w, url := serving(t, HTTP{MaxResponse: 10}, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(rw, strings.Repeat("x", len(r.URL.Path)))
	})
	require.Equal(t, "xxxxxxxxxx", *w.fetch(get(url + "/123456789")).Body)
	w.wantRefused(protocol.CodeOverloaded, "http.fetch", get(url+"/1234567890?secret"),
		"127.0.0.1 answers with more than 10 bytes, the limit: ask for less")
}

func TestFetch_limitsTheHeadersOfTheResponse(t *testing.T) {
	w, url := serving(t, HTTP{}, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("X-Large", strings.Repeat("x", maxResponseHeaders+1))
	})
	_, err := w.try("http.fetch", get(url))
	require.ErrorContains(t, err, "http.fetch: 127.0.0.1: ")
	require.ErrorContains(t, err, "exceeded")
}

func TestFetch_followsRedirects(t *testing.T) {
	w, url := serving(t, HTTP{MaxRedirects: 2}, func(rw http.ResponseWriter, r *http.Request) {
		next := map[string]string{"/1": "/2", "/2": "/3", "/3": "/4"}[r.URL.Path]
		if next == "" {
			body, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(rw, "%s %s %s %s", r.Method, body, r.Header.Get("Authorization"), r.Referer())
			return
		}
		http.Redirect(rw, r, next+"?secret=1", http.StatusTemporaryRedirect)
	})
	got := w.fetch(`{"url":"` + url + `/2","init":{"method":"POST","body":"b","headers":{"authorization":"me"}}}`)
	require.Equal(t, "POST b me ", *got.Body, "the query that led here is nobody's business")
	_, err := w.try("http.fetch", get(url+"/1"))
	require.EqualError(t, err, "http.fetch: 127.0.0.1: it redirects again after 2 times, the limit")
}

func TestFetch_mayFollowNone(t *testing.T) {
	w, url := serving(t, HTTP{MaxRedirects: -1}, func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "ftp://x/", http.StatusFound)
	})
	got := w.fetch(get(url))
	require.Equal(t, 302, got.Status)
	require.Equal(t, "ftp://x/", got.Headers["location"])
}

func TestFetch_checksWhereARedirectLeads(t *testing.T) {
	for to, words := range map[string]string{
		"http://10.0.0.1/secret":            "10.0.0.1 has no public address",
		"http://localhost.example/secret":   "localhost.example has no public address",
		"http://airi-host.invalid/invoke/k": "which only a plugin itself may call",
		"gopher://x/secret":                 "it redirects to a URL that is not followed",
	} {
		p := &plugins{}
		server := httptest.NewServer(http.RedirectHandler(to, http.StatusTemporaryRedirect))
		w := newWorker(t, p, Options{HTTP: HTTP{
			Allowed:  allow(t, strings.TrimPrefix(server.URL, "http://")),
			Resolver: names(map[string][]string{"localhost.example": {"127.0.0.1"}}),
		}})
		_, err := w.try("http.fetch", `{"url":"`+server.URL+`","init":{"method":"POST"}}`)
		require.ErrorContains(t, err, words)
		require.NotContains(t, err.Error(), "secret")
		require.Empty(t, p.invoked)
		server.Close()
	}
}

func TestFetch_verifiesTheNameOfATLSServer(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, r.TLS.ServerName) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it hears of refused handshakes
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	limits := HTTP{
		Allowed: allow(t, "127.0.0.1"), RootCAs: roots,
		Resolver: names(map[string][]string{"example.com": {"127.0.0.1"}, "other.org": {"127.0.0.1"}}),
	}
	w := newWorker(t, &plugins{}, Options{HTTP: limits})
	require.Equal(t, "example.com", *w.fetch(get("https://example.com:" + port)).Body)
	_, err = w.try("http.fetch", get("https://other.org:"+port))
	require.ErrorContains(t, err, "certificate is valid for")
	limits.RootCAs = nil
	_, err = newWorker(t, &plugins{}, Options{HTTP: limits}).try("http.fetch", get("https://example.com:"+port))
	require.ErrorContains(t, err, "certificate")
}

func TestFetch_usesNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	require.Nil(t, newFetcher(invoker{}, HTTP{}).transport.Proxy)
}

func TestFetch_aPluginHasALimitedNumberAtATime(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	w, url := serving(t, HTTP{MaxConcurrent: 1}, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			close(began)
			<-release
		}
	})
	var first sync.WaitGroup
	var err error
	first.Go(func() { _, err = w.try("http.fetch", get(url+"/wait")) })
	<-began
	w.wantRefused(protocol.CodeOverloaded, "http.fetch", get(url), "1 fetches of this plugin run, the limit")
	require.Equal(t, 200, w.fetch(post("/invoke/k", "")).Status, "the host's own address has no such limit")
	other := w
	other.name = "other"
	other.fetch(get(url))
	close(release)
	first.Wait()
	require.NoError(t, err)
	w.fetch(get(url))
}

func TestFetch_endsWithTheCall(t *testing.T) {
	gone := make(chan struct{})
	began := make(chan struct{})
	w, url := serving(t, HTTP{}, func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done() // the connection is closed
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	_, err := w.tryWith(ctx, "http.fetch", get(url))
	wantFault(t, err, protocol.CodeCancelled, "the caller gave up before 127.0.0.1 had answered")
	<-gone
}

// silent is a fetcher that connects to a server of which nothing comes but what write
// sends, in a bubble's time.
func silent(t *testing.T, limits HTTP, write string) *fetcher {
	t.Helper()
	f := newFetcher(invoker{}, limits)
	f.connect = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			_, _ = http.ReadRequest(bufio.NewReader(far))
			_, _ = io.WriteString(far, write)
			_, _ = io.Copy(io.Discard, far) // until the connection is closed
			_ = far.Close()
		}()
		return near, nil
	}
	return f
}

func TestFetch_hasThirtySecondsInAll(t *testing.T) {
	for name, write := range map[string]string{"no answer": "", "half a body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := try(t, silent(t, HTTP{}, write), "http://8.8.8.8/?secret")
				wantFault(t, err, protocol.CodeTimeout, "http.fetch: 8.8.8.8: no complete answer within 30s, the limit of a fetch")
				require.Equal(t, 30*time.Second, time.Since(began))
			})
		})
	}
}

func TestFetch_namesTheCallsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := silent(t, HTTP{}, "").fetch(ctx, protocol.Call{Key: "http.fetch", Caller: "demo", Input: []byte(get("http://8.8.8.8"))})
		wantFault(t, err, protocol.CodeTimeout, "the call's deadline passed before 8.8.8.8 had answered")
	})
}

func TestFetch_aServerMayEndTooSoon(t *testing.T) {
	w, url := serving(t, HTTP{}, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(rw, "half")
	})
	_, err := w.try("http.fetch", get(url+"/?secret"))
	require.EqualError(t, err, "http.fetch: 127.0.0.1: unexpected EOF")
	require.Empty(t, protocol.CodeOf(err))
}

func TestFetch_hasDefaults(t *testing.T) {
	f := newFetcher(invoker{}, HTTP{})
	require.Equal(t, 30*time.Second, f.limits.Timeout)
	require.Equal(t, 5*time.Second, f.limits.DNSTimeout)
	require.Equal(t, 10<<20, f.limits.MaxRequest)
	require.Equal(t, 10<<20, f.limits.MaxResponse)
	require.Equal(t, 20, f.limits.MaxRedirects)
	require.Equal(t, 16, f.slots.max)
	require.Equal(t, net.DefaultResolver, f.limits.Resolver)
}
