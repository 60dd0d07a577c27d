package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

func TestParseHeaders(t *testing.T) {
	all, err := parseHeaders("f", "authorization: Bearer a:b \n\n X-Team:red\r\n")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Authorization": "Bearer a:b", "X-Team": "red"}, all)
	for text, says := range map[string]string{
		"secret":            `f: line 1: expected "NAME: VALUE"`,
		"A: 1\nb secret: 2": `f: line 2: expected "NAME: VALUE"`,
		"A: \x00secret":     `f: line 1: expected "NAME: VALUE"`,
		"A: 1\na: secret":   "f: line 2: A is there twice: keep one",
	} {
		_, err := parseHeaders("f", text)
		require.EqualError(t, err, says)
	}
}

func TestSettings_telemetryHeadersAreForNobodyElse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	require.NoError(t, os.WriteFile(file, []byte("A: secret"), 0o644)) //nolint:gosec // that is what is refused
	require.NoError(t, os.Chmod(file, 0o644))
	read := func(where manifest.TokenSource) (map[string]string, error) {
		s := &settings{Settings: manifest.Settings{Telemetry: manifest.TelemetrySettings{Endpoint: "http://localhost", Headers: where}}}
		return s.telemetryHeaders()
	}
	_, err := read(manifest.TokenSource{File: file})
	require.ErrorContains(t, err, "telemetry.headers.file "+file+": it can be read by others (mode 0644)")
	require.NoError(t, os.Chmod(file, 0o600))
	all, err := read(manifest.TokenSource{File: file})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"A": "secret"}, all)
	t.Setenv("AIRI_HOST_TEST_HEADERS", "B: secret")
	all, err = read(manifest.TokenSource{Env: "AIRI_HOST_TEST_HEADERS"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"B": "secret"}, all)
	_, err = read(manifest.TokenSource{Env: "AIRI_HOST_TEST_NONE"})
	require.EqualError(t, err, "telemetry.headers.env: there is no variable AIRI_HOST_TEST_NONE: set it")
}

func TestTelemetry_offUnlessConfigured(t *testing.T) {
	none, err := (&settings{}).openTelemetry("id", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Nil(t, none)
	var o actors.Options
	none.into(&o)
	require.Nil(t, o.Trace)
	require.Nil(t, none.taker())
	none.count(admin.NewMetrics())
	none.close(nil)
}

// TestTelemetry_reachesTheCollector makes a call in a host whose settings name a
// collector, and waits for what comes.
func TestTelemetry_reachesTheCollector(t *testing.T) {
	came := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- r.URL.Path + " " + string(body)
	}))
	defer collector.Close()
	s := &settings{Settings: manifest.Settings{Telemetry: manifest.TelemetrySettings{Endpoint: collector.URL}}}
	sender, err := s.openTelemetry("id", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	metrics := admin.NewMetrics()
	sender.count(metrics)
	o := actors.Options{Programs: programs()}
	sender.into(&o)
	host, err := actors.New(o)
	require.NoError(t, err)
	_, err = host.Invoke(t.Context(), protocol.Call{Key: "tool:none"})
	require.Error(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, host.Shutdown(ctx))
	sender.close(slog.New(slog.DiscardHandler))
	require.EqualValues(t, 1, sender.Spans().Sent)
	got := <-came
	require.Contains(t, got, "/v1/traces")
	require.Contains(t, got, "tool:none")
}
