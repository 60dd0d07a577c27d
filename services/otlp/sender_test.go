package otlp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	tracing "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// receiver is an OpenTelemetry collector.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	spans   map[string]*tracing.Span
	events  []*logs.LogRecord
	about   map[string]any
	headers []string
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{spans: map[string]*tracing.Span{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.headers = append(r.headers, req.Header.Get("X-Key"))
		switch req.URL.Path {
		case "/v1/traces":
			var in collectortrace.ExportTraceServiceRequest
			if proto.Unmarshal(body, &in) != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			for _, of := range in.ResourceSpans {
				r.about = plain(of.Resource.Attributes)
				for _, in := range of.ScopeSpans {
					for _, span := range in.Spans {
						r.spans[span.Name] = span
					}
				}
			}
		case "/v1/logs":
			var in collectorlogs.ExportLogsServiceRequest
			if proto.Unmarshal(body, &in) != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			for _, of := range in.ResourceLogs {
				for _, in := range of.ScopeLogs {
					r.events = append(r.events, in.LogRecords...)
				}
			}
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// plain are attributes as Go values.
func plain(list []*common.KeyValue) map[string]any {
	all := map[string]any{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			all[kv.Key] = v.StringValue
		case *common.AnyValue_BoolValue:
			all[kv.Key] = v.BoolValue
		case *common.AnyValue_IntValue:
			all[kv.Key] = v.IntValue
		case *common.AnyValue_DoubleValue:
			all[kv.Key] = v.DoubleValue
		}
	}
	return all
}

// open makes a sender, and returns what closes it.
func open(t *testing.T, o Options) (*Sender, func()) {
	t.Helper()
	s, err := New(o)
	require.NoError(t, err)
	return s, func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(t, s.Close(ctx))
	}
}

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	inTrace = "00-" + traceID + "-b7ad6b7169203331-01"
)

func TestSender_spans(t *testing.T) {
	r := receive(t)
	s, end := open(t, Options{Endpoint: r.URL, Headers: map[string]string{"X-Key": "secret"}, Version: "1", Instance: "h"})
	at := time.UnixMilli(1_700_000_000_000)
	s.Span(services.Span{
		Plugin: "lab", Company: "acme", Name: "pack", Trace: inTrace, Start: at, End: at.Add(9 * time.Millisecond), Status: services.SpanFailed,
		Attributes: []services.Attribute{{Name: "a", Value: "x"}, {Name: "n", Value: int64(3)}, {Name: "f", Value: 1.5}, {Name: "b", Value: true}, {Name: "plugin.name", Value: "other"}},
	})
	s.Span(services.Span{Plugin: "lab", Name: "alone", Start: at, End: at, Status: services.SpanOK})
	s.Span(services.Span{Plugin: "lab", Name: "unsampled", Trace: strings.TrimSuffix(inTrace, "1") + "0", Start: at, End: at})
	end()
	require.Equal(t, map[string]any{"service.name": "airi-host", "service.version": "1", "service.instance.id": "h"}, r.about)
	require.Len(t, r.spans, 2)
	pack := r.spans["pack"]
	require.Equal(t, traceID, hexOf(pack.TraceId))
	require.Equal(t, "b7ad6b7169203331", hexOf(pack.ParentSpanId))
	require.EqualValues(t, at.UnixNano(), pack.StartTimeUnixNano)
	require.EqualValues(t, at.Add(9*time.Millisecond).UnixNano(), pack.EndTimeUnixNano)
	require.Equal(t, tracing.Status_STATUS_CODE_ERROR, pack.Status.Code)
	require.Equal(t, map[string]any{"plugin.name": "lab", "company.id": "acme", "a": "x", "n": int64(3), "f": 1.5, "b": true}, plain(pack.Attributes))
	require.Empty(t, r.spans["alone"].ParentSpanId)
	require.Equal(t, tracing.Status_STATUS_CODE_OK, r.spans["alone"].Status.Code)
	require.Equal(t, []string{"secret"}, r.headers)
	require.Equal(t, Counts{Sent: 2}, s.Spans())
}

