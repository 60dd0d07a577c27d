package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// Entity is one thing that a plugin tracks; the store gives it its ID, a UUID, and its
// times.
type Entity = services.Entity

// EntitySearch says which entities are wanted.
type EntitySearch = services.EntitySearch

var _ services.Entities = (*DB)(nil)

const entityColumns = `id, entity_type, scope_kind, scope_id, external_id, title, status, data, created_at, updated_at`

// UpsertEntity keeps a plugin's entity and returns it. One with the ExternalID of another
// takes its place, and its ID, if type and scope are the same too.
func (db *DB) UpsertEntity(ctx context.Context, plugin string, e Entity) (Entity, error) {
	size := len(e.EntityType) + len(e.ScopeKind) + len(e.Data)
	for _, text := range []*string{e.ScopeID, e.ExternalID, e.Title, e.Status} {
		size += len(orEmpty(text))
	}
	if size > db.limits.EntityBytes {
		return Entity{}, tooLong(plugin, "the entity", size, db.limits.EntityBytes)
	}
	fresh := uuid.NewString()
	now := moment(milliseconds(db.limits.Now()))
	err := db.change(ctx, size, func(t *tx) error {
		e.ID, e.CreatedAt, e.UpdatedAt = fresh, now, now
		return db.putEntity(t, plugin, &e)
	})
	if err != nil {
		return Entity{}, err // the writer may still be at e
	}
	return e, nil
}

func (db *DB) putEntity(t *tx, plugin string, e *Entity) error {
	var created int64
	known, err := t.get(`SELECT id, created_at FROM entities
		WHERE plugin = ? AND entity_type = ? AND scope_kind = ? AND scope_id = ? AND external_id = ?`,
		[]any{plugin, e.EntityType, e.ScopeKind, orEmpty(e.ScopeID), e.ExternalID}, &e.ID, &created)
	switch {
	case err != nil:
		return err
	case known:
		e.CreatedAt = moment(created)
		return t.exec(`UPDATE entities SET title = ?, status = ?, data = ?, updated_at = ? WHERE id = ?`,
			e.Title, e.Status, []byte(e.Data), milliseconds(e.UpdatedAt), e.ID)
	}
	var count int
	if _, err := t.get(`SELECT count(*) FROM entities WHERE plugin = ?`, []any{plugin}, &count); err != nil {
		return err
	}
	if limit := db.limits.Entities; count >= limit {
		return refused(plugin, protocol.CodeOverloaded, "an entity of type %q is one too many: a plugin may keep %d", e.EntityType, limit)
	}
	return t.exec(`INSERT INTO entities (`+entityColumns+`, plugin, company) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.ID, e.EntityType, e.ScopeKind, orEmpty(e.ScopeID), e.ExternalID, e.Title, e.Status, []byte(e.Data),
		milliseconds(e.CreatedAt), milliseconds(e.UpdatedAt),
		plugin, e.Company())
}

// Entities returns those of a plugin that a search finds, the oldest first.
func (db *DB) Entities(ctx context.Context, plugin string, s EntitySearch) ([]Entity, error) {
	size := 0
	bounded := func(scan func(...any) error) (Entity, error) {
		e, err := readEntity(scan)
		size += len(e.Data)
		if limit := db.limits.EntityAnswer; err == nil && size > limit {
			err = refused(plugin, protocol.CodeOverloaded, "the entities are longer than %d bytes together: ask for fewer at a time", limit)
		}
		return e, err
	}
	all, reader := s.Reader == nil, orEmpty(s.Reader)
	return rowsOf(ctx, db, bounded, `SELECT `+entityColumns+` FROM entities
		WHERE plugin = ?1 AND (?2 = '' OR entity_type = ?2) AND (?3 = '' OR scope_kind = ?3)
			AND (?4 = '' OR scope_id = ?4) AND (?5 = '' OR external_id = ?5)
			AND (?8 OR company IN ('', ?9))
		ORDER BY number LIMIT ?6 OFFSET ?7`,
		plugin, s.EntityType, s.ScopeKind, s.ScopeID, s.ExternalID, pageOf(s.Limit), max(s.Offset, 0), all, reader)
}

func readEntity(scan func(...any) error) (e Entity, err error) {
	var created, updated int64
	var scope string
	err = scan(&e.ID, &e.EntityType, &e.ScopeKind, &scope, &e.ExternalID, &e.Title, &e.Status, &e.Data, &created, &updated)
	if scope != "" {
		e.ScopeID = &scope
	}
	e.CreatedAt, e.UpdatedAt = moment(created), moment(updated)
	return e, err
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
