package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// asChild names what the test binary does when it is started as a child.
const asChild = "AIRI_HOST_STORE_CHILD"

func TestMain(m *testing.M) {
	if child := children[os.Getenv(asChild)]; child != nil {
		if err := child(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// openIn opens the store of a directory until the test ends.
func openIn(t testing.TB, dir string, o Options) *DB {
	t.Helper()
	db, err := Open(context.Background(), dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openStore(t testing.TB, o Options) *DB {
	t.Helper()
	return openIn(t, t.TempDir(), o)
}

// reopened closes a store and opens it anew.
func reopened(t *testing.T, db *DB) *DB {
	t.Helper()
	require.NoError(t, db.Close())
	return openIn(t, dirOf(db), db.limits)
}

func keyOf(plugin, key string) services.StateKey {
	return services.StateKey{Plugin: plugin, ScopeKind: "instance", Namespace: "default", Key: key}
}

func companyKey(plugin, company, key string) services.StateKey {
	return services.StateKey{Plugin: plugin, ScopeKind: "company", ScopeID: company, Namespace: "default", Key: key}
}

func set(t testing.TB, db *DB, key services.StateKey, value string) {
	t.Helper()
	require.NoError(t, db.State().Set(context.Background(), key, json.RawMessage(value)))
}

// wantValue is what a key has; "" for none.
func wantValue(t *testing.T, db *DB, key services.StateKey, want string) {
	t.Helper()
	value, err := db.State().Get(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, want, string(value))
	require.Equal(t, want == "", value == nil)
}

func wantFault(t *testing.T, err error, code protocol.Code, words string) {
	t.Helper()
	require.ErrorContains(t, err, words)
	require.Equal(t, code, protocol.CodeOf(err), err.Error())
}

// clock is a time that a test sets.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

func dirOf(db *DB) string { return filepath.Dir(db.File()) }
