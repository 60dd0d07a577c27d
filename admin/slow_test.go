package admin

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever sends bodies slowly takes the places of nobody else for long.
func TestServer_slowBodiesKeepNobodyFromBeingAnswered(t *testing.T) {
	const patient = time.Hour
	head := " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
	for name, c := range map[string]struct{ slow, method, path, body string }{
		"the API's":    {"POST /api/v1/call", http.MethodGet, "/api/v1/host", ""},
		"one plugin's": {"POST /plugins/web/echo", http.MethodPost, "/plugins/web/echo", "{}"},
		"all plugins'": {"POST /plugins/@acme%2Fweb/echo", http.MethodPost, "/plugins/web/echo", "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := Endpoints{Each: 4, All: 8, Time: patient}
			if name == "all plugins'" {
				limits = Endpoints{Each: 4, All: 4, Time: patient}
			}
			r := startWebWith(t, ajar, Options{Limits: Limits{Requests: 4, BodyTime: patient}, Endpoints: limits})
			for range 4 {
				conn, err := net.Dial("tcp", r.address)
				require.NoError(t, err)
				defer func() { _ = conn.Close() }()
				_, err = io.WriteString(conn, c.slow+head)
				require.NoError(t, err)
			}
			wantEventually(t, func() bool { return len(r.server.requests)+r.server.endpoints.busy() == 4 }, "they hold all places")
			wantEventually(t, func() bool {
				got, _ := r.full(t, c.method, c.path, c.body, "Content-Type", "application/json", "Connection", "close")
				return got.StatusCode == http.StatusOK
			}, "somebody else is answered")
			require.Positive(t, r.server.pushed.Load())
		})
	}
}

// A body that comes at once is not slow, and a request that is at work is nobody's to end.
func TestServer_onlyAnAwaitedBodyIsBrokenOff(t *testing.T) {
	l, dial := listenFor(t, 4)
	s := Starting(Limits{}, nil)
	s.limited = []*limited{l}
	next := func(place string, since time.Time) *connection {
		dial()
		got, err := l.Accept()
		require.NoError(t, err)
		c := got.(*connection)
		c.place = place
		c.await(since)
		return c
	}
	long := time.Now().Add(-time.Hour)
	fresh, other, atWork, old := next(placeAPI, time.Now().Add(time.Hour)), next("web", long), next(placeAPI, long), next(placeAPI, long)
	atWork.work()
	require.True(t, s.breakOff(ofAPI))
	require.Equal(t, []bool{false, false, false, true}, []bool{fresh.gone, other.gone, atWork.gone, old.gone})
	require.False(t, s.breakOff(ofAPI))
	require.True(t, s.breakOff(func(place string) bool { return place == "web" }))
	require.True(t, other.gone)
}
