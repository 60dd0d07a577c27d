package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"
)

func TestTable_printsMediansAndRatios(t *testing.T) {
	table := newTable("a race", []load.Load{{Name: "short"}, {Name: "long"}}, []*contestant{{name: "old"}, {name: "new"}})
	for _, cpu := range []float64{10, 40, 20} {
		table.add(0, "old", load.Result{CPUMicros: cpu, PerSecond: 1000, P50Micros: 7})
		table.add(0, "new", load.Result{CPUMicros: cpu / 4, PerSecond: 3000, P50Micros: 5})
	}
	table.add(1, "new", load.Result{CPUMicros: 1, PerSecond: 2, P50Micros: 3})
	var out strings.Builder
	require.NoError(t, table.print(&out, false))
	require.Equal(t, `
a race; ratios to old

   load  host  CPU µs/call  ratio  calls/s  ratio  p50 µs  ratio  spread
  short   old         20.0   1.00     1000   1.00       7   1.00    4.00
          new          5.0   0.25     3000   3.00       5   0.71    4.00
   long   new          1.0   0.00        2   0.00       3   0.00    1.00
`, out.String())
}

func TestMedian_ofAnEvenNumber(t *testing.T) {
	require.InDelta(t, 2.5, median([]float64{4, 1, 3, 2}), 0)
}

func TestFootprints_areCompared(t *testing.T) {
	var out strings.Builder
	require.NoError(t, printFootprints(&out, false, 20, []footprint{{"old", 50, 100}, {"new", 10, 25}}))
	require.Equal(t, `
resident memory of the host, MiB; ratios to old

  host  at first  with 20 idle workers  ratio
   old      50.0                 100.0   1.00
   new      10.0                  25.0   0.25
`, out.String())
}
