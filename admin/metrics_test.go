package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
)

func TestMetrics_countWhatTheHostDoes(t *testing.T) {
	r := start(t, Options{Version: "v9"})
	for _, key := range []string{"model:ECHO", "model:ECHO", "model:FAILS", "tool:SORRY", "tool:none", "no-kind-of-ours"} {
		_, _ = r.Call(t.Context(), CallRequest{Key: key, Input: json.RawMessage(`{}`)})
	}
	_, err := r.host.OpenPTY(t.Context(), actors.RouteRequest{Plugin: "talker"})
	require.Error(t, err)
	status, body := r.get(t, pathMetrics)
	require.Equal(t, 200, status)
	for _, line := range []string{
		`airi_host_calls_total{kind="model",outcome="done"} 2`,
		`airi_host_calls_total{kind="model",outcome="failed"} 1`,
		`airi_host_calls_total{kind="tool",outcome="plugin"} 1`,
		`airi_host_calls_total{kind="tool",outcome="not-found"} 1`,
		`airi_host_calls_total{kind="other",outcome="not-found"} 1`,
		`airi_host_call_seconds_count{kind="model"} 3`,
		`airi_host_sessions{phase="ready"} 1`,
		`airi_host_sessions{phase="failed"} 0`,
		`airi_host_calls_in_flight{plugin="talker"} 0`,
		`airi_host_crashes_total{plugin="talker"} 0`,
		`airi_host_capabilities{state="ready"} 8`,
		`airi_host_info{version="v9"} 1`,
		`airi_host_followers 0`,
		`airi_host_routes{kind="pty"} 0`,
		`airi_host_routes{kind="duplex"} 0`,
		`airi_host_routes_total{kind="pty",outcome="refused"} 1`,
		`airi_host_routes_total{kind="pty",outcome="opened"} 0`,
		`airi_host_routes_total{kind="duplex",outcome="lost"} 0`,
		`go_goroutines `,
	} {
		require.Contains(t, body, "\n"+line)
	}
}

func TestMetrics_canBeReadBeforeThereIsAServer(t *testing.T) {
	families, err := NewMetrics().registry.Gather()
	require.NoError(t, err)
	require.NotEmpty(t, families)
}

// What Observe adds to each call.
func BenchmarkMetrics_observe(b *testing.B) {
	m, err := NewMetrics(), errors.New("no luck")
	for name, c := range map[string]actors.CallEnded{"done": {Key: "tool:x"}, "failed": {Key: "tool:x", Err: err}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Observe(c)
			}
		})
	}
}

// Whoever asks for the metrics and does not take them is not waited for for ever.
func TestMetrics_haveToBeTaken(t *testing.T) {
	r := start(t, Options{})
	w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	r.server.mux.ServeHTTP(&paced{w, time.Minute}, httptest.NewRequest(http.MethodGet, pathMetrics, nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.WithinDuration(t, time.Now().Add(time.Minute), w.due, time.Minute/2)
}

// deadlined notes until when an answer is to be taken.
type deadlined struct {
	*httptest.ResponseRecorder
	due time.Time
}

func (d *deadlined) SetWriteDeadline(due time.Time) error {
	d.due = due
	return nil
}
