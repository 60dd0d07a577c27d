package store

import (
	"context"
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// Subscription is what a plugin has subscribed to, by one pattern.
type Subscription struct {
	Plugin, Pattern string
	// Filters are those of [protocol.Subscription]: none let everything through.
	Filters []protocol.EventFilter
}

// SetSubscription puts a subscription in the place of the one to its pattern.
func (db *DB) SetSubscription(ctx context.Context, s Subscription) error {
	if s.Filters == nil {
		s.Filters = []protocol.EventFilter{}
	}
	filters, err := json.Marshal(s.Filters)
	if err != nil {
		return err
	}
	return db.change(ctx, len(s.Pattern)+len(filters), func(t *tx) error {
		var others int
		_, err := t.get(`SELECT count(*) FROM subscriptions WHERE plugin = ? AND pattern <> ?`,
			[]any{s.Plugin, s.Pattern}, &others)
		if err != nil {
			return err
		}
		if limit := db.limits.Subscriptions; others >= limit {
			return refused(s.Plugin, protocol.CodeOverloaded, "a subscription to %q is one too many: a plugin may have %d", s.Pattern, limit)
		}
		return t.exec(`INSERT INTO subscriptions VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET filters = excluded.filters`, s.Plugin, s.Pattern, string(filters))
	})
}

// DeleteSubscription ends one; that there is none is no error.
func (db *DB) DeleteSubscription(ctx context.Context, plugin, pattern string) error {
	return db.change(ctx, len(pattern), func(t *tx) error {
		return t.exec(`DELETE FROM subscriptions WHERE plugin = ? AND pattern = ?`, plugin, pattern)
	})
}

// Subscriptions returns those of a plugin, by pattern.
func (db *DB) Subscriptions(ctx context.Context, plugin string) ([]Subscription, error) {
	return rowsOf(ctx, db, readSubscription, `SELECT plugin, pattern, filters FROM subscriptions
		WHERE plugin = ? ORDER BY pattern`, plugin)
}

func readSubscription(scan func(...any) error) (s Subscription, err error) {
	var filters []byte
	if err := scan(&s.Plugin, &s.Pattern, &filters); err != nil {
		return s, err
	}
	return s, json.Unmarshal(filters, &s.Filters)
}
