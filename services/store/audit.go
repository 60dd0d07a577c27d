package store

import (
	"context"
	"math"
	"time"

	"github.com/airi-host/airi-host/services"
)

// Record says that somebody has done something; the store gives it its number and time.
type Record = services.Record

var _ services.Auditor = (*DB)(nil)

// Search says which records are wanted. The zero value wants the newest 100.
type Search struct {
	// Plugin and Company are "" for all.
	Plugin, Company string
	// Before is the number that all have to be below, 0 for none: the lowest of one
	// answer asks for the next.
	Before int64
	// Since is the moment before which none is wanted; zero for none.
	Since time.Time
	// Limit is how many, at most 1000; 0 means 100.
	Limit int
}

// Audit keeps a record and returns its number. Records beyond the limits on number and
// age are dropped then, the oldest first, and counted.
func (db *DB) Audit(ctx context.Context, r Record) (number int64, err error) {
	size := len(r.Action) + len(r.Message) + len(r.EntityType) + len(r.EntityID) + len(r.Metadata)
	if size > db.limits.AuditBytes {
		return 0, tooLong(r.Plugin, "the audit record", size, db.limits.AuditBytes)
	}
	now := db.limits.Now()
	var kept, dropped int64
	err = db.writer.do(ctx, &write{
		size: size,
		run: func(t *tx) (err error) {
			_, err = t.get(`INSERT INTO audit (at, plugin, company, action, message, entity_type, entity_id, metadata)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING number`,
				[]any{milliseconds(now), r.Plugin, r.Company, r.Action, r.Message, r.EntityType, r.EntityID, []byte(r.Metadata)}, &kept)
			if err == nil {
				dropped, err = db.trimAudit(t, kept, now)
			}
			return err
		},
		committed: func() { db.counts.auditRecords.Add(dropped) },
	})
	if err != nil {
		return 0, err
	}
	return kept, nil
}

// trimAudit goes by numbers, which have holes where a plugin's records were removed: so
// many are kept at most.
func (db *DB) trimAudit(t *tx, newest int64, now time.Time) (dropped int64, err error) {
	many, err := t.count(`DELETE FROM audit WHERE number <= ?`, newest-int64(db.limits.Audit))
	if err != nil {
		return 0, err
	}
	old, err := t.count(`DELETE FROM audit WHERE at < ?`, milliseconds(now.Add(-db.limits.AuditAge)))
	return many + old, err
}

// AuditRecords returns what a search finds, the newest first.
func (db *DB) AuditRecords(ctx context.Context, s Search) ([]Record, error) {
	if s.Before <= 0 {
		s.Before = math.MaxInt64
	}
	return rowsOf(ctx, db, readRecord, `SELECT number, at, plugin, company, action, message, entity_type, entity_id, metadata
		FROM audit WHERE number < ?1 AND (?2 = '' OR plugin = ?2) AND (?3 = '' OR company = ?3)
		AND at >= ?4 ORDER BY number DESC LIMIT ?5`, s.Before, s.Plugin, s.Company, milliseconds(s.Since), pageOf(s.Limit))
}

func readRecord(scan func(...any) error) (r Record, err error) {
	var at int64
	var metadata []byte
	err = scan(&r.Number, &at, &r.Plugin, &r.Company, &r.Action, &r.Message, &r.EntityType, &r.EntityID, &metadata)
	r.At, r.Metadata = moment(at), metadata
	return r, err
}

// pageOf is how many rows a list has that was asked for so many.
func pageOf(limit int) int {
	if limit <= 0 {
		return 100
	}
	return min(limit, 1000)
}
