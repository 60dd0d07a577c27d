package services

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// kept is what was sent on.
type kept struct {
	spans  []Span
	events []TelemetryEvent
}

func (k *kept) Span(s Span)            { k.spans = append(k.spans, s) }
func (k *kept) Event(e TelemetryEvent) { k.events = append(k.events, e) }

// told calls a method of a service, for a plugin in a company's trace, and returns what
// was sent on.
func told(t *testing.T, method, params string) *kept {
	t.Helper()
	k := &kept{}
	all := Paperclip(nil, Options{Telemetry: k})
	result, err := all[method].Serve(t.Context(), protocol.Call{
		Key: method, Caller: "lab", Scope: "acme", Trace: "00-1-2-01", Input: []byte(params),
	})
	require.NoError(t, err)
	require.Equal(t, "null", string(result))
	return k
}

func TestTelemetry_events(t *testing.T) {
	k := told(t, "telemetry.track", `{"eventName":" done ","dimensions":{"a":"x","n":3,"f":1.5,"b":true,"o":{},"z":null,"companyId":"c"}}`)
	require.Len(t, k.events, 1)
	require.WithinDuration(t, time.Now(), k.events[0].At, time.Minute)
	k.events[0].At = time.Time{}
	require.Equal(t, TelemetryEvent{
		Plugin: "lab", Company: "acme", Name: "plugin.lab.done", Trace: "00-1-2-01",
		Dimensions: []Attribute{{"a", "x"}, {"n", int64(3)}, {"f", 1.5}, {"b", true}, {"companyId", "c"}},
	}, k.events[0])
}

func TestTelemetry_spans(t *testing.T) {
	now := time.Now().UnixMilli()
	at := func(from, to int64) string { return fmt.Sprintf(`"startTimeMs":%d,"endTimeMs":%d`, from, to) }
	for name, row := range map[string]struct {
		params string
		status SpanStatus
		width  time.Duration
	}{
		"as it says":     {`"status":{"code":1,"message":"ok"},` + at(now-90, now), SpanOK, 90 * time.Millisecond},
		"failed":         {`"status":{"code":2},` + at(now-90, now), SpanFailed, 90 * time.Millisecond},
		"no status":      {`"status":7,` + at(now, now), SpanUnset, 0},
		"unknown status": {`"status":{"code":9},` + at(now, now), SpanUnset, 0},
		"too wide":       {at(now-601_000, now), SpanUnset, 0},
		"too old":        {at(now-3_700_000, now-3_690_000), SpanUnset, 0},
		"too far ahead":  {at(now, now+100_000), SpanUnset, 0},
		"back in time":   {at(now, now-1), SpanUnset, 0},
		"no end":         {fmt.Sprintf(`"startTimeMs":%d`, now), SpanUnset, 0},
		"no number":      {`"startTimeMs":"a","endTimeMs":1e300`, SpanUnset, 0},
	} {
		k := told(t, "span.record", `{"name":"pack","attributes":{"a":1},`+row.params+`}`)
		require.Len(t, k.spans, 1)
		s := k.spans[0]
		require.Equal(t, row.status, s.Status, name)
		require.Equal(t, row.width, s.End.Sub(s.Start), name)
		require.WithinDuration(t, time.Now(), s.End, time.Minute)
		require.Equal(t, Span{
			Plugin: "lab", Company: "acme", Name: "pack", Trace: "00-1-2-01", Start: s.Start, End: s.End,
			Attributes: []Attribute{{"a", int64(1)}}, Status: row.status,
		}, s)
	}
}

func TestTelemetry_attributesAreBounded(t *testing.T) {
	var many []string
	for i := range maxAttributes + 5 {
		many = append(many, fmt.Sprintf(`"a%d":"%s"`, i, strings.Repeat("x", maxAttributeValue+1)))
	}
	k := told(t, "span.record", `{"name":"pack","attributes":{"`+strings.Repeat("n", maxAttributeName+1)+`":1,"":2,`+strings.Join(many, ",")+`}}`)
	require.Len(t, k.spans[0].Attributes, maxAttributes)
	for _, a := range k.spans[0].Attributes {
		require.LessOrEqual(t, len(a.Value.(string)), maxAttributeValue)
	}
	require.Empty(t, told(t, "span.record", `{"name":"pack","attributes":7}`).spans[0].Attributes)
}
