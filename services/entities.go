package services

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Entities keep what plugins track. All methods may run concurrently. An error that is
// a *[protocol.Error] goes to the plugin with its code.
type Entities interface {
	// UpsertEntity keeps an entity of a plugin and returns it as it is kept, with its
	// ID and times. One with the ExternalID of another takes that one's place if type
	// and scope are the same too.
	UpsertEntity(ctx context.Context, plugin string, e Entity) (Entity, error)
	// Entities returns those of a plugin that a search finds, the oldest first.
	Entities(ctx context.Context, plugin string, s EntitySearch) ([]Entity, error)
}

// Entity is one thing that a plugin tracks, mostly for something outside. As JSON it is
// what Paperclip's entities.upsert and entities.list answer with: what is absent is
// null.
type Entity struct {
	// ID is the host's own for it, a UUID.
	ID         string          `json:"id"`
	EntityType string          `json:"entityType"`
	ScopeKind  string          `json:"scopeKind"`
	ScopeID    *string         `json:"scopeId"`
	ExternalID *string         `json:"externalId"`
	Title      *string         `json:"title"`
	Status     *string         `json:"status"`
	Data       json.RawMessage `json:"data"`
	// CreatedAt and UpdatedAt are in milliseconds; who keeps it tells.
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Company is the company that an entity belongs to; "" if its scope is none.
func (e Entity) Company() string { return companyOf(e.ScopeKind, e.ScopeID) }

// EntitySearch says which entities are wanted; what is "" may be any.
type EntitySearch struct {
	EntityType, ScopeKind, ScopeID, ExternalID string
	// Reader is the company that asks: it finds what is of no company and its own, and
	// "" only the former. Nil finds all.
	Reader *string
	// Limit is how many, at most 1000; 0 means 100. Offset is how many are left out.
	Limit, Offset int
}

// entityService serves entities.upsert and entities.list.
type entityService struct{ entities Entities }

// upsert serves entities.upsert: {entityType, scopeKind, scopeId?, externalId?, title?,
// status?, data?} → the entity. What is left out is null from then on, and data {}.
func (s entityService) upsert(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	e := Entity{
		EntityType: in.text("entityType"), ScopeKind: in.text("scopeKind"), ScopeID: in.nullable("scopeId"),
		ExternalID: in.nullable("externalId"), Title: in.nullable("title"), Status: in.nullable("status"),
		Data: in.raw("data"),
	}
	if in.object("data"); e.Data == nil {
		e.Data = json.RawMessage(`{}`)
	}
	if e.ScopeID != nil && blank(*e.ScopeID) {
		e.ScopeID = nil
	}
	in.checkScope(e.ScopeKind, e.ScopeID)
	if in.err != nil {
		return nil, in.err
	}
	kept, err := s.entities.UpsertEntity(ctx, call.Caller, e)
	if err != nil {
		return nil, err
	}
	return encode(kept), nil
}

// list serves entities.list: {entityType?, scopeKind?, scopeId?, externalId?, limit?,
// offset?} → the entities. Those of a company are for calls that are about it.
func (s entityService) list(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	scope := in.nullable("scopeId")
	search := EntitySearch{
		EntityType: in.optional("entityType"), ScopeKind: in.optional("scopeKind"), ExternalID: in.optional("externalId"),
		Limit: in.count("limit", 1), Offset: in.count("offset", 0), Reader: &call.Scope,
	}
	if scope != nil && !blank(*scope) {
		search.ScopeID = *scope
	}
	if search.ScopeKind != "" {
		in.checkScope(search.ScopeKind, scope)
	}
	if in.err != nil {
		return nil, in.err
	}
	found, err := s.entities.Entities(ctx, call.Caller, search)
	if err != nil {
		return nil, err
	}
	return encode(found), nil
}

// checkScope keeps what is wrong with a scope: what the wire does not know, and another
// company than the call is about. The gate looks at companyId first and may have passed
// a call whose scopeId is another one.
func (p *params) checkScope(kind string, id *string) {
	if p.err != nil {
		return
	}
	if !slices.Contains(scopeKinds, kind) {
		p.failf("scopeKind: expected one of %s", strings.Join(scopeKinds, ", "))
		return
	}
	if kind == "company" && (p.call.Scope == "" || companyOf(kind, id) != p.call.Scope) {
		p.err = faultf(p.call, protocol.CodeDenied,
			"scopeId: the call is for %s, so it reaches what is of that company alone", companyName(p.call.Scope))
	}
}

func companyName(company string) string {
	if company == "" {
		return "no company"
	}
	return "company " + strconv.Quote(company)
}

// nullable is a string, nil where it is absent or null.
func (p *params) nullable(field string) *string {
	if p.raw(field) == nil {
		return nil
	}
	s := p.optional(field)
	return &s
}

// count is a whole number from least, 0 where it is absent or null.
func (p *params) count(field string, least int) int {
	value := p.raw(field)
	if value == nil {
		return 0
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n != math.Trunc(n) || n < float64(least) || n > math.MaxInt32 {
		p.expected(field, "a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(math.MaxInt32))
		return 0
	}
	return int(n)
}
