package store

import (
	"os"
	"sync/atomic"
	"time"
)

// Stats count what a store has done since it was opened.
type Stats struct {
	// Writes were committed, in Commits; Slowest is the commit that took longest.
	Writes, Commits int64
	Slowest         time.Duration
	// FailedWrites met an error of the database, FailedReads too; RefusedWrites found
	// the queue full.
	FailedWrites, FailedReads, RefusedWrites int64
	// Waiting are the writes that wait to be committed now, WaitingBytes how long they are.
	Waiting, WaitingBytes int
	// CacheHits and CacheMisses are reads of the state; CacheBytes is what the cache
	// holds, CacheEvicted how many values it gave up for others.
	CacheHits, CacheMisses, CacheEvicted int64
	CacheBytes                           int
	// What was dropped at a limit on number or age.
	DroppedRevisions, DroppedRuns, DroppedAudit int64
}

// counts are kept by all who work; the zero value is ready.
type counts struct {
	writes, commits, slowest      atomic.Int64
	failed, failedReads, refused  atomic.Int64
	hits, misses, evicted         atomic.Int64
	revisions, runs, auditRecords atomic.Int64
}

// committed is called by the writer alone.
func (c *counts) committed(writes int, took time.Duration) {
	c.writes.Add(int64(writes))
	c.commits.Add(1)
	c.slowest.Store(max(c.slowest.Load(), int64(took)))
}

// Stats returns the counts as they are.
func (db *DB) Stats() Stats {
	c := &db.counts
	waiting, bytes := db.writer.depth()
	return Stats{
		Waiting: waiting, WaitingBytes: bytes,
		Writes: c.writes.Load(), Commits: c.commits.Load(), Slowest: time.Duration(c.slowest.Load()),
		FailedWrites: c.failed.Load(), FailedReads: c.failedReads.Load(), RefusedWrites: c.refused.Load(),
		CacheHits: c.hits.Load(), CacheMisses: c.misses.Load(), CacheEvicted: c.evicted.Load(),
		CacheBytes:       db.state.cache.size(),
		DroppedRevisions: c.revisions.Load(), DroppedRuns: c.runs.Load(), DroppedAudit: c.auditRecords.Load(),
	}
}

// Size is how many bytes the store's files have on the disk; what cannot be seen counts
// for nothing.
func (db *DB) Size() (bytes int64) {
	for _, end := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(db.file + end); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
