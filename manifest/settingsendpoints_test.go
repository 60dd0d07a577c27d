package manifest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseSettings_endpoints(t *testing.T) {
	s := wantSettings(t, `{"endpoints": {"maxBody": 10, "timeout": "5s", "requests": 2, "all": 3, "closed": true}}`)
	require.Equal(t, EndpointSettings{MaxBody: 10, Timeout: 5 * time.Second, Requests: 2, All: 3, Closed: true}, s.Endpoints)
	wantSettingsProblems(t, `{"endpoints": {"maxBody": 0, "timeout": "x", "requests": 1.5, "all": 70000, "closed": 1, "open": true}}`,
		"endpoints.maxBody: expected a whole number from 1 to 134217728, found a number, 0",
		`endpoints.timeout: expected a time above 0 and up to 1h, as text ("5s") or in whole milliseconds (5000), found "x"`,
		"endpoints.requests: expected a whole number from 1 to 65536, found a number, 1.5",
		"endpoints.all: expected a whole number from 1 to 65536, found a number, 70000",
		"endpoints.closed: expected true or false, found a number, 1",
		"endpoints.open: unknown field: remove it (known are maxBody, timeout, requests, all, closed)",
	)
}
