package manifest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseSettings_telemetry(t *testing.T) {
	require.Equal(t, TelemetrySettings{
		Endpoint: "http://localhost:4318", Headers: TokenSource{File: "/run/secrets/otel"}, Calls: new(false), Queue: 10, Batch: 5,
		Interval: time.Second, Timeout: 2 * time.Second,
	}, wantSettings(t, `{"telemetry": {"endpoint": "http://localhost:4318", "headers": {"file": "/run/secrets/otel"}, "calls": false,
		"queue": 10, "batch": 5, "interval": "1s", "timeout": 2000}}`).Telemetry)
	wantSettingsProblems(t, `{"telemetry": {"endpoint": 1, "headers": {"file": "secret", "env": "a secret"}, "calls": 1, "queue": 0, "batch": 1e9, "interval": 0, "timeout": "x"}}`,
		`telemetry.endpoint: expected a URL, e.g. "http://localhost:4318", found a number, 1`,
		`telemetry.headers.file: expected the absolute path of a file, e.g. "/run/secrets/api", found another string: the secret itself does not stand here`,
		`telemetry.headers.env: expected the name of a variable, e.g. "API_KEY", found another string: the secret itself does not stand here`,
		"telemetry.headers: expected one of env and file, found both: remove one",
		"telemetry.calls: expected true or false, found a number, 1",
		"telemetry.queue: expected a whole number from 1 to 65536, found a number, 0",
		"telemetry.batch: expected a whole number from 1 to 65536, found a number, 1e9",
		`telemetry.interval: expected a time above 0 and up to 1h, as text ("5s") or in whole milliseconds (5000), found a number, 0`,
		`telemetry.timeout: expected a time above 0 and up to 1h, as text ("5s") or in whole milliseconds (5000), found "x"`,
	)
	wantSettingsProblems(t, `{"telemetry": {"queue": 1}}`, `telemetry.endpoint: is missing: expected a URL, e.g. "http://localhost:4318"`)
}

func TestParseSettings_telemetryEndpointIsChecked(t *testing.T) {
	_, problems := ParseSettings("f", []byte(`{"telemetry": {"endpoint": "http://u:p@x"}}`), SettingsOptions{
		CheckTelemetry: func(string) error { return errors.New("no passwords") },
	})
	require.Equal(t, []string{"telemetry.endpoint: no passwords"}, withoutFile(problems))
}
