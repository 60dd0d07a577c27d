package main

import (
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/services/store"
)

// countStore shows what a store does; neither need be there.
func countStore(m *admin.Metrics, db *store.DB) {
	if m == nil || db == nil {
		return
	}
	m.Gauge("store_bytes", "Bytes of the files of the store.", func() float64 { return float64(db.Size()) })
	m.Gauge("store_cache_bytes", "Bytes of plugins' state in the store's cache.", func() float64 { return float64(db.Stats().CacheBytes) })
	m.Gauge("store_commit_seconds_max", "How long the commit took that took longest.", func() float64 { return db.Stats().Slowest.Seconds() })
	m.Gauge("store_queue_writes", "Writes that wait to be committed.", func() float64 { return float64(db.Stats().Waiting) })
	m.Gauge("store_queue_bytes", "How many bytes those are, about.", func() float64 { return float64(db.Stats().WaitingBytes) })
	for _, one := range []struct {
		name, help, label, value string
		count                    func(store.Stats) int64
	}{
		{"store_commits_total", "Commits, each of one write or several.", "", "", func(s store.Stats) int64 { return s.Commits }},
		{"store_writes_total", helpWrites, "outcome", "done", func(s store.Stats) int64 { return s.Writes }},
		{"store_writes_total", helpWrites, "outcome", "failed", func(s store.Stats) int64 { return s.FailedWrites }},
		{"store_writes_total", helpWrites, "outcome", "refused", func(s store.Stats) int64 { return s.RefusedWrites }},
		{"store_failed_reads_total", "Reads that met an error of the database.", "", "", func(s store.Stats) int64 { return s.FailedReads }},
		{"store_cache_reads_total", helpCache, "found", "true", func(s store.Stats) int64 { return s.CacheHits }},
		{"store_cache_reads_total", helpCache, "found", "false", func(s store.Stats) int64 { return s.CacheMisses }},
		{"store_dropped_total", helpDropped, "what", "revision", func(s store.Stats) int64 { return s.DroppedRevisions }},
		{"store_dropped_total", helpDropped, "what", "run", func(s store.Stats) int64 { return s.DroppedRuns }},
		{"store_dropped_total", helpDropped, "what", "audit", func(s store.Stats) int64 { return s.DroppedAudit }},
	} {
		var labels []string
		if one.label != "" {
			labels = []string{one.label, one.value}
		}
		m.Count(one.name, one.help, func() uint64 { return uint64(max(one.count(db.Stats()), 0)) }, labels...)
	}
}

const (
	helpWrites  = "Writes, by what became of them: a refused one found the queue full."
	helpCache   = "Reads of plugins' state, by whether the cache had it."
	helpDropped = "What the store gave up at a limit on number or age, the oldest first."
)
