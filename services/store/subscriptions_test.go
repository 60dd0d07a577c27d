package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func wantSubscriptions(t *testing.T, db *DB, plugin string, want ...Subscription) {
	t.Helper()
	all, err := db.Subscriptions(t.Context(), plugin)
	require.NoError(t, err)
	require.ElementsMatch(t, want, all)
}

func TestSubscription_isRememberedByItsPattern(t *testing.T) {
	db := openStore(t, Options{Subscriptions: 2})
	issues := Subscription{Plugin: "p", Pattern: "issue.*", Filters: []protocol.EventFilter{{CompanyID: "c1"}, {ProjectID: "x", AgentID: "y"}}}
	runs := Subscription{Plugin: "p", Pattern: "run.ended", Filters: []protocol.EventFilter{}}
	require.NoError(t, db.SetSubscription(t.Context(), issues))
	require.NoError(t, db.SetSubscription(t.Context(), Subscription{Plugin: "p", Pattern: "run.ended"}))
	wantSubscriptions(t, reopened(t, db), "p", issues, runs)
}

func TestSubscription_hasALimit(t *testing.T) {
	db := openStore(t, Options{Subscriptions: 1})
	require.NoError(t, db.SetSubscription(t.Context(), Subscription{Plugin: "p", Pattern: "a"}))
	require.NoError(t, db.SetSubscription(t.Context(), Subscription{Plugin: "p", Pattern: "a"}), "one that is there may change")
	wantFault(t, db.SetSubscription(t.Context(), Subscription{Plugin: "p", Pattern: "b"}), protocol.CodeOverloaded,
		`a subscription to "b" is one too many: a plugin may have 1`)
	require.NoError(t, db.DeleteSubscription(t.Context(), "p", "a"))
	require.NoError(t, db.DeleteSubscription(t.Context(), "p", "a"), "that there is none is no error")
	require.NoError(t, db.SetSubscription(t.Context(), Subscription{Plugin: "p", Pattern: "b"}))
}
