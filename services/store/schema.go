package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

// applicationID marks a database as this project's, "airi" in its header.
const applicationID = 0x61697269

//go:embed schema
var schemaFiles embed.FS

// migrations returns the steps from an empty database to the newest, oldest first:
// one file each. A step that was released is never changed.
func migrations() ([]string, error) {
	names, err := fs.Glob(schemaFiles, "schema/*.sql")
	steps := make([]string, 0, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(schemaFiles, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, string(text))
	}
	return steps, err
}

// inspect looks at a database that is there already, over a connection that cannot
// write, and tells why it must not be opened.
func inspect(ctx context.Context, db *sql.DB, file string, ours int) error {
	var id, version, tables int
	row := db.QueryRowContext(ctx, `SELECT
		(SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`)
	if err := row.Scan(&id, &version, &tables); err != nil {
		return opening(file, err)
	}
	switch {
	case id == 0 && version == 0 && tables == 0:
		return nil // a host ended before it wrote anything
	case id != applicationID:
		return fmt.Errorf("%s: the database is another program's: move it away, or name another state directory", file)
	case version > ours:
		return &VersionError{File: file, Version: version, Ours: ours}
	}
	var found string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return opening(file, err)
	}
	if found != "ok" {
		return &DamagedError{File: file, Detail: found}
	}
	return nil
}

// migrate takes the steps that a database has not taken, each in a transaction of its
// own with the version that it leads to.
func migrate(ctx context.Context, conn *sql.Conn, steps []string) error {
	var version int
	if err := conn.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	for ; version < len(steps); version++ {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		marks := fmt.Sprintf("\n;PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, version+1)
		if _, err := tx.ExecContext(ctx, steps[version]+marks); err != nil {
			_ = tx.Rollback() // what failed says more
			return fmt.Errorf("to version %d: %w", version+1, err)
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}