func hexOf(id []byte) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, c := range id {
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

func TestSender_events(t *testing.T) {
	r := receive(t)
	s, end := open(t, Options{Endpoint: r.URL + "/"})
	at := time.UnixMilli(1_700_000_000_000)
	s.Event(services.TelemetryEvent{
		Plugin: "lab", Company: "acme", Name: "plugin.lab.done", Trace: inTrace, At: at,
		Dimensions: []services.Attribute{{Name: "n", Value: int64(3)}},
	})
	end()
	s.Event(services.TelemetryEvent{Plugin: "lab", Name: "late"})
	require.Len(t, r.events, 1)
	event := r.events[0]
	require.Equal(t, "plugin.lab.done", event.EventName)
	require.Equal(t, traceID, hexOf(event.TraceId))
	require.EqualValues(t, at.UnixNano(), event.TimeUnixNano)
	require.Equal(t, map[string]any{"plugin.name": "lab", "company.id": "acme", "n": int64(3)}, plain(event.Attributes))
	require.EqualValues(t, 1, s.Events().Sent)
}

func TestSender_calls(t *testing.T) {
	r := receive(t)
	s, end := open(t, Options{Endpoint: r.URL})
	outer, ended := s.Call(protocol.Call{Key: "tool:a", Scope: "acme"})
	inner, innerEnded := s.Call(protocol.Call{Key: "tool:b", Plugin: "lab", Caller: "shop", Trace: outer})
	s.Span(services.Span{Plugin: "lab", Name: "pack", Trace: inner, Start: time.Now(), End: time.Now()})
	innerEnded(&protocol.Error{Code: protocol.CodeTimeout, Message: "the password is 7"})
	ended(errors.New("the password is 7"))
	end()
	a, b, pack := r.spans["tool:a"], r.spans["tool:b"], r.spans["pack"]
	require.Equal(t, "00-"+hexOf(a.TraceId)+"-"+hexOf(a.SpanId)+"-01", outer)
	require.Equal(t, [][]byte{a.SpanId, b.SpanId}, [][]byte{b.ParentSpanId, pack.ParentSpanId})
	require.Equal(t, map[string]any{"company.id": "acme", "error.type": "failed"}, plain(a.Attributes))
	require.Equal(t, map[string]any{"plugin.name": "lab", "caller.name": "shop", "error.type": "timeout"}, plain(b.Attributes))
	require.NotContains(t, a.String()+b.String(), "password")
}

func TestSender_aDeadCollectorIsToldWithoutSecrets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	var text strings.Builder
	s, end := open(t, Options{
		Endpoint: "http://" + l.Addr().String(), Headers: map[string]string{"Authorization": "Bearer secret"},
		Timeout: 100 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&text, nil)),
	})
	s.Span(services.Span{Name: "x", Start: time.Now(), End: time.Now()})
	end()
	require.Equal(t, Counts{Failed: 1}, s.Spans())
	require.Contains(t, text.String(), "does not take what is sent")
	require.NotContains(t, text.String(), "secret")
}

func TestSender_aCollectorThatHangsHoldsNobodyUp(t *testing.T) {
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hanging.Close()
	defer close(release)
	s, _ := open(t, Options{Endpoint: hanging.URL, Queue: 2, Batch: 1})
	for range 100 {
		s.Span(services.Span{Name: "x", Start: time.Now(), End: time.Now()})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_ = s.Close(ctx)
	require.Less(t, time.Since(began), 5*time.Second)
	counts := s.Spans()
	require.EqualValues(t, 100, counts.Failed+counts.Dropped)
	require.GreaterOrEqual(t, counts.Dropped, uint64(96))
}

func TestSender_endpoints(t *testing.T) {
	for endpoint, says := range map[string]string{
		"localhost:4318": "expected the URL", "": "expected the URL", "ftp://x": "expected the URL", "http://u:p@x": "a user and a password",
		"http://x?a=b": "without a query",
	} {
		_, err := New(Options{Endpoint: endpoint})
		require.ErrorContains(t, err, says, endpoint)
		require.NotContains(t, err.Error(), "u:p")
	}
}
