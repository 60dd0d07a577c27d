package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/airi-host/airi-host/peers/load"
)

// How much the memory may grow between the calm after the first storm and that after
// the last: by a factor, and a slack beside it, for what does not depend on how much
// there was. Both are wide enough for the buffers that workers are left with by chance;
// the longer the run, the smaller the leak that is above them.
const (
	growth    = 1.3
	heapSlack = 4 << 20
	// rssSlack is larger: freed pages go back to the system in large pieces.
	rssSlack = 24 << 20
	// keptGoroutines is how many a host may keep to answer workers with.
	keptGoroutines = 16
)

// memory is what this process holds, in bytes, when nothing is under way.
type memory struct {
	// heap is what lives after a collection, rss what is resident; 0 if unknown.
	heap, rss               int64
	goroutines, descriptors int
}

// measure collects what is garbage, and gives it back first.
func measure() memory {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // what a sync.Pool held goes with the second
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	rss, _ := load.Memory() // only Linux tells
	return memory{int64(stats.HeapAlloc), rss, runtime.NumGoroutine(), descriptors()}
}

// grown tells what is more than it may be, compared with before: memory by a factor
// and a slack. Goroutines and descriptors belong to workers, of which there are as many
// as before. What is resident is left out unless it counts.
func (m memory) grown(before memory, resident bool) []string {
	if !resident {
		m.rss = 0
	}
	var much []string
	for _, row := range []struct {
		what              string
		now, before, most int64
		in                func(int64) string
	}{
		{"heap", m.heap, before.heap, most(before.heap, heapSlack), mib},
		{"resident memory", m.rss, before.rss, most(before.rss, rssSlack), mib},
		{"number of goroutines", int64(m.goroutines), int64(before.goroutines), int64(before.goroutines) + keptGoroutines, number},
		{"number of descriptors", int64(m.descriptors), int64(before.descriptors), int64(before.descriptors), number},
	} {
		if row.now > row.most {
			much = append(much, fmt.Sprintf("the %s has grown from %s to %s, the most is %s", row.what, row.in(row.before), row.in(row.now), row.in(row.most)))
		}
	}
	return much
}

func most(before, slack int64) int64 { return int64(growth*float64(before)) + slack }

func number(n int64) string { return fmt.Sprint(n) }

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
