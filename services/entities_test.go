package services

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// shelfOf remembers what it is asked as entities.
type shelfOf struct {
	plugin   string
	upserted []Entity
	searched []EntitySearch
	found    []Entity
	err      error
}

func (s *shelfOf) UpsertEntity(_ context.Context, plugin string, e Entity) (Entity, error) {
	s.plugin, s.upserted = plugin, append(s.upserted, e)
	e.ID, e.CreatedAt, e.UpdatedAt = "id", time.UnixMilli(0).UTC(), time.UnixMilli(1).UTC()
	return e, s.err
}

func (s *shelfOf) Entities(_ context.Context, plugin string, search EntitySearch) ([]Entity, error) {
	s.plugin, s.searched = plugin, append(s.searched, search)
	return s.found, s.err
}

func TestEntities_answerWithWhatIsKept(t *testing.T) {
	kept := &shelfOf{}
	w := newWorker(t, &plugins{}, Options{Entities: kept})
	require.Equal(t,
		`{"id":"id","entityType":"pr","scopeKind":"company","scopeId":"c1","externalId":"7","title":"<b>","status":"open",`+
			`"data":{"n":9007199254740993},"createdAt":"1970-01-01T00:00:00Z","updatedAt":"1970-01-01T00:00:00.001Z"}`,
		w.call("entities.upsert", `{"entityType":"pr","scopeKind":"company","scopeId":"c1","externalId":"7","title":"<b>","status":"open","data":{"n":9007199254740993}}`))
	require.Equal(t,
		`{"id":"id","entityType":"pr","scopeKind":"instance","scopeId":null,"externalId":null,"title":null,"status":null,`+
			`"data":{},"createdAt":"1970-01-01T00:00:00Z","updatedAt":"1970-01-01T00:00:00.001Z"}`,
		w.call("entities.upsert", `{"entityType":"pr","scopeKind":"instance","scopeId":" ","title":null}`))
	require.Equal(t, "demo", kept.plugin)
	kept.found = []Entity{}
	require.Equal(t, `[]`, w.call("entities.list", `{}`))
	kept.found = []Entity{{ID: "a", Data: json.RawMessage(`{}`)}}
	require.JSONEq(t, `[{"id":"a","entityType":"","scopeKind":"","scopeId":null,"externalId":null,"title":null,"status":null,
		"data":{},"createdAt":"0001-01-01T00:00:00Z","updatedAt":"0001-01-01T00:00:00Z"}]`, w.call("entities.list", ``))
}

func TestEntities_areSearchedForTheCompanyInScope(t *testing.T) {
	kept := &shelfOf{}
	w := newWorker(t, &plugins{}, Options{Entities: kept})
	one, none := "c1", ""
	w.call("entities.list", `{}`)
	w.call("entities.list", `{"entityType":"pr","scopeKind":"company","scopeId":"c1","externalId":"7","limit":5,"offset":1e1}`)
	w.scope = ""
	w.call("entities.list", `{"scopeKind":"project","scopeId":" "}`)
	require.Equal(t, []EntitySearch{
		{Reader: &one},
		{EntityType: "pr", ScopeKind: "company", ScopeID: "c1", ExternalID: "7", Limit: 5, Offset: 10, Reader: &one},
		{ScopeKind: "project", Reader: &none},
	}, kept.searched)
}

func TestEntities_aCompanyReachesItsOwnOnly(t *testing.T) {
	kept := &shelfOf{}
	w := newWorker(t, &plugins{}, Options{Entities: kept})
	for _, method := range []string{"entities.upsert", "entities.list"} {
		w.scope = "c1"
		for _, id := range []string{`"c2"`, `null`, `" "`} {
			w.wantRefused(protocol.CodeDenied, method,
				`{"companyId":"c1","entityType":"pr","scopeKind":"company","scopeId":`+id+`}`, `the call is for company "c1"`)
		}
		w.scope = ""
		w.wantRefused(protocol.CodeDenied, method, `{"entityType":"pr","scopeKind":"company","scopeId":"c2"}`, `the call is for no company`)
	}
	require.Empty(t, kept.plugin, "nothing was asked")
}

func TestEntities_refuseWhatIsNone(t *testing.T) {
	w := newWorker(t, &plugins{}, Options{Entities: &shelfOf{}})
	for _, c := range []struct{ method, params, words string }{
		{"entities.upsert", `{"scopeKind":"instance"}`, "entityType: expected a string that is not blank, got nothing"},
		{"entities.upsert", `{"entityType":"pr"}`, "scopeKind: expected a string that is not blank"},
		{"entities.upsert", `{"entityType":"pr","scopeKind":"planet"}`, "scopeKind: expected one of instance, company,"},
		{"entities.upsert", `{"entityType":"pr","scopeKind":"run","title":1}`, "title: expected a string, got a number"},
		{"entities.upsert", `{"entityType":"pr","scopeKind":"run","data":[]}`, "data: expected an object, got an array"},
		{"entities.list", `{"scopeKind":"planet"}`, "scopeKind: expected one of instance, company,"},
		{"entities.list", `{"limit":0}`, "limit: expected a whole number from 1 to 2147483647, got a number"},
		{"entities.list", `{"limit":"5"}`, "limit: expected a whole number from 1 to 2147483647, got a string"},
		{"entities.list", `{"offset":-1}`, "offset: expected a whole number from 0"},
		{"entities.list", `{"offset":1.5}`, "offset: expected a whole number from 0"},
		{"entities.list", `{"offset":1e300}`, "offset: expected a whole number from 0"},
	} {
		w.wantRefused(protocol.CodeInvalid, c.method, c.params, c.words)
	}
}

func TestEntities_aFailureIsPassedOn(t *testing.T) {
	full := errors.New("disk full")
	w := newWorker(t, &plugins{}, Options{Entities: &shelfOf{err: full}})
	for _, method := range []string{"entities.upsert", "entities.list"} {
		_, err := w.try(method, `{"entityType":"pr","scopeKind":"instance"}`)
		require.ErrorIs(t, err, full)
	}
}
