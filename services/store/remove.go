package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// Removed counts what was removed, by what it is: "state", "configurations", "plugin" (what
// the host knows of it), "subscriptions", "filters" (subscriptions that go on without those
// of a company), "runs", "jobs", "records" and "entities". What there was none of is not
// among it.
type Removed map[string]int64

// Add counts what else was removed.
func (r Removed) Add(more Removed) {
	for what, n := range more {
		r[what] += n
	}
}

// removal is what goes: the rows of a table for which a condition with one argument holds,
// each of which is a plugin's. It is not counted without a what.
type removal struct {
	what, table, where string
	// update is what is done with the rows, "" for deleting them.
	update string
}

func (r removal) statement() string {
	if r.update != "" {
		return fmt.Sprintf(`UPDATE %s SET %s WHERE %s`, r.table, r.update, r.where)
	}
	return fmt.Sprintf(`DELETE FROM %s WHERE %s`, r.table, r.where)
}

// owners counts the rows by the plugins whose they are, as a JSON object.
func (r removal) owners() string {
	return fmt.Sprintf(`SELECT json_group_object(plugin, n) FROM (SELECT plugin, count(*) AS n FROM %s WHERE %s GROUP BY plugin)`, r.table, r.where)
}

// RemovePlugin removes all that is kept of a plugin and for it, the audit records about
// it too. The file keeps its length: what comes next fills the space.
func (db *DB) RemovePlugin(ctx context.Context, plugin string) (Removed, error) {
	const its = `plugin = ?`
	all, err := db.remove(ctx, func(key services.StateKey) bool { return key.Plugin == plugin }, plugin,
		removal{what: "state", table: "state", where: its},
		removal{table: "state_usage", where: its},
		removal{what: "configurations", table: "configurations", where: its},
		removal{what: "plugin", table: "plugins", where: its},
		removal{what: "subscriptions", table: "subscriptions", where: its},
		removal{what: "runs", table: "job_runs", where: its},
		removal{what: "jobs", table: "jobs", where: its},
		removal{what: "records", table: "audit", where: its},
		removal{what: "entities", table: "entities", where: its})
	if err != nil {
		return nil, err
	}
	removed := Removed{}
	removed.Add(all[plugin])
	return removed, nil
}

// RemoveCompany removes all that plugins keep for a company, and is not for "". It counts
// that by plugin; the host's own is that of "". What a plugin has put under a project, an
// issue or a run is the plugin's to remove: which company they are of, the store does not
// know.
func (db *DB) RemoveCompany(ctx context.Context, company string) (map[string]Removed, error) {
	if company == "" {
		return nil, refused("", protocol.CodeInvalid, "company: expected the name of one, got none: name the company whose data goes")
	}
	const its = `company = ?`
	return db.remove(ctx, func(key services.StateKey) bool { return key.Company() == company }, company,
		removal{what: "state", table: "state", where: its},
		removal{what: "configurations", table: "configurations", where: its},
		removal{what: "runs", table: "job_runs", where: its},
		removal{what: "records", table: "audit", where: its},
		removal{what: "entities", table: "entities", where: its},
		// What was for this company alone goes: without a filter it would hear everything.
		removal{what: "subscriptions", table: "subscriptions", where: `filters <> '[]' AND NOT EXISTS
			(SELECT 1 FROM json_each(filters) WHERE coalesce(json_extract(value, '$.companyId'), '') <> ?)`},
		removal{
			what: "filters", table: "subscriptions",
			where: `EXISTS (SELECT 1 FROM json_each(filters) WHERE json_extract(value, '$.companyId') = ?1)`,
			update: `filters = (SELECT json_group_array(json(value)) FROM json_each(filters)
				WHERE coalesce(json_extract(value, '$.companyId'), '') <> ?1)`,
		})
}

// remove does what removals say in one transaction, and drops from the cache what goes. It
// counts that by plugin.
func (db *DB) remove(ctx context.Context, goes func(services.StateKey) bool, whose string, removals ...removal) (removed map[string]Removed, err error) {
	err = db.writer.do(ctx, &write{
		size: len(whose),
		run: func(t *tx) error {
			removed = map[string]Removed{} // it may be run again
			for _, one := range removals {
				if err := t.remove(one, whose, removed); err != nil {
					return err
				}
			}
			return nil
		},
		committed: func() { db.state.cache.forget(goes) },
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}

func (t *tx) remove(one removal, whose string, removed map[string]Removed) error {
	if one.what != "" {
		var text []byte
		owners := map[string]int64{}
		if _, err := t.get(one.owners(), []any{whose}, &text); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &owners); err != nil {
			return &Error{t.file, err}
		}
		for plugin, n := range owners {
			if removed[plugin] == nil {
				removed[plugin] = Removed{}
			}
			removed[plugin][one.what] += n
		}
	}
	return t.exec(one.statement(), whose)
}
