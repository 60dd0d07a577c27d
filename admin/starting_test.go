package admin

import (
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
)

// wantAnswer asks a server that is no running one.
func wantAnswer(t *testing.T, address, method, path string, status int, body string) {
	t.Helper()
	r := &running{address: address}
	got, text := r.send(t, method, path, "")
	require.Equal(t, status, got, path)
	require.Contains(t, text, body, path)
}

func TestStarting_saysThatItLives(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	s := Starting(Limits{}, nil)
	s.Serve(l, Guard{Loopback: true})
	wantAnswer(t, address, http.MethodGet, "/healthz", 200, `{"status":"ok"}`)
	wantAnswer(t, address, http.MethodGet, "/readyz", 503, `{"ready":false,"starting":true,"plugins":0}`)
	for path, method := range map[string]string{pathAPI + "/plugins": http.MethodGet, "/metrics": http.MethodGet, "/": http.MethodGet, "/healthz": http.MethodPost} {
		wantAnswer(t, address, method, path, 503, `"message":"the host is starting: it reads its plugins' manifests; try again in a moment"`)
	}
	status, body := (&running{address: address}).get(t, "/readyz", "Host", "example.org")
	require.Equal(t, http.StatusForbidden, status, body)

	host, err := actors.New(actors.Options{})
	require.NoError(t, err)
	s.Run(host, Options{Version: "v7", Plugins: []string{"one"}})
	wantAnswer(t, address, http.MethodGet, "/readyz", 503, `{"ready":false,"plugins":1,"notReady":[{"plugin":"one"`)
	wantAnswer(t, address, http.MethodGet, pathAPI+"/host", 200, `"version":"v7"`)
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, host.Shutdown(t.Context()))
	require.NoError(t, s.Shutdown(t.Context()))
}

func TestStarting_mayEndBeforeThereIsAHost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := Starting(Limits{}, nil)
	s.Serve(l, Guard{})
	require.NoError(t, s.Shutdown(t.Context()))
	_, err = net.Dial("tcp", l.Addr().String())
	require.Error(t, err)
}
