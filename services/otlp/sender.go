package otlp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/propagation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// Options say where a Sender sends to. All but the Endpoint may be left out.
type Options struct {
	// Endpoint is the collector's URL, e.g. "http://localhost:4318"; /v1/traces and
	// /v1/logs are below it.
	Endpoint string
	// Headers go with every request, e.g. a token. They are never logged.
	Headers map[string]string
	// Version is the host's, Instance its id.
	Version, Instance string
	// Queue is how many spans may wait, and how many events: 2048. Batch is how many go
	// with one request: 512.
	Queue, Batch int
	// Interval is how long what has come may wait for more: 2 s. Timeout bounds a
	// request with all of its repetitions: 10 s.
	Interval, Timeout time.Duration
	// Log is told when the collector goes and comes back, and of what is dropped; nil
	// discards it.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Queue = cmp.Or(max(o.Queue, 0), 2048)
	o.Batch = min(cmp.Or(max(o.Batch, 0), 512), o.Queue)
	o.Interval = cmp.Or(max(o.Interval, 0), 2*time.Second)
	o.Timeout = cmp.Or(max(o.Timeout, 0), 10*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// CheckEndpoint says what is wrong with an Endpoint, nil for nothing.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New(`expected the URL of an OpenTelemetry collector, e.g. "http://localhost:4318"`)
	case u.User != nil:
		return errors.New("a user and a password do not stand here: put them into the headers")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("expected a URL without a query")
	}
	return nil
}

// Sender sends to one collector. All its methods may be called from any goroutine.
type Sender struct {
	client  *http.Client
	spans   *queue[sdktrace.ReadOnlySpan]
	events  *queue[sdklog.Record]
	traces  *sdktrace.TracerProvider
	logs    *sdklog.LoggerProvider
	tracer  trace.Tracer
	logger  log.Logger
	closing sync.Once
	err     error
}

var _ services.Telemetry = (*Sender)(nil)

// scope is how the host is named as the source of what it sends.
const scope = "github.com/airi-host/airi-host"

// New makes a Sender, which begins to send when there is something; whether anybody is
// there to take it shows then. Close must follow.
func New(o Options) (*Sender, error) {
	if err := CheckEndpoint(o.Endpoint); err != nil {
		return nil, fmt.Errorf("the telemetry endpoint: %w", err)
	}
	o = o.withDefaults()
	s := &Sender{client: &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // headers are for one host
	}}
	base := strings.TrimSuffix(o.Endpoint, "/")
	ctx := context.Background() // nothing is connected yet
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base+"/v1/traces"), otlptracehttp.WithHeaders(o.Headers),
		otlptracehttp.WithHTTPClient(s.client), otlptracehttp.WithTimeout(o.Timeout), otlptracehttp.WithRetry(retries(o)))
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	events, err := otlploghttp.New(ctx, otlploghttp.WithEndpointURL(base+"/v1/logs"), otlploghttp.WithHeaders(o.Headers),
		otlploghttp.WithHTTPClient(s.client), otlploghttp.WithTimeout(o.Timeout), otlploghttp.WithRetry(otlploghttp.RetryConfig(retries(o))))
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	about := resource.NewSchemaless(attribute.String("service.name", "airi-host"),
		attribute.String("service.version", o.Version), attribute.String("service.instance.id", o.Instance))
	s.spans = newQueue("spans", o, spans.ExportSpans)
	s.events = newQueue("events", o, events.Export)
	s.traces = sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithSpanProcessor(spanQueue{s.spans, spans}),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())))
	s.logs = sdklog.NewLoggerProvider(sdklog.WithResource(about), sdklog.WithProcessor(eventQueue{s.events, events}))
	s.tracer, s.logger = s.traces.Tracer(scope), s.logs.Logger(scope)
	return s, nil
}

func retries(o Options) otlptracehttp.RetryConfig {
	return otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: o.Timeout / 10, MaxInterval: o.Timeout / 2, MaxElapsedTime: o.Timeout,
	}
}

// Spans and Events tell what became of what was to be sent.
func (s *Sender) Spans() Counts { return s.spans.counts() }

// Events is as Spans.
func (s *Sender) Events() Counts { return s.events.counts() }

