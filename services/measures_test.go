package services

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func measuring(t *testing.T) (worker, *Metrics) {
	t.Helper()
	m := NewMetrics(0)
	return newWorker(t, &plugins{}, Options{Metrics: m}), m
}

func TestMeasures_aMetricHasItsTagsAndItsCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := measuring(t)
		require.Equal(t, `null`, w.call("metrics.write", `{"name":"m","value":-1.5e3,"tags":{"a":"b","n":1.0,"t":true},"companyId":"c2"}`))
		require.Equal(t, []Series{{
			Plugin: "demo", Company: "c2", Kind: SeriesMetric, Name: "m", Tags: map[string]string{"a": "b", "n": "1.0", "t": "true"},
			Count: 1, Sum: -1500, Min: -1500, Max: -1500, Last: -1500, At: time.Now(),
		}}, m.Snapshot().Series)
	})
}

func TestMeasures_aNameIsCutInUTF16Units(t *testing.T) {
	for name, want := range map[string]string{
		strings.Repeat("x", 501):       strings.Repeat("x", 500),
		strings.Repeat("ä", 500):       strings.Repeat("ä", 500),
		"x" + strings.Repeat("😀", 250): "x" + strings.Repeat("😀", 249),
		strings.Repeat("😀", 250):       strings.Repeat("😀", 250),
	} {
		w, m := measuring(t)
		w.call("metrics.write", fmt.Sprintf(`{"name":%q,"value":1}`, name))
		require.Equal(t, want, m.Snapshot().Series[0].Name)
	}
}

func TestMeasures_refusesWhatIsNoMeasurement(t *testing.T) {
	w, m := measuring(t)
	many := strings.Repeat(`"x%d":1,`, maxTags)
	for i := range maxTags {
		many = strings.Replace(many, "%d", fmt.Sprint(i), 1)
	}
	for params, words := range map[string]string{
		`{"value":1}`:                                       "name: expected a string that is not blank, got nothing",
		`{"name":"m"}`:                                      "value: expected a finite number, got nothing",
		`{"name":"m","value":null}`:                         "value: expected a finite number, got null",
		`{"name":"m","value":"1"}`:                          "value: expected a finite number, got a string",
		`{"name":"m","value":1e999}`:                        "value: expected a finite number",
		`{"name":"m","value":1,"tags":["a"]}`:               "tags: expected an object, got an array",
		`{"name":"m","value":1,"tags":{"a":{}}}`:            "tags.a: expected a string, a number or a boolean, got an object",
		`{"name":"m","value":1,"tags":{` + many + `"y":1}}`: "tags: 17 are given, and 16 are allowed",
		`{"name":"m","value":1,"tags":{"a":"` + strings.Repeat("x", maxTag) + `"}}`: `tags: "a" and its value are longer than 200 bytes`,
	} {
		w.wantRefused(protocol.CodeInvalid, "metrics.write", params, words)
	}
	require.Empty(t, m.Snapshot().Series)
}

func TestMeasures_telemetryIsCounted(t *testing.T) {
	w, m := measuring(t)
	require.Equal(t, `null`, w.call("telemetry.track", `{"eventName":" ev-1 ","dimensions":{"a":1,"b":true}}`))
	w.call("telemetry.track", `{"eventName":"ev-1"}`)
	s := m.Snapshot().Series
	require.Len(t, s, 1)
	require.Equal(t, SeriesEvent, s[0].Kind)
	require.Equal(t, "ev-1", s[0].Name)
	require.EqualValues(t, 2, s[0].Count)
}

func TestMeasures_telemetryNamesAreSlugs(t *testing.T) {
	w, _ := measuring(t)
	for _, name := range []string{"Bad Name", "-a", "_a", "a.b", "ä", strings.Repeat("a", 501)} {
		w.wantRefused(protocol.CodeInvalid, "telemetry.track", `{"eventName":"`+name+`"}`,
			`Plugin telemetry event names must be lowercase slugs using letters, numbers, "_" or "-"`)
	}
	w.wantRefused(protocol.CodeInvalid, "telemetry.track", `{"eventName":"a","dimensions":1}`, "dimensions: expected an object, got a number")
	require.False(t, isSlug(""))
	w.call("telemetry.track", `{"eventName":"0_a-"}`)
}

func TestMeasures_spansAreCounted(t *testing.T) {
	w, m := measuring(t)
	require.Equal(t, `null`, w.call("span.record",
		`{"name":"lease","attributes":{"a":1},"status":{"code":1},"startTimeMs":1,"endTimeMs":2}`))
	w.call("span.record", `{"name":"lease"}`)
	w.wantRefused(protocol.CodeInvalid, "span.record", `{"name":7}`, "name: expected a string that is not blank, got a number")
	s := m.Snapshot().Series
	require.Len(t, s, 1)
	require.Equal(t, SeriesSpan, s[0].Kind)
	require.EqualValues(t, 2, s[0].Count)
}
