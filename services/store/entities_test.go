package store

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func upsert(t *testing.T, db *DB, plugin string, e Entity) Entity {
	t.Helper()
	kept, err := db.UpsertEntity(t.Context(), plugin, e)
	require.NoError(t, err)
	return kept
}

func wantEntities(t *testing.T, db *DB, s EntitySearch, want ...Entity) {
	t.Helper()
	all, err := db.Entities(t.Context(), "p", s)
	require.NoError(t, err)
	require.Equal(t, append([]Entity{}, want...), all)
}

func TestEntity_isKeptByItsExternalID(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now})
	text := func(s string) *string { return &s }
	issue := Entity{
		EntityType: "issue", ScopeKind: "company", ScopeID: text("c1"), ExternalID: text("X-1"),
		Title: text("one"), Status: text("open"), Data: json.RawMessage(`{"a": 1}`),
	}
	first := upsert(t, db, "p", issue)
	require.Len(t, first.ID, 36)
	require.Equal(t, clock.now, first.CreatedAt)

	clock.pass(time.Minute)
	issue.Title, issue.Status, issue.Data = text("two"), nil, json.RawMessage(`{}`)
	second := upsert(t, db, "p", issue)
	want := issue
	want.ID, want.CreatedAt, want.UpdatedAt = first.ID, first.CreatedAt, clock.now
	require.Equal(t, want, second)

	issue.ScopeID = text("c2")
	other := upsert(t, db, "p", issue)
	require.NotEqual(t, first.ID, other.ID, "no company changes another's")
	require.NotEqual(t, first.ID, upsert(t, db, "q", issue).ID)
	wantEntities(t, reopened(t, db), EntitySearch{}, second, other)
}

func TestEntity_withoutAnExternalIDIsAlwaysAnother(t *testing.T) {
	db := openStore(t, Options{})
	one := Entity{EntityType: "note", ScopeKind: "instance", Data: json.RawMessage(`{}`)}
	require.NotEqual(t, upsert(t, db, "p", one).ID, upsert(t, db, "p", one).ID)
}

func TestEntity_isSearched(t *testing.T) {
	db := openStore(t, Options{})
	text := func(s string) *string { return &s }
	a := upsert(t, db, "p", Entity{EntityType: "a", ScopeKind: "instance", ExternalID: text("1"), Data: json.RawMessage(`1`)})
	b := upsert(t, db, "p", Entity{EntityType: "b", ScopeKind: "company", ScopeID: text("c1"), Data: json.RawMessage(`2`)})
	c := upsert(t, db, "p", Entity{EntityType: "b", ScopeKind: "company", ScopeID: text("c2"), ExternalID: text("1"), Data: json.RawMessage(`3`)})
	wantEntities(t, db, EntitySearch{}, a, b, c)
	wantEntities(t, db, EntitySearch{Limit: 1}, a)
	wantEntities(t, db, EntitySearch{Limit: 1, Offset: 2}, c)
	wantEntities(t, db, EntitySearch{EntityType: "b"}, b, c)
	wantEntities(t, db, EntitySearch{ScopeKind: "company", ScopeID: "c1"}, b)
	wantEntities(t, db, EntitySearch{ExternalID: "1"}, a, c)
	wantEntities(t, db, EntitySearch{EntityType: "none"})
	wantEntities(t, db, EntitySearch{Reader: text("")}, a)
	wantEntities(t, db, EntitySearch{Reader: text("c1")}, a, b)
	wantEntities(t, db, EntitySearch{Reader: text("c1"), ExternalID: "1"}, a)
}

func TestEntity_isOnTheWireAsPaperclipHasIt(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now})
	e := upsert(t, db, "p", Entity{EntityType: "note", ScopeKind: "instance", Data: json.RawMessage(`{"a":1}`)})
	all, err := db.Entities(t.Context(), "p", EntitySearch{})
	require.NoError(t, err)
	text, err := json.Marshal(all[0])
	require.NoError(t, err)
	require.Equal(t, `{"id":"`+e.ID+`","entityType":"note","scopeKind":"instance","scopeId":null,"externalId":null,`+
		`"title":null,"status":null,"data":{"a":1},"createdAt":"2026-03-01T12:00:00Z","updatedAt":"2026-03-01T12:00:00Z"}`, string(text))
}

func TestEntity_anAnswerHasALimit(t *testing.T) {
	db := openStore(t, Options{EntityAnswer: 10})
	for range 3 {
		upsert(t, db, "p", Entity{EntityType: "note", ScopeKind: "instance", Data: json.RawMessage(`{"n":1}`)})
	}
	_, err := db.Entities(t.Context(), "p", EntitySearch{})
	wantFault(t, err, protocol.CodeOverloaded, "plugin p: the entities are longer than 10 bytes together: ask for fewer at a time")
	require.Zero(t, db.Stats().FailedReads, "nothing has failed")
	all, err := db.Entities(t.Context(), "p", EntitySearch{Limit: 1, Offset: 2})
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestEntity_hasLimits(t *testing.T) {
	db := openStore(t, Options{Entities: 1, EntityBytes: 30})
	one, x := Entity{EntityType: "note", ScopeKind: "instance", Data: json.RawMessage(`{}`)}, "x"
	one.ExternalID = &x
	upsert(t, db, "p", one)
	upsert(t, db, "p", one) // one that is there may change
	one.ExternalID = nil
	_, err := db.UpsertEntity(t.Context(), "p", one)
	wantFault(t, err, protocol.CodeOverloaded, `an entity of type "note" is one too many: a plugin may keep 1`)
	one.Data = json.RawMessage(`"` + strings.Repeat("x", 30) + `"`)
	_, err = db.UpsertEntity(t.Context(), "p", one)
	wantFault(t, err, protocol.CodeInvalid, "plugin p: the entity is 44 bytes long, and may have 30: make it shorter")
}
