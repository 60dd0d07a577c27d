package services

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMetrics_putTheValuesOfANameTogether(t *testing.T) {
	m := NewMetrics(0)
	one := Series{Plugin: "p", Company: "c", Kind: SeriesMetric, Name: "n", Tags: map[string]string{"b": "2", "a": "1"}}
	m.add(one, 3, time.Unix(1, 0))
	one.Tags = map[string]string{"a": "1", "b": "2"}
	m.add(one, -1.5, time.Unix(2, 0))
	require.Equal(t, MetricsSnapshot{
		Series: []Series{{
			Plugin: "p", Company: "c", Kind: SeriesMetric, Name: "n", Tags: map[string]string{"a": "1", "b": "2"},
			Count: 2, Sum: 1.5, Min: -1.5, Max: 3, Last: -1.5, At: time.Unix(2, 0),
		}},
		Dropped: map[string]uint64{},
	}, m.Snapshot())
}

func TestMetrics_snapshotIsSortedAndACopy(t *testing.T) {
	m := NewMetrics(0)
	for _, one := range []Series{
		{Plugin: "q", Name: "a"},
		{Plugin: "p", Company: "d", Name: "a"},
		{Plugin: "p", Kind: SeriesMetric, Name: "b"},
		{Plugin: "p", Kind: SeriesMetric, Name: "a", Tags: map[string]string{"x": "2"}},
		{Plugin: "p", Kind: SeriesMetric, Name: "a", Tags: map[string]string{"x": "1"}},
		{Plugin: "p", Kind: SeriesEvent, Name: "z"},
	} {
		m.add(one, 1, time.Time{})
	}
	first := m.Snapshot()
	var order []string
	for _, s := range first.Series {
		order = append(order, s.Plugin+s.Company+string(s.Kind)+s.Name+s.Tags["x"])
	}
	require.Equal(t, []string{"peventz", "pmetrica1", "pmetrica2", "pmetricb", "pda", "qa"}, order)
	first.Series[1].Tags["x"] = "changed"
	require.Equal(t, "1", m.Snapshot().Series[1].Tags["x"])
}

func TestMetrics_whatFindsNoRoomIsCounted(t *testing.T) {
	m := NewMetrics(1)
	for _, name := range []string{"a", "b", "a", "c"} {
		m.add(Series{Plugin: "p", Name: name}, 1, time.Time{})
		m.add(Series{Plugin: "q", Name: "only"}, 1, time.Time{})
	}
	s := m.Snapshot()
	require.Len(t, s.Series, 2)
	require.EqualValues(t, 2, s.Series[0].Count)
	require.Equal(t, map[string]uint64{"p": 2}, s.Dropped)
	require.Equal(t, 1000, NewMetrics(0).max)
}

func TestMetrics_aSumStaysANumber(t *testing.T) {
	m := NewMetrics(0)
	for range 2 {
		m.add(Series{Name: "up"}, math.MaxFloat64, time.Time{})
		m.add(Series{Name: "down"}, -math.MaxFloat64, time.Time{})
	}
	s := m.Snapshot()
	require.Equal(t, -math.MaxFloat64, s.Series[0].Sum)
	require.Equal(t, math.MaxFloat64, s.Series[1].Sum)
	_, err := json.Marshal(s)
	require.NoError(t, err)
}
