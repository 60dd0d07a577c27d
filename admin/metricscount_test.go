package admin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMetrics_countsWhatOthersCount(t *testing.T) {
	r := start(t, Options{})
	r.server.opts.Metrics.Count("telemetry_total", "Telemetry.", func() uint64 { return 7 }, "what", "span", "outcome", "sent")
	_, body := r.get(t, "/metrics")
	require.Contains(t, body, `airi_host_telemetry_total{outcome="sent",what="span"} 7`)
}
