package store

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// fill keeps something of every kind for a plugin and a company.
func fill(t *testing.T, db *DB, plugin, company string) {
	t.Helper()
	set(t, db, companyKey(plugin, company, "k"), `1`)
	set(t, db, companyKey(plugin, " "+company+" ", "k"), `2`)
	configure(t, db, 0, plugin, company, `{}`)
	startRunFor(t, db, plugin, company)
	audit(t, db, Record{Plugin: plugin, Company: company})
	upsert(t, db, plugin, Entity{EntityType: "e", ScopeKind: "company", ScopeID: &company, Data: json.RawMessage(`{}`)})
	only := []protocol.EventFilter{{CompanyID: company}}
	require.NoError(t, db.SetSubscription(t.Context(), Subscription{plugin, "only." + company, only}))
}

func startRunFor(t *testing.T, db *DB, plugin, company string) {
	t.Helper()
	require.NoError(t, db.StartRun(t.Context(), Run{Plugin: plugin, ID: company, Job: "j", Company: company}))
}

// fillAlone keeps what a plugin has for no company.
func fillAlone(t *testing.T, db *DB, plugin string) {
	t.Helper()
	set(t, db, keyOf(plugin, "k"), `1`)
	require.NoError(t, db.SetDisabled(t.Context(), plugin, true))
	_, err := db.FollowJob(t.Context(), plugin, "j", "* * * * *")
	require.NoError(t, err)
	both := []protocol.EventFilter{{CompanyID: "c1", AgentID: "a"}, {CompanyID: "c2"}, {AgentID: "b"}}
	require.NoError(t, db.SetSubscription(t.Context(), Subscription{plugin, "both", both}))
	require.NoError(t, db.SetSubscription(t.Context(), Subscription{Plugin: plugin, Pattern: "all"}))
}

// rowsIn counts the rows that hold a condition, in each table that has its column.
func rowsIn(t *testing.T, db *DB, column, value string) map[string]int {
	t.Helper()
	all := map[string]int{}
	tables, err := rowsOf(t.Context(), db, func(scan func(...any) error) (name string, err error) { return name, scan(&name) },
		`SELECT t.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c WHERE t.name NOT LIKE 'sqlite%' AND c.name = ?`, column)
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for _, table := range tables {
		var n int
		require.NoError(t, db.read.QueryRow(fmt.Sprintf(`SELECT count(*) FROM %s WHERE %s = ?`, table, column), value).Scan(&n))
		all[table] = n
	}
	return all
}

func wantNone(t *testing.T, rows map[string]int) {
	t.Helper()
	for table, n := range rows {
		require.Zero(t, n, table)
	}
}

func TestRemovePlugin_removesAllThatIsItsOwn(t *testing.T) {
	db := openStore(t, Options{})
	for _, plugin := range []string{"p", "q"} {
		fill(t, db, plugin, "c1")
		fillAlone(t, db, plugin)
	}
	before := rowsIn(t, db, "plugin", "q")
	for table, n := range before {
		require.Positive(t, n, "%s: what is not there is not tested", table)
	}
	removed, err := db.RemovePlugin(t.Context(), "p")
	require.NoError(t, err)
	require.Equal(t, Removed{
		"state": 3, "configurations": 1, "plugin": 1, "subscriptions": 3, "runs": 1, "jobs": 1, "records": 1, "entities": 1,
	}, removed)
	none, err := db.RemovePlugin(t.Context(), "p")
	require.NoError(t, err)
	require.Empty(t, none)
	wantNone(t, rowsIn(t, db, "plugin", "p"))
	require.Equal(t, before, rowsIn(t, db, "plugin", "q"))
	wantValue(t, db, keyOf("p", "k"), "")
	wantValue(t, db, keyOf("q", "k"), `1`)
	fill(t, db, "p", "c1")
}

func TestRemoveCompany_removesAllThatIsItsOwn(t *testing.T) {
	db := openStore(t, Options{})
	for _, plugin := range []string{"p", "q"} {
		fill(t, db, plugin, "c1")
		fill(t, db, plugin, "c2")
		fillAlone(t, db, plugin)
	}
	audit(t, db, Record{Company: "c1"}) // the host's own
	before := rowsIn(t, db, "company", "c2")
	for table, n := range before {
		require.Positive(t, n, "%s: what is not there is not tested", table)
	}
	removed, err := db.RemoveCompany(t.Context(), "c1")
	require.NoError(t, err)
	of := Removed{"state": 2, "configurations": 1, "subscriptions": 1, "filters": 1, "runs": 1, "records": 1, "entities": 1}
	require.Equal(t, map[string]Removed{"p": of, "q": of, "": {"records": 1}}, removed)
	again, err := db.RemoveCompany(t.Context(), "c1")
	require.NoError(t, err)
	require.Empty(t, again)
	wantNone(t, rowsIn(t, db, "company", "c1"))
	require.Equal(t, before, rowsIn(t, db, "company", "c2"))
	wantValue(t, db, companyKey("p", "c1", "k"), "")
	wantValue(t, db, companyKey("q", " c1 ", "k"), "")
	wantValue(t, db, companyKey("p", "c2", "k"), `1`)
	wantValue(t, db, keyOf("p", "k"), `1`)
	wantSubscriptions(t, db, "p",
		Subscription{"p", "all", []protocol.EventFilter{}},
		Subscription{"p", "both", []protocol.EventFilter{{CompanyID: "c2"}, {AgentID: "b"}}},
		Subscription{"p", "only.c2", []protocol.EventFilter{{CompanyID: "c2"}}})
	var keys int
	require.NoError(t, db.read.QueryRow(`SELECT keys FROM state_usage WHERE plugin = 'p'`).Scan(&keys))
	require.Equal(t, 3, keys)

	_, err = db.RemoveCompany(t.Context(), "")
	wantFault(t, err, protocol.CodeInvalid, "name the company whose data goes")
}
