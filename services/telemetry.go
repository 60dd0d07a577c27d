package services

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Telemetry takes what plugins say of themselves to whoever watches from outside of the
// host. Its methods never wait, and may be called from any goroutine.
type Telemetry interface {
	// Span takes a piece of work that is over.
	Span(Span)
	// Event takes something that happened.
	Event(TelemetryEvent)
}

// Span is what span.record tells: work that a plugin did in the course of a call.
type Span struct {
	Plugin, Company string
	// Name is the plugin's own.
	Name string
	// Trace is the W3C traceparent of the call, or "".
	Trace string
	// Start and End are as the plugin says, where that can be; else both are the time at
	// which it was told.
	Start, End time.Time
	Attributes []Attribute
	Status     SpanStatus
}

// SpanStatus is how the work of a Span ended.
type SpanStatus int

// The statuses, by the numbers that they have on the wire.
const (
	SpanUnset SpanStatus = iota
	SpanOK
	SpanFailed
)

// TelemetryEvent is what telemetry.track tells.
type TelemetryEvent struct {
	Plugin, Company string
	// Name is "plugin.PLUGIN.EVENT", as the reference host forwards it.
	Name  string
	Trace string
	At    time.Time
	// Dimensions are the plugin's own.
	Dimensions []Attribute
}

// Attribute is a value that a plugin has named.
type Attribute struct {
	Name string
	// Value is a string, a bool, an int64 or a float64.
	Value any
}

// The limits of what is sent on. Attributes beyond them, and those whose values are no
// scalars, are left out; a text that is longer is cut.
const (
	maxAttributes     = 64
	maxAttributeName  = 200 // bytes
	maxAttributeValue = 1024
	maxSpanWidth      = 10 * time.Minute
	maxSpanAge        = time.Hour
	maxSpanAhead      = time.Minute
)

// attributes are the scalars of an object, in their order.
func (p *params) attributes(field string) (list []Attribute) {
	in := p.raw(field)
	protocol.EachMember(in, func(key, raw []byte) {
		name := string(key)
		value, ok := scalar(raw)
		if ok && name != "" && len(name) <= maxAttributeName && len(list) < maxAttributes {
			list = append(list, Attribute{name, value})
		}
	})
	return list
}

// scalar is a value that is no null, object or array.
func scalar(raw json.RawMessage) (value any, ok bool) {
	var plain any
	if json.Unmarshal(raw, &plain) != nil {
		return nil, false
	}
	switch v := plain.(type) {
	case string:
		return cutBytes(v, maxAttributeValue), true
	case bool:
		return v, true
	case float64:
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return n, true
		}
		return v, true
	}
	return nil, false
}

// times are when a span began and ended: as it says, by the rules of the reference host,
// else both are now.
func (p *params) times(now time.Time) (start, end time.Time) {
	from, ok := p.millis("startTimeMs")
	to, is := p.millis("endTimeMs")
	width := to.Sub(from)
	if !ok || !is || width < 0 || width > maxSpanWidth || now.Sub(from) > maxSpanAge || to.Sub(now) > maxSpanAhead {
		return now, now
	}
	return from, to
}

func (p *params) millis(field string) (time.Time, bool) {
	ms, err := strconv.ParseFloat(string(p.raw(field)), 64)
	if err != nil || math.Abs(ms) > 1<<53 {
		return time.Time{}, false
	}
	return time.UnixMicro(int64(ms * 1000)), true
}

// status is how a span ended; its text is left out, as in the reference host.
func (p *params) status() SpanStatus {
	var s struct{ Code SpanStatus }
	if json.Unmarshal(p.raw("status"), &s) != nil || s.Code < SpanUnset || s.Code > SpanFailed {
		return SpanUnset
	}
	return s.Code
}
