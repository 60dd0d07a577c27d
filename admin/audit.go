package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// AuditSearch says which audit records are wanted. The zero value wants the newest 100.
type AuditSearch struct {
	// Plugin and Company are "" for all.
	Plugin, Company string
	// Since is the moment before which none is wanted; zero for none.
	Since time.Time
	// Before is the number that all have to be below, 0 for none: the lowest of one answer
	// asks for the next.
	Before int64
	// Limit is how many, at most 1000; 0 means 100.
	Limit int
}

// AuditRecord says that somebody has done something, or was denied it.
type AuditRecord struct {
	Number  int64     `json:"number"`
	At      time.Time `json:"at"`
	Plugin  string    `json:"plugin,omitempty"`
	Company string    `json:"company,omitempty"`
	// Action is what was done, one word; Message says it to people.
	Action  string `json:"action"`
	Message string `json:"message"`
	// EntityType and EntityID name what it was done to; "" for nothing.
	EntityType string `json:"entityType,omitempty"`
	EntityID   string `json:"entityId,omitempty"`
	// Metadata is a JSON value; nil for none.
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// AuditList has records, the newest first.
type AuditList struct {
	Records []AuditRecord `json:"records"`
}

// AuditCounts are what became of audit records, for the metrics.
type AuditCounts struct {
	// Written were kept; Folded are denials that another record counts; Dropped found no
	// room; Failed could not be written.
	Written, Folded, Dropped, Failed int64
	// Waiting wait to be written.
	Waiting int
}

func (s *Server) getAudit(w http.ResponseWriter, r *http.Request) error {
	search, err := auditSearch(r.URL.Query())
	if err != nil {
		return err
	}
	if s.opts.Audit == nil {
		return invalid("this host keeps no audit records: give it a state directory that stays, with --state")
	}
	one, unknown := s.findAny(search.Plugin)
	if unknown == nil {
		search.Plugin = one.Plugin // it may have been a session's id
	}
	all, err := s.opts.Audit(r.Context(), search)
	if err == nil && len(all) == 0 && search.Plugin != "" && search.Before == 0 {
		err = unknown // a name may be right that nobody has any more: records outlive their plugin
	}
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, AuditList{append([]AuditRecord{}, all...)})
}

// maxAudit is how many records one answer has.
const maxAudit = 1000

func auditSearch(q url.Values) (s AuditSearch, err error) {
	for name, values := range q {
		value := values[0]
		switch name {
		case "plugin":
			s.Plugin = value
		case "company":
			s.Company = value
		case "since":
			if s.Since, err = time.Parse(time.RFC3339, value); err != nil {
				return s, invalid("?since=%s: expected a time, e.g. 2026-01-31T12:00:00Z", value)
			}
		case "before":
			if s.Before, err = strconv.ParseInt(value, 10, 64); err != nil || s.Before < 0 {
				return s, invalid("?before=%s: expected the number of a record", value)
			}
		case "limit":
			if s.Limit, err = strconv.Atoi(value); err != nil || s.Limit < 0 || s.Limit > maxAudit {
				return s, invalid("?limit=%s: expected a number from 0 to %d", value, maxAudit)
			}
		default:
			return s, invalid("?%s: there is no such parameter here; there are: plugin, company, since, before, limit", name)
		}
	}
	return s, nil
}

// Audit returns the audit records that a search finds, the newest first.
func (c *Client) Audit(ctx context.Context, s AuditSearch) ([]AuditRecord, error) {
	q := url.Values{
		"plugin": {s.Plugin}, "company": {s.Company}, "before": {strconv.FormatInt(s.Before, 10)}, "limit": {strconv.Itoa(s.Limit)},
	}
	if !s.Since.IsZero() {
		q.Set("since", s.Since.UTC().Format(time.RFC3339))
	}
	var list AuditList
	err := c.get(ctx, "/audit?"+q.Encode(), &list)
	return list.Records, err
}
