package admin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMetrics_countsWhatOthersCount(t *testing.T) {
	r := start(t, Options{})
	r.server.opts.Metrics.Count("telemetry_total", "Telemetry.", func() uint64 { return 7 }, "what", "span", "outcome", "sent")
	r.server.opts.Metrics.Gauge("store_bytes", "Bytes.", func() float64 { return 0.5 })
	_, body := r.get(t, "/metrics")
	require.Contains(t, body, `airi_host_telemetry_total{outcome="sent",what="span"} 7`)
	require.Contains(t, body, "\nairi_host_store_bytes 0.5\n")
}
