package peers

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// telling keeps the first of what workers tell.
type telling struct {
	spans  chan services.Span
	events chan services.TelemetryEvent
}

func newTelling() telling {
	return telling{make(chan services.Span, 10), make(chan services.TelemetryEvent, 10)}
}

func (t telling) Span(s services.Span) {
	select {
	case t.spans <- s:
	default:
	}
}

func (t telling) Event(e services.TelemetryEvent) {
	select {
	case t.events <- e:
	default:
	}
}

// TestHost_takesTelemetry has the published SDK tell of itself: of spans it does so only
// in a trace, which the host begins.
func TestHost_takesTelemetry(t *testing.T) {
	t.Parallel()
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ended := make(chan error, 10)
	h := openHome(t, Paperclip, `{"scope":"acme"}`, func(o *actors.Options) {
		o.Trace = func(protocol.Call) (string, func(error)) { return trace, func(err error) { ended <- err } }
	})
	h.start(t, "kitchen", Changes{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	_, err := h.acts(t, "kitchen", "span", "", `{"name":"bake","attributes":{"n":7,"s":"x"}}`)
	require.NoError(t, err)
	require.NoError(t, <-ended)
	select {
	case span := <-h.told.spans:
		require.WithinDuration(t, time.Now(), span.Start, patience)
		require.False(t, span.End.Before(span.Start))
		span.Start, span.End = time.Time{}, time.Time{}
		require.Equal(t, services.Span{
			Plugin: "kitchen", Company: "acme", Name: "bake", Trace: trace, Status: services.SpanOK,
			Attributes: []services.Attribute{{Name: "n", Value: int64(7)}, {Name: "s", Value: "x"}},
		}, span)
	case <-ctx.Done():
		t.Fatal("no span came")
	}

	_, err = h.acts(t, "kitchen", "track", "", `{"name":"baked","dimensions":{"n":7}}`)
	require.NoError(t, err)
	event := <-h.told.events
	event.At = time.Time{}
	require.Equal(t, services.TelemetryEvent{
		Plugin: "kitchen", Company: "acme", Name: "plugin.kitchen.baked", Trace: trace,
		Dimensions: []services.Attribute{{Name: "n", Value: int64(7)}},
	}, event)
}
