package services

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf16"

	"github.com/airi-host/airi-host/protocol"
)

// The limits of one measurement. A name is cut, as in the reference host, and counted
// in UTF-16 units, as it counts; more or longer tags are refused.
const (
	maxMetricName = 500
	maxTags       = 16
	maxTag        = 200 // bytes of a tag's name and value together
)

// measureService serves metrics.write, telemetry.track and span.record. Events and spans
// are sent on where there is somebody to take them.
type measureService struct {
	metrics   *Metrics
	telemetry Telemetry
}

// write serves metrics.write: {name, value, tags?, companyId?} → null.
func (m measureService) write(_ context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	one := Series{
		Plugin: call.Caller, Company: in.company(), Kind: SeriesMetric,
		Name: cutUTF16(in.text("name"), maxMetricName), Tags: in.tags(),
	}
	value := in.finite("value")
	if in.err != nil {
		return nil, in.err
	}
	m.metrics.add(one, value, time.Now())
	return null, nil
}

// track serves telemetry.track: {eventName, dimensions?} → null. The reference host
// sends the event to Paperclip's makers; here it is counted, and goes to whom the
// operator has named, if anybody.
func (m measureService) track(_ context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	name := trim(in.text("eventName"))
	in.object("dimensions")
	if in.err == nil && (!isSlug(name) || len(name) > maxMetricName) {
		in.failf(`eventName: Plugin telemetry event names must be lowercase slugs using letters, numbers, "_" or "-", at most %d of them`,
			maxMetricName)
	}
	if in.err != nil {
		return nil, in.err
	}
	now := time.Now()
	m.metrics.add(Series{Plugin: call.Caller, Company: in.company(), Kind: SeriesEvent, Name: name}, 1, now)
	if m.telemetry != nil {
		m.telemetry.Event(TelemetryEvent{
			Plugin: call.Caller, Company: in.company(), Name: "plugin." + call.Caller + "." + name, Trace: call.Trace, At: now,
			Dimensions: in.attributes("dimensions"),
		})
	}
	return null, nil
}

// span serves span.record: {name, attributes?, status?, startTimeMs?, endTimeMs?} → null.
// The reference host hands it to its tracing, with names and attributes of closed sets;
// here it is counted by its name, and sent on as the plugin has named it.
func (m measureService) span(_ context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	name := cutUTF16(in.text("name"), maxMetricName)
	if in.err != nil {
		return nil, in.err
	}
	now := time.Now()
	m.metrics.add(Series{Plugin: call.Caller, Company: in.company(), Kind: SeriesSpan, Name: name}, 1, now)
	if m.telemetry != nil {
		start, end := in.times(now)
		m.telemetry.Span(Span{
			Plugin: call.Caller, Company: in.company(), Name: name, Trace: call.Trace, Start: start, End: end,
			Attributes: in.attributes("attributes"), Status: in.status(),
		})
	}
	return null, nil
}

// isSlug tells whether s matches [a-z0-9][a-z0-9_-]*.
func isSlug(s string) bool {
	for i, c := range []byte(s) {
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !plain && (i == 0 || c != '_' && c != '-') {
			return false
		}
	}
	return s != ""
}

// finite is a number that a float64 can hold.
func (p *params) finite(field string) float64 {
	value := p.raw(field)
	n, err := strconv.ParseFloat(string(value), 64)
	if value == nil || err != nil || math.IsInf(n, 0) {
		p.expected(field, "a finite number")
	}
	return n
}

// tags reads {tags?: {NAME: VALUE}}; numbers and booleans are taken as they are written.
func (p *params) tags() map[string]string {
	in := p.object("tags")
	if len(in.members) > maxTags {
		p.failf("tags: %d are given, and %d are allowed", len(in.members), maxTags)
		return nil
	}
	tags := make(map[string]string, len(in.members))
	for name, value := range in.members {
		text, ok := scalarText(value)
		switch {
		case !ok:
			in.expected(cutBytes(name, maxTag), "a string, a number or a boolean")
		case len(name)+len(text) > maxTag:
			p.failf("tags: %q and its value are longer than %d bytes", cutBytes(name, maxTag), maxTag)
		}
		tags[name] = text
	}
	return tags
}

// cutUTF16 cuts s to at most limit UTF-16 units, never inside a character.
func cutUTF16(s string, limit int) string {
	units := 0
	for i, r := range s {
		units += utf16.RuneLen(r)
		if units > limit {
			return s[:i]
		}
	}
	return s
}
