package store

import (
	"context"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// Removed counts what was removed, by what it is: "state", "configurations", "plugin" (what
// the host knows of it), "subscriptions", "runs", "jobs", "records" and "entities". What
// there was none of is not among it.
type Removed map[string]int64

// removal is what goes, and how; its statement has one argument.
type removal struct{ what, statement string }

// RemovePlugin removes all that is kept of a plugin and for it, the audit records about
// it too. The file keeps its length: what comes next fills the space.
func (db *DB) RemovePlugin(ctx context.Context, plugin string) (Removed, error) {
	return db.remove(ctx, func(key services.StateKey) bool { return key.Plugin == plugin }, plugin,
		removal{"state", `DELETE FROM state WHERE plugin = ?`},
		removal{"", `DELETE FROM state_usage WHERE plugin = ?`},
		removal{"configurations", `DELETE FROM configurations WHERE plugin = ?`},
		removal{"plugin", `DELETE FROM plugins WHERE plugin = ?`},
		removal{"subscriptions", `DELETE FROM subscriptions WHERE plugin = ?`},
		removal{"runs", `DELETE FROM job_runs WHERE plugin = ?`},
		removal{"jobs", `DELETE FROM jobs WHERE plugin = ?`},
		removal{"records", `DELETE FROM audit WHERE plugin = ?`},
		removal{"entities", `DELETE FROM entities WHERE plugin = ?`})
}

// RemoveCompany removes all that plugins keep for a company, and is not for "". What a
// plugin has put under a project, an issue or a run is the plugin's to remove: which
// company they are of, the store does not know.
func (db *DB) RemoveCompany(ctx context.Context, company string) (Removed, error) {
	if company == "" {
		return nil, refused("", protocol.CodeInvalid, "company: expected the name of one, got none: name the company whose data goes")
	}
	return db.remove(ctx, func(key services.StateKey) bool { return key.Company() == company }, company,
		removal{"state", `DELETE FROM state WHERE company = ?`},
		removal{"configurations", `DELETE FROM configurations WHERE company = ?`},
		removal{"runs", `DELETE FROM job_runs WHERE company = ?`},
		removal{"records", `DELETE FROM audit WHERE company = ?`},
		removal{"entities", `DELETE FROM entities WHERE company = ?`},
		// What was for this company alone goes: without a filter it would hear everything.
		removal{"subscriptions", `DELETE FROM subscriptions WHERE filters <> '[]' AND NOT EXISTS
			(SELECT 1 FROM json_each(filters) WHERE coalesce(json_extract(value, '$.companyId'), '') <> ?)`},
		removal{"", `UPDATE subscriptions SET filters =
			(SELECT json_group_array(json(value)) FROM json_each(filters) WHERE coalesce(json_extract(value, '$.companyId'), '') <> ?1)
			WHERE EXISTS (SELECT 1 FROM json_each(filters) WHERE json_extract(value, '$.companyId') = ?1)`})
}

// remove runs statements in one transaction, and drops from the cache what goes.
func (db *DB) remove(ctx context.Context, goes func(services.StateKey) bool, whose string, removals ...removal) (removed Removed, err error) {
	err = db.writer.do(ctx, &write{
		size: len(whose),
		run: func(t *tx) error {
			removed = Removed{} // it may be run again
			for _, one := range removals {
				n, err := t.count(one.statement, whose)
				if err != nil {
					return err
				}
				if n > 0 && one.what != "" {
					removed[one.what] = n
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
