package manifest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wantHost reads what the object "airi-host" of a good manifest says.
func wantHost(t *testing.T, host string) HostFields {
	t.Helper()
	return wantManifest(t, withHost(host)).Host
}

// withHost returns a manifest with that object "airi-host".
func withHost(host string) string {
	return strings.TrimSuffix(hello, "}") + `, "airi-host": ` + host + `}`
}

func TestReader_boundsTheProblemsOfOneFile(t *testing.T) {
	_, problems := readText(t, withHost(`{"offers": [`+strings.Repeat("0,", maxProblems+4)+`0]}`))
	require.Len(t, problems, maxProblems+1)
	require.Equal(t, "5 more problems: correct these first", problems[maxProblems].Message)
}

func TestReader_timeouts(t *testing.T) {
	for written, want := range map[string]time.Duration{
		`"5s"`: 5 * time.Second, `"1m30s"`: 90 * time.Second, `"1h"`: time.Hour, `"1.5ms"`: 1500 * time.Microsecond,
		`5000`: 5 * time.Second, `1`: time.Millisecond, `3600000`: time.Hour, `2e3`: 2 * time.Second,
	} {
		require.Equal(t, want, wantHost(t, `{"timeouts": {"call": `+written+`}}`).Timeouts.Call, written)
	}
	for written, found := range map[string]string{
		`"0s"`: `"0s"`, `0`: "a number, 0", `-5`: "a number, -5", `"-5s"`: `"-5s"`, `"1h1ns"`: `"1h1ns"`, `3600001`: "a number, 3600001",
		`0.5`: "a number, 0.5", `1e300`: "a number, 1e300", `9223372036854775807`: "a number, 9223372036854775807",
		`9223372036855`: "a number, 9223372036855", // wraps round to a good time when multiplied
		`"5"`:           `"5"`, `""`: `""`, `null`: "null", `true`: "a boolean, true", `["5s"]`: "an array",
	} {
		wantProblems(t, withHost(`{"timeouts": {"call": `+written+`}}`),
			`airi-host.timeouts.call: expected a time above 0 and up to 1h, as text ("5s") or in whole milliseconds (5000), found `+found)
	}
}

func TestReader_wholeNumbers(t *testing.T) {
	for written, want := range map[string]int{`1`: 1, `65536`: 65536, `5.0`: 5, `1e3`: 1000} {
		require.Equal(t, want, wantHost(t, `{"limits": {"pendingCalls": `+written+`}}`).Limits.PendingCalls, written)
	}
	for written, found := range map[string]string{
		`0`: "a number, 0", `-1`: "a number, -1", `65537`: "a number, 65537", `1.5`: "a number, 1.5",
		`1e99`: "a number, 1e99", `1e999`: "a number, 1e999", `"5"`: `"5"`, `null`: "null",
	} {
		wantProblems(t, withHost(`{"limits": {"pendingCalls": `+written+`}}`),
			`airi-host.limits.pendingCalls: expected a whole number from 1 to 65536, found `+found)
	}
}
