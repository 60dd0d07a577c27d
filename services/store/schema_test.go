package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMigrate_bringsAnOlderFileUpToDate(t *testing.T) {
	dir := t.TempDir()
	steps, err := migrations()
	require.NoError(t, err)
	db := openIn(t, dir, Options{})
	set(t, db, keyOf("p", "k"), `1`)
	require.NoError(t, db.Close())

	more := append(steps, `CREATE TABLE a (x); INSERT INTO a VALUES (1)`, `ALTER TABLE a RENAME TO b`)
	for range 2 {
		db, err = open(context.Background(), dir, Options{}.withDefaults(), more)
		require.NoError(t, err)
		var version, rows int
		require.NoError(t, db.read.QueryRow(`SELECT user_version, (SELECT count(*) FROM b) FROM pragma_user_version`).Scan(&version, &rows))
		require.Equal(t, len(steps)+2, version)
		require.Equal(t, 1, rows, "a step is taken once")
		wantValue(t, db, keyOf("p", "k"), `1`)
		require.NoError(t, db.Close())
	}
}

// A step that fails leaves what was before it, and is tried again.
func TestMigrate_aStepIsTakenAsAWhole(t *testing.T) {
	dir := t.TempDir()
	steps, err := migrations()
	require.NoError(t, err)
	broken := append(steps, `CREATE TABLE a (x)`, `CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)`)
	_, err = open(context.Background(), dir, Options{}.withDefaults(), broken)
	require.ErrorContains(t, err, FileName)

	right := append(steps, `CREATE TABLE a (x)`, `CREATE TABLE b (x); INSERT INTO a VALUES (1)`)
	db, err := open(context.Background(), dir, Options{}.withDefaults(), right)
	require.NoError(t, err)
	var version int
	require.NoError(t, db.read.QueryRow(`PRAGMA user_version`).Scan(&version))
	require.Equal(t, len(steps)+2, version)
	require.NoError(t, db.Close())
}

func TestSchema_hasItsIndexes(t *testing.T) {
	db := openStore(t, Options{})
	for _, query := range []string{
		`SELECT value FROM state WHERE plugin = 'p' AND scope_kind = '' AND scope_id = '' AND namespace = '' AND key = ''`,
		`DELETE FROM state WHERE plugin = 'p'`,
		`SELECT 1 FROM configurations WHERE plugin = 'p' AND company = '' ORDER BY revision DESC LIMIT 1`,
		`DELETE FROM job_runs WHERE started_at < 1`,
		`SELECT number FROM job_runs WHERE plugin = 'p' ORDER BY number DESC LIMIT 1 OFFSET 10`,
		`UPDATE job_runs SET ended_at = 0 WHERE outcome = 'running'`,
		`DELETE FROM audit WHERE at < 1`,
		`SELECT count(*) FROM entities WHERE plugin = 'p'`,
		`SELECT id FROM entities WHERE plugin = 'p' AND entity_type = '' AND scope_kind = '' AND scope_id = '' AND external_id = ''`,
	} {
		var id, parent, unused int
		var plan string
		require.NoError(t, db.read.QueryRow("EXPLAIN QUERY PLAN "+query).Scan(&id, &parent, &unused, &plan))
		require.Contains(t, plan, "SEARCH ", query)
	}
}
