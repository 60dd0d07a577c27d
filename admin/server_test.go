package admin

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestServer_saysWhatThereIsNot(t *testing.T) {
	r := start(t, Options{})
	for path, text := range map[string]string{"/": "the API begins with /api/v1", pathAPI + "/nothing": "the API has no such path", pathAPI + "/call": "the API has no such path and method"} {
		status, body := r.get(t, path)
		require.Equal(t, http.StatusNotFound, status)
		require.Contains(t, body, text)
	}
}

func TestServer_containsPanics(t *testing.T) {
	var log bytes.Buffer
	s := &Server{log: slog.New(slog.NewTextHandler(&log, nil))}
	w := httptest.NewRecorder()
	s.contained(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("ouch") })).
		ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/x", nil))
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.Contains(t, w.Body.String(), `"code":"internal"`)
	require.NotContains(t, w.Body.String(), "ouch")
	require.Contains(t, log.String(), "panic=ouch")
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		s.contained(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/x", nil))
	})
}

func TestServer_answersSoManyAtATime(t *testing.T) {
	r := start(t, Options{Limits: Limits{Requests: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = r.Call(ctx, CallRequest{Key: "model:WAITS"})
	}()
	wantEventually(t, func() bool { return r.host.Sessions()[0].InFlight == 1 }, "one is answered")
	_, err := r.Plugins(t.Context())
	require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err))
	require.EqualError(t, err, "1 requests are being answered, the limit: try again later")
	status, _ := r.get(t, pathHealth)
	require.Equal(t, http.StatusOK, status)
	cancel()
	<-done
}

func TestServer_breaksOffWhoDoesNotGo(t *testing.T) {
	r := start(t, Options{Limits: Limits{FollowLines: 10}})
	stuck(t, r.address)
	wantEventually(t, func() bool { n, _, _ := r.server.followers.depth(); return n == 1 }, "it follows")
	for missed := uint64(0); missed == 0; _, _, missed = r.server.followers.depth() {
		_, err := r.host.Invoke(t.Context(), protocol.Call{Key: "model:TALKS", Input: []byte("10000")})
		require.NoError(t, err)
	}
	require.NoError(t, r.host.Shutdown(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.NoError(t, r.server.Shutdown(ctx))

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r.server.Serve(l, Guard{})
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed, "a server that is shut down takes no listener")
}

func TestFailure_everyCodeHasItsStatus(t *testing.T) {
	for _, code := range outcomes {
		_, ok := statuses[code]
		require.Equal(t, code != protocol.CodeInternal && code != CodeFailed, ok, "%s", code)
	}
	require.Equal(t, http.StatusInternalServerError, Failure{Code: CodeFailed}.status())
}
