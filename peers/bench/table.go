package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/airi-host/airi-host/peers/load"
)

// table has what was measured, by load and host.
type table struct {
	title string
	loads []load.Load
	hosts []string
	cells map[cell][]load.Result
}

type cell struct {
	load int
	host string
}

func newTable(title string, loads []load.Load, hosts []*contestant) *table {
	t := &table{title: title, loads: loads, cells: map[cell][]load.Result{}}
	for _, h := range hosts {
		t.hosts = append(t.hosts, h.name)
	}
	return t
}

func (t *table) add(i int, host string, r load.Result) {
	t.cells[cell{i, host}] = append(t.cells[cell{i, host}], r)
}

// medians are those of all rounds, each figure by itself.
func medians(rounds []load.Result) load.Result {
	of := func(figure func(load.Result) float64) float64 {
		var all []float64
		for _, r := range rounds {
			all = append(all, figure(r))
		}
		return median(all)
	}
	return load.Result{
		Calls:     rounds[0].Calls,
		P50Micros: of(func(r load.Result) float64 { return r.P50Micros }),
		PerSecond: of(func(r load.Result) float64 { return r.PerSecond }),
		CPUMicros: of(func(r load.Result) float64 { return r.CPUMicros }),
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	middle := len(all) / 2
	if len(all)%2 == 1 {
		return all[middle]
	}
	return (all[middle-1] + all[middle]) / 2
}

// row is one line of what is printed.
type row struct {
	Table string `json:"table"`
	Load  string `json:"load"`
	Host  string `json:"host"`
	load.Result
	// CPURatio is the CPU time, SpeedRatio the calls in a second, P50Ratio the median
	// time of a call, as parts of what the first host of the table needs or does.
	CPURatio   float64 `json:"cpuRatio"`
	SpeedRatio float64 `json:"speedRatio"`
	P50Ratio   float64 `json:"p50Ratio"`
	// Spread is the highest CPU time of a round over the lowest.
	Spread float64 `json:"spread"`
}

// rows compares every host with the first one.
func (t *table) rows() []row {
	var list []row
	for i, l := range t.loads {
		first, known := t.cells[cell{i, t.hosts[0]}]
		for _, host := range t.hosts {
			rounds := t.cells[cell{i, host}]
			if len(rounds) == 0 {
				continue
			}
			r := row{Table: t.title, Load: l.Name, Host: host, Result: medians(rounds), Spread: spread(rounds)}
			if known {
				base := medians(first)
				r.CPURatio, r.SpeedRatio = r.CPUMicros/base.CPUMicros, r.PerSecond/base.PerSecond
				r.P50Ratio = r.P50Micros / base.P50Micros
			}
			list = append(list, r)
		}
	}
	return list
}

func spread(rounds []load.Result) float64 {
	low, high := rounds[0].CPUMicros, rounds[0].CPUMicros
	for _, r := range rounds {
		low, high = min(low, r.CPUMicros), max(high, r.CPUMicros)
	}
	return high / low
}

func (t *table) print(out io.Writer, asJSON bool) error {
	rows := t.rows()
	if asJSON {
		return lines(out, rows)
	}
	fmt.Fprintf(out, "\n%s; ratios to %s\n\n", t.title, t.hosts[0])
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "load\thost\tCPU µs/call\tratio\tcalls/s\tratio\tp50 µs\tratio\tspread\t\n")
	load := ""
	for _, r := range rows {
		name := r.Load
		if name == load {
			name = ""
		}
		load = r.Load
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.2f\t%.0f\t%.2f\t%.0f\t%.2f\t%.2f\t\n",
			name, r.Host, r.CPUMicros, r.CPURatio, r.PerSecond, r.SpeedRatio, r.P50Micros, r.P50Ratio, r.Spread)
	}
	return w.Flush()
}

func printFootprints(out io.Writer, asJSON bool, workers int, list []footprint) error {
	if asJSON {
		return lines(out, list)
	}
	fmt.Fprintf(out, "\nresident memory of the host, MiB; ratios to %s\n\n", list[0].Host)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "host\tat first\twith %d idle workers\tratio\t\n", workers)
	for _, f := range list {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.2f\t\n", f.Host, f.Empty, f.Full, f.Full/list[0].Full)
	}
	return w.Flush()
}

func lines[T any](out io.Writer, list []T) error {
	e := json.NewEncoder(out)
	for _, one := range list {
		if err := e.Encode(one); err != nil {
			return err
		}
	}
	return nil
}
