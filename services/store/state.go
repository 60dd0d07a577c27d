package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// State is what plugins keep, on the disk. A Set or Delete that has returned outlives
// the process. What it refuses and how is as with [services.Memory]; that the disk
// fails is a [protocol.CodeInternal]. A Set that has failed so is in no cache, but may
// come back after a power failure.
type State struct {
	db    *DB
	cache *cache
}

var _ services.PeekStore = (*State)(nil)

func newState(db *DB) *State {
	return &State{db: db, cache: newCache(db.limits.CacheBytes, &db.counts.evicted)}
}

// Get implements [services.Store].
func (s *State) Get(ctx context.Context, key services.StateKey) (json.RawMessage, error) {
	value, known, moment := s.cache.get(key)
	if known {
		s.db.counts.hits.Add(1)
		return value, nil
	}
	s.db.counts.misses.Add(1)
	_, err := s.db.get(ctx, `SELECT value FROM state
		WHERE plugin = ? AND scope_kind = ? AND scope_id = ? AND namespace = ? AND key = ?`,
		[]any{key.Plugin, key.ScopeKind, key.ScopeID, key.Namespace, key.Key}, &value)
	if err != nil {
		return nil, failure(key, "cannot be read", err)
	}
	s.cache.put(key, value, moment)
	return value, nil
}

// Peek returns a value that is in the cache.
func (s *State) Peek(key services.StateKey) (value json.RawMessage, known bool) {
	value, known, _ = s.cache.get(key)
	if known {
		s.db.counts.hits.Add(1)
	}
	return value, known
}

// Set implements [services.Store].
func (s *State) Set(ctx context.Context, key services.StateKey, value json.RawMessage) error {
	if limit := s.db.limits.State.Value; len(value) > limit {
		return refusal(protocol.CodeInvalid, key, "is %d bytes long, and a value may have %d: keep it in parts", len(value), limit)
	}
	size := keySize(key) + len(value)
	err := s.db.writer.do(ctx, &write{
		size: size,
		run: func(t *tx) error {
			if err := s.admit(t, key, size); err != nil {
				return err
			}
			return t.exec(`INSERT INTO state VALUES (?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET value = excluded.value, size = excluded.size`,
				key.Plugin, key.ScopeKind, key.ScopeID, key.Namespace, key.Key, key.Company(), []byte(value), size)
		},
		committed: func() { s.cache.write(key, value) },
	})
	return failure(key, "was not kept", err)
}

// Delete implements [services.Store].
func (s *State) Delete(ctx context.Context, key services.StateKey) error {
	err := s.db.writer.do(ctx, &write{
		size: keySize(key),
		run: func(t *tx) error {
			return t.exec(`DELETE FROM state
				WHERE plugin = ? AND scope_kind = ? AND scope_id = ? AND namespace = ? AND key = ?`,
				key.Plugin, key.ScopeKind, key.ScopeID, key.Namespace, key.Key)
		},
		committed: func() { s.cache.write(key, nil) },
	})
	return failure(key, "was not deleted", err)
}

// admit holds a plugin to its limits.
func (s *State) admit(t *tx, key services.StateKey, size int) error {
	limits := s.db.limits.State
	var keys, bytes, before int
	_, err := t.get(`SELECT keys, bytes FROM state_usage WHERE plugin = ?`, []any{key.Plugin}, &keys, &bytes)
	if err != nil || keys < limits.Keys && bytes+size <= limits.Bytes {
		return err
	}
	known, err := t.get(`SELECT size FROM state
		WHERE plugin = ? AND scope_kind = ? AND scope_id = ? AND namespace = ? AND key = ?`,
		[]any{key.Plugin, key.ScopeKind, key.ScopeID, key.Namespace, key.Key}, &before)
	switch {
	case err != nil:
		return err
	case !known && keys >= limits.Keys:
		return refusal(protocol.CodeOverloaded, key, "is one too many: a plugin may keep %d values; delete some", limits.Keys)
	case bytes+size-before > limits.Bytes:
		return refusal(protocol.CodeOverloaded, key, "does not fit: a plugin may keep %d bytes in all; delete some", limits.Bytes)
	}
	return nil
}

// keySize is what a key takes of its plugin's bytes.
func keySize(k services.StateKey) int {
	return len(k.ScopeKind) + len(k.ScopeID) + len(k.Namespace) + len(k.Key)
}

func refusal(code protocol.Code, key services.StateKey, format string, args ...any) error {
	return refused(key.Plugin, code, "%s", named(key)+fmt.Sprintf(format, args...))
}

// failure names the value that the database has failed with; what else went wrong is
// returned as it is.
func failure(key services.StateKey, what string, err error) error {
	if failed, ok := err.(*Error); ok { //nolint:errorlint // what wraps one says enough
		return &protocol.Error{Code: protocol.CodeInternal, Plugin: key.Plugin, Message: named(key) + what, Err: failed}
	}
	return err
}

// named is a value's name, a long one in part.
func named(key services.StateKey) string {
	name := key.Key
	if len(name) > 100 {
		name = name[:100] + "…"
	}
	return fmt.Sprintf("state value %q ", name)
}