// Close sends what is left until ctx ends. What comes later is dropped.
func (s *Sender) Close(ctx context.Context) error {
	s.closing.Do(func() {
		var both sync.WaitGroup
		both.Go(func() { s.spans.close(ctx) })
		both.Go(func() { s.events.close(ctx) })
		both.Wait()
		s.err = errors.Join(s.traces.Shutdown(ctx), s.logs.Shutdown(ctx))
		s.client.CloseIdleConnections()
	})
	return s.err
}

// Span sends what a plugin has done.
func (s *Sender) Span(one services.Span) {
	_, span := s.tracer.Start(parent(one.Trace), one.Name, trace.WithTimestamp(one.Start),
		trace.WithAttributes(about(one.Plugin, one.Company, one.Attributes)...))
	switch one.Status {
	case services.SpanOK:
		span.SetStatus(codes.Ok, "")
	case services.SpanFailed:
		span.SetStatus(codes.Error, "")
	case services.SpanUnset:
	}
	span.End(trace.WithTimestamp(one.End))
}

// Event sends what a plugin has told.
func (s *Sender) Event(one services.TelemetryEvent) {
	var r log.Record
	r.SetEventName(one.Name)
	r.SetTimestamp(one.At)
	r.SetObservedTimestamp(one.At)
	r.SetSeverity(log.SeverityInfo)
	r.AddAttributes(about(one.Plugin, one.Company, one.Dimensions)...)
	s.logger.Emit(parent(one.Trace), r)
}

// Call begins the span of a call, and returns the traceparent of what is done for it.
// The span ends with ended, which has the call's error.
func (s *Sender) Call(c protocol.Call) (traceparent string, ended func(error)) {
	list := about(c.Plugin, c.Scope, nil)
	if c.Caller != "" {
		list = append(list, attribute.String("caller.name", c.Caller))
	}
	ctx, span := s.tracer.Start(parent(c.Trace), c.Key, trace.WithAttributes(list...))
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"], func(err error) {
		if err != nil {
			code := string(cmp.Or(protocol.CodeOf(err), "failed"))
			span.SetAttributes(attribute.String("error.type", code))
			span.SetStatus(codes.Error, code)
		}
		span.End()
	}
}

// parent is a context in which what has a traceparent is a part of that trace.
func parent(traceparent string) context.Context {
	if traceparent == "" {
		return context.Background()
	}
	return propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": traceparent})
}

// about are the attributes of what a plugin has told. Those that have the names of the
// host's own are left out.
func about(plugin, company string, own []services.Attribute) []attribute.KeyValue {
	list := make([]attribute.KeyValue, 0, len(own)+2)
	if plugin != "" {
		list = append(list, attribute.String("plugin.name", plugin))
	}
	if company != "" {
		list = append(list, attribute.String("company.id", company))
	}
	for _, a := range own {
		if a.Name == "plugin.name" || a.Name == "company.id" {
			continue
		}
		switch v := a.Value.(type) {
		case string:
			list = append(list, attribute.String(a.Name, v))
		case bool:
			list = append(list, attribute.Bool(a.Name, v))
		case int64:
			list = append(list, attribute.Int64(a.Name, v))
		case float64:
			list = append(list, attribute.Float64(a.Name, v))
		}
	}
	return list
}

// spanQueue puts spans that are over into the queue.
type spanQueue struct {
	*queue[sdktrace.ReadOnlySpan]
	to sdktrace.SpanExporter
}

func (spanQueue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (q spanQueue) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		q.put(s)
	}
}

func (q spanQueue) Shutdown(ctx context.Context) error { return q.to.Shutdown(ctx) }

func (spanQueue) ForceFlush(context.Context) error { return nil }

// eventQueue puts events into the queue.
type eventQueue struct {
	*queue[sdklog.Record]
	to sdklog.Exporter
}

func (eventQueue) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

func (q eventQueue) OnEmit(_ context.Context, r *sdklog.Record) error {
	q.put(r.Clone())
	return nil
}

func (q eventQueue) Shutdown(ctx context.Context) error { return q.to.Shutdown(ctx) }

func (eventQueue) ForceFlush(context.Context) error { return nil }
