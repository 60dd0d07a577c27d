package services

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Metrics collect what plugins measure, in memory: one [Series] for each name with its
// tags. Any goroutine may call its methods.
type Metrics struct {
	max int

	mu      sync.Mutex
	plugins map[string]*measured
}

// measured is what one plugin has measured.
type measured struct {
	series  map[seriesKey]*Series
	dropped uint64
}

type seriesKey struct {
	kind                SeriesKind
	company, name, tags string
}

// SeriesKind tells what a Series counts.
type SeriesKind string

// The kinds.
const (
	// SeriesMetric is written by metrics.write.
	SeriesMetric SeriesKind = "metric"
	// SeriesEvent is counted by telemetry.track: every value is 1.
	SeriesEvent SeriesKind = "event"
	// SeriesSpan is counted by span.record: every value is 1.
	SeriesSpan SeriesKind = "span"
)

// Series are all values of one name with its tags.
type Series struct {
	Plugin string `json:"plugin"`
	// Company is what the values are about, or "".
	Company string            `json:"company,omitempty"`
	Kind    SeriesKind        `json:"kind"`
	Name    string            `json:"name"`
	Tags    map[string]string `json:"tags,omitempty"`
	// Count, Sum, Min and Max are over all values; Last is the latest, from At. A sum
	// that is too large for a float64 stays at its largest or smallest.
	Count uint64    `json:"count"`
	Sum   float64   `json:"sum"`
	Min   float64   `json:"min"`
	Max   float64   `json:"max"`
	Last  float64   `json:"last"`
	At    time.Time `json:"at"`
}

// MetricsSnapshot is what has been measured at one moment.
type MetricsSnapshot struct {
	// Series are sorted by plugin, company, kind, name and tags.
	Series []Series `json:"series"`
	// Dropped counts, by plugin, the values that found no room.
	Dropped map[string]uint64 `json:"dropped,omitempty"`
}

// NewMetrics returns an empty collection. A plugin may have maxPerPlugin series; 0
// means 1,000. A value that would begin one more is dropped and counted.
func NewMetrics(maxPerPlugin int) *Metrics {
	return &Metrics{max: orDefault(maxPerPlugin, 1000), plugins: map[string]*measured{}}
}

// Snapshot returns a copy of all that has been measured.
func (m *Metrics) Snapshot() MetricsSnapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := MetricsSnapshot{Series: []Series{}, Dropped: map[string]uint64{}}
	for _, name := range slices.Sorted(maps.Keys(m.plugins)) {
		of := m.plugins[name]
		for _, key := range slices.SortedFunc(maps.Keys(of.series), seriesKey.compare) {
			one := *of.series[key]
			one.Tags = maps.Clone(one.Tags)
			s.Series = append(s.Series, one)
		}
		if of.dropped > 0 {
			s.Dropped[name] = of.dropped
		}
	}
	return s
}

// add counts one value. Only the first four fields of the series and its tags are
// looked at; the series keeps the tags.
func (m *Metrics) add(one Series, value float64, at time.Time) {
	tags, err := json.Marshal(one.Tags) // sorted by name, so that equal tags are equal text
	if err != nil {
		panic(err) // strings always encode
	}
	key := seriesKey{one.Kind, one.Company, one.Name, string(tags)}
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.plugins[one.Plugin]
	if of == nil {
		of = &measured{series: map[seriesKey]*Series{}}
		m.plugins[one.Plugin] = of
	}
	if of.series[key] == nil {
		if len(of.series) >= m.max {
			of.dropped++
			return
		}
		one.Min, one.Max = value, value
		of.series[key] = &one
	}
	of.series[key].add(value, at)
}

func (s *Series) add(value float64, at time.Time) {
	s.Count++
	s.Sum = min(max(s.Sum+value, -math.MaxFloat64), math.MaxFloat64)
	s.Min, s.Max = min(s.Min, value), max(s.Max, value)
	s.Last, s.At = value, at
}

func (k seriesKey) compare(other seriesKey) int {
	return cmp.Or(
		cmp.Compare(k.company, other.company), cmp.Compare(k.kind, other.kind),
		cmp.Compare(k.name, other.name), cmp.Compare(k.tags, other.tags),
	)
}
