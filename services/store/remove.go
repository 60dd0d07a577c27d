package store

import (
	"context"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// RemovePlugin removes all that is kept of a plugin and for it, the audit records about
// it too. The file keeps its length: what comes next fills the space.
func (db *DB) RemovePlugin(ctx context.Context, plugin string) error {
	return db.remove(ctx, func(key services.StateKey) bool { return key.Plugin == plugin }, plugin,
		`DELETE FROM state WHERE plugin = ?`,
		`DELETE FROM state_usage WHERE plugin = ?`,
		`DELETE FROM configurations WHERE plugin = ?`,
		`DELETE FROM plugins WHERE plugin = ?`,
		`DELETE FROM subscriptions WHERE plugin = ?`,
		`DELETE FROM job_runs WHERE plugin = ?`,
		`DELETE FROM jobs WHERE plugin = ?`,
		`DELETE FROM audit WHERE plugin = ?`,
		`DELETE FROM entities WHERE plugin = ?`)
}

// RemoveCompany removes all that plugins keep for a company, and is not for "". What a
// plugin has put under a project, an issue or a run is the plugin's to remove: which
// company they are of, the store does not know.
func (db *DB) RemoveCompany(ctx context.Context, company string) error {
	if company == "" {
		return refused("", protocol.CodeInvalid, "company: expected the name of one, got none: name the company whose data goes")
	}
	return db.remove(ctx, func(key services.StateKey) bool { return key.Company() == company }, company,
		`DELETE FROM state WHERE company = ?`,
		`DELETE FROM configurations WHERE company = ?`,
		`DELETE FROM job_runs WHERE company = ?`,
		`DELETE FROM audit WHERE company = ?`,
		`DELETE FROM entities WHERE company = ?`,
		// What was for this company alone goes: without a filter it would hear everything.
		`DELETE FROM subscriptions WHERE filters <> '[]' AND NOT EXISTS
			(SELECT 1 FROM json_each(filters) WHERE coalesce(json_extract(value, '$.companyId'), '') <> ?)`,
		`UPDATE subscriptions SET filters =
			(SELECT json_group_array(json(value)) FROM json_each(filters) WHERE coalesce(json_extract(value, '$.companyId'), '') <> ?1)
			WHERE EXISTS (SELECT 1 FROM json_each(filters) WHERE json_extract(value, '$.companyId') = ?1)`)
}

// remove runs statements in one transaction, each with one argument, and drops from the
// cache what goes.
func (db *DB) remove(ctx context.Context, goes func(services.StateKey) bool, whose string, statements ...string) error {
	return db.writer.do(ctx, &write{
		size: len(whose),
		run: func(t *tx) error {
			for _, statement := range statements {
				if err := t.exec(statement, whose); err != nil {
					return err
				}
			}
			return nil
		},
		committed: func() { db.state.cache.forget(goes) },
	})
}
