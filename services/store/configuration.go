package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Configuration is one revision of a plugin's configuration for a company.
type Configuration struct {
	Plugin string
	// Company is "" for what holds where a company has none of its own.
	Company string
	// Revision counts from 1; 0 is none.
	Revision int64
	// SchemaVersion is the version of the plugin's schema that Value was written for.
	SchemaVersion int64
	// Value is the whole configuration, a JSON object, as it was given.
	Value json.RawMessage
	// At is when it was set, in milliseconds.
	At time.Time
}

// ConflictError tells that a configuration was changed by another than who sets it now.
type ConflictError struct {
	Plugin, Company string
	// Base is the revision that the change began from, Revision the one in force.
	Base, Revision int64
}

// Error names both revisions and what to do.
func (e *ConflictError) Error() string {
	of := ""
	if e.Company != "" {
		of = fmt.Sprintf(" for company %q", e.Company)
	}
	return fmt.Sprintf("plugin %s: configuration%s: expected revision %d as the base, found %d in force: read it again and repeat the change",
		e.Plugin, of, e.Base, e.Revision)
}

const configurationColumns = `plugin, company, revision, schema_version, value, at`

// Configuration returns what is in force for exactly this company; its Revision is 0 if
// there is none.
func (db *DB) Configuration(ctx context.Context, plugin, company string) (c Configuration, err error) {
	c.Plugin, c.Company = plugin, company
	all, err := rowsOf(ctx, db, readConfiguration, `SELECT `+configurationColumns+` FROM configurations
		WHERE plugin = ? AND company = ? ORDER BY revision DESC LIMIT 1`, plugin, company)
	if len(all) > 0 {
		c = all[0]
	}
	return c, err
}

// Configurations returns all that are in force, by plugin and company.
func (db *DB) Configurations(ctx context.Context) ([]Configuration, error) {
	return rowsOf(ctx, db, readConfiguration, `SELECT `+configurationColumns+` FROM configurations AS c
		WHERE revision = (SELECT max(revision) FROM configurations WHERE plugin = c.plugin AND company = c.company)
		ORDER BY plugin, company`)
}

// ConfigurationHistory returns the revisions that are kept, the newest first.
func (db *DB) ConfigurationHistory(ctx context.Context, plugin, company string) ([]Configuration, error) {
	return rowsOf(ctx, db, readConfiguration, `SELECT `+configurationColumns+` FROM configurations
		WHERE plugin = ? AND company = ? ORDER BY revision DESC`, plugin, company)
}

// SetConfiguration puts c in the place of the revision base, 0 being none, and returns it
// with its Revision and At. The error is a *[ConflictError] if another one is in force.
func (db *DB) SetConfiguration(ctx context.Context, base int64, c Configuration) (Configuration, error) {
	if limit := db.limits.ConfigurationBytes; len(c.Value) > limit {
		return c, tooLong(c.Plugin, "the configuration", len(c.Value), limit)
	}
	c.At = moment(milliseconds(db.limits.Now()))
	c.Revision = base + 1
	var dropped int64
	err := db.writer.do(ctx, &write{
		size: len(c.Value),
		run: func(t *tx) (err error) {
			dropped, err = db.replaceConfiguration(t, base, c)
			return err
		},
		committed: func() { db.counts.revisions.Add(dropped) },
	})
	return c, err
}

func (db *DB) replaceConfiguration(t *tx, base int64, c Configuration) (dropped int64, err error) {
	var inForce int64
	_, err = t.get(`SELECT coalesce(max(revision), 0) FROM configurations WHERE plugin = ? AND company = ?`,
		[]any{c.Plugin, c.Company}, &inForce)
	if err != nil {
		return 0, err
	}
	if inForce != base {
		return 0, &ConflictError{Plugin: c.Plugin, Company: c.Company, Base: base, Revision: inForce}
	}
	err = t.exec(`INSERT INTO configurations (`+configurationColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
		c.Plugin, c.Company, c.Revision, c.SchemaVersion, []byte(c.Value), milliseconds(c.At))
	if err != nil {
		return 0, err
	}
	return t.count(`DELETE FROM configurations WHERE plugin = ? AND company = ? AND revision <= ?`,
		c.Plugin, c.Company, c.Revision-int64(db.limits.History))
}

func readConfiguration(scan func(...any) error) (c Configuration, err error) {
	var at int64
	err = scan(&c.Plugin, &c.Company, &c.Revision, &c.SchemaVersion, &c.Value, &at)
	c.At = moment(at)
	return c, err
}
