package store

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestPlugin_isRemembered(t *testing.T) {
	db := openStore(t, Options{})
	unknown, err := db.Plugin(t.Context(), "p")
	require.NoError(t, err)
	require.Equal(t, Plugin{Name: "p"}, unknown)

	crashes := Crashes{All: 12, InARow: 11, GivenUp: true, Last: "exit status 1", LastAt: newClock().now, Next: newClock().now.Add(time.Minute)}
	require.NoError(t, db.SetCrashes(t.Context(), "p", crashes))
	require.NoError(t, db.SetDisabled(t.Context(), "p", true))
	require.NoError(t, db.SetGrants(t.Context(), "p", []string{"events.emit", "http.outbound"}, []string{"activity.log.write"}))
	require.NoError(t, db.SetGrants(t.Context(), "a", nil, nil))
	want := []Plugin{
		{Name: "a", Grants: []string{}, Granted: true},
		{Name: "p", Disabled: true, Crashes: crashes, Grants: []string{"events.emit", "http.outbound"}, Granted: true, Refused: []string{"activity.log.write"}},
	}
	db = reopened(t, db)
	all, err := db.Plugins(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, all)

	require.NoError(t, db.SetDisabled(t.Context(), "p", false))
	require.NoError(t, db.SetCrashes(t.Context(), "p", Crashes{All: 12}))
	require.NoError(t, db.SetGrants(t.Context(), "p", []string{"events.emit"}, nil))
	p, err := db.Plugin(t.Context(), "p")
	require.NoError(t, err)
	require.Equal(t, Plugin{Name: "p", Crashes: Crashes{All: 12}, Grants: []string{"events.emit"}, Granted: true}, p)
}

func TestPlugin_hasLimits(t *testing.T) {
	db := openStore(t, Options{Grants: 2})
	wantFault(t, db.SetGrants(t.Context(), "p", []string{"a", "b"}, []string{"c"}), protocol.CodeInvalid,
		"3 grants are too many: a plugin may have 2")
	require.NoError(t, db.SetCrashes(t.Context(), "p", Crashes{Last: strings.Repeat("x", 10_000), LastAt: time.Now()}))
	p, err := db.Plugin(t.Context(), "p")
	require.NoError(t, err)
	require.Len(t, p.Crashes.Last, maxReason)
	require.NoError(t, db.SetCrashes(t.Context(), "p", Crashes{Last: "x" + strings.Repeat("ä", 10_000), LastAt: time.Now()}))
	p, err = db.Plugin(t.Context(), "p")
	require.NoError(t, err)
	require.Equal(t, "x"+strings.Repeat("ä", maxReason/2-1), p.Crashes.Last, "whole characters")
}
