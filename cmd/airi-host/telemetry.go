package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/textproto"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/otlp"
)

// telemetryDrain is how long what is left of telemetry may take once the host has ended,
// unless the settings say otherwise.
const telemetryDrain = time.Second

// telemetry is where spans and events are sent to; nil is nowhere.
type telemetry struct {
	*otlp.Sender
	calls bool
	// drain is how long what is left may take.
	drain time.Duration
}

// openTelemetry begins to send, if the settings say where to. Its close must follow.
func (s *settings) openTelemetry(instance string, log *slog.Logger) (*telemetry, error) {
	t := s.Telemetry
	if t.Endpoint == "" {
		return nil, nil
	}
	headers, err := s.telemetryHeaders()
	if err != nil {
		return nil, err
	}
	options := s.telemetry(log)
	options.Headers, options.Version, options.Instance = headers, version(), instance
	sender, err := otlp.New(options)
	if err != nil {
		return nil, err
	}
	return &telemetry{sender, t.Calls == nil || *t.Calls, s.ends().telemetry}, nil
}

// telemetryHeaders reads the headers; no error quotes them.
func (s *settings) telemetryHeaders() (map[string]string, error) {
	const field = "telemetry.headers"
	switch where := s.Telemetry.Headers; {
	case where.File != "":
		text, err := readPrivate(where.File)
		if err != nil {
			return nil, fmt.Errorf("%s.file %s: %w", field, where.File, err)
		}
		return parseHeaders(field+".file", text)
	case where.Env != "":
		text, ok := os.LookupEnv(where.Env)
		if !ok {
			return nil, fmt.Errorf("%s.env: there is no variable %s: set it", field, where.Env)
		}
		return parseHeaders(field+".env", text)
	}
	return nil, nil
}

func parseHeaders(field, text string) (map[string]string, error) {
	all := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf(`%s: line %d: expected "NAME: VALUE"`, field, i+1)
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("%s: line %d: %s is there twice: keep one", field, i+1, name)
		}
		all[name] = value
	}
	return all, nil
}

// into has a host's calls and its plugins' telemetry sent.
func (t *telemetry) into(o *actors.Options) {
	if t != nil && t.calls {
		o.Trace = t.Call
	}
}

// taker is who takes what plugins tell; nil for nobody.
func (t *telemetry) taker() services.Telemetry {
	if t == nil {
		return nil
	}
	return t.Sender
}

// count shows what becomes of what is sent.
func (t *telemetry) count(m *admin.Metrics) {
	if t == nil || m == nil {
		return
	}
	const help = "Spans and events of telemetry, by what became of them."
	for what, counts := range map[string]func() otlp.Counts{"span": t.Spans, "event": t.Events} {
		m.Count("telemetry_total", help, func() uint64 { return counts().Sent }, "what", what, "outcome", "sent")
		m.Count("telemetry_total", help, func() uint64 { return counts().Failed }, "what", what, "outcome", "failed")
		m.Count("telemetry_total", help, func() uint64 { return counts().Dropped }, "what", what, "outcome", "dropped")
	}
}

// close sends what is left. That nobody took it is told already, and no failure.
func (t *telemetry) close(log *slog.Logger) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.drain)
	defer cancel()
	if err := t.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		log.Debug("ending telemetry", "error", err)
	}
	if spans, events := t.Spans(), t.Events(); spans.Dropped+spans.Failed+events.Dropped+events.Failed > 0 {
		log.Warn("telemetry was lost", "spans_failed", spans.Failed, "spans_dropped", spans.Dropped,
			"events_failed", events.Failed, "events_dropped", events.Dropped)
	}
}
