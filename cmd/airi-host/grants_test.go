package main

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services/store"
)

// grantsIn are the grants of a host on a state directory, by settings in JSON.
func grantsIn(t *testing.T, dir, config string) (*grants, *store.DB) {
	t.Helper()
	read, problems := manifest.ParseSettings("airi-host.json", []byte(config), manifest.SettingsOptions{})
	require.Empty(t, problems)
	db, err := openStore(t.Context(), dir, store.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	g := &grants{settings: &settings{Settings: *read}, log: slog.New(slog.DiscardHandler)}
	require.NoError(t, g.load(t.Context(), db))
	return g, db
}

// asks is a manifest of the plugin "p" that asks for grants, and to call what matches
// patterns.
func asks(patterns []string, names ...string) *manifest.Manifest {
	m := ofProgram("p")
	m.Dialect, m.Paperclip, m.Host.Invoke = manifest.DialectPaperclip, &manifest.Paperclip{Grants: names}, patterns
	return m
}

func see(t *testing.T, g *grants, m *manifest.Manifest) *actors.Granted {
	t.Helper()
	news, tell := g.see(t.Context(), m)
	if !tell {
		return nil
	}
	return &news
}

func TestGrants_atFirstSightAndAfterAnUpgrade(t *testing.T) {
	dir := t.TempDir()
	g, db := grantsIn(t, dir, `{}`)
	of := actors.Origin{Plugin: "p"}
	require.Equal(t, &actors.Granted{Origin: of, Grants: []string{"a"}, New: []string{"a"}}, see(t, g, asks(nil, "a")))
	require.Nil(t, see(t, g, asks(nil, "a")), "it is told once")
	require.Equal(t, &actors.Granted{Origin: of, Grants: []string{"a"}, Waiting: []string{"b", "invoke:tool:*"}}, see(t, g, asks([]string{"tool:*"}, "a", "b")))
	require.Equal(t, []string{"a"}, g.of("p", []string{"a", "b"}))
	require.False(t, g.mayInvoke("p", "tool:x"))

	// Who approves has seen what he approves.
	_, err := g.decide(t.Context(), "p", admin.GrantDecision{Seen: []string{"b"}})
	require.Equal(t, protocol.CodeConflict, protocol.CodeOf(err))
	fresh, err := g.decide(t.Context(), "p", admin.GrantDecision{Seen: []string{"invoke:tool:*", "b"}})
	require.NoError(t, err)
	require.Equal(t, []string{"b", "invoke:tool:*"}, fresh)
	require.True(t, g.mayInvoke("p", "tool:x"))
	require.False(t, g.mayInvoke("p", "model:x"))
	fresh, err = g.decide(t.Context(), "p", admin.GrantDecision{})
	require.NoError(t, err)
	require.Empty(t, fresh)

	// It outlives the host; a narrower pattern is no new request.
	require.NoError(t, db.Close())
	g, _ = grantsIn(t, dir, `{}`)
	require.Nil(t, see(t, g, asks([]string{"tool:x"}, "b")))
	require.Equal(t, admin.Grants{
		Plugin: "p", Source: "stored", Asked: []string{"b", "invoke:tool:x"}, Granted: []string{"b", "invoke:tool:x"},
	}, g.told("p"))
}

func TestGrants_whatIsRefusedDoesNotWait(t *testing.T) {
	g, _ := grantsIn(t, t.TempDir(), `{}`)
	see(t, g, asks(nil, "a"))
	see(t, g, asks(nil, "a", "b"))
	_, err := g.decide(t.Context(), "p", admin.GrantDecision{Deny: true})
	require.NoError(t, err)
	require.Nil(t, see(t, g, asks(nil, "a", "b")))
	require.Equal(t, []string{"b"}, g.told("p").Refused)
	require.Equal(t, []string{"c"}, see(t, g, asks(nil, "a", "b", "c")).Waiting)
	fresh, err := g.decide(t.Context(), "p", admin.GrantDecision{})
	require.NoError(t, err)
	require.Equal(t, []string{"c", "b"}, fresh)
	require.Empty(t, g.told("p").Refused)
}

func TestGrants_theSettingsGoFirst(t *testing.T) {
	g, _ := grantsIn(t, t.TempDir(), `{"plugins": {"p": {"grants": ["http.outbound", "invoke:tool:*"]}}}`)
	require.Nil(t, see(t, g, asks([]string{"*"}, "http.outbound", "events.emit")))
	require.Equal(t, admin.Grants{
		Plugin: "p", Source: "settings", Asked: []string{"http.outbound", "events.emit", "invoke:*"},
		Granted: []string{"http.outbound"}, Refused: []string{"events.emit", "invoke:*"},
	}, g.told("p"))
	require.Equal(t, []string{"http.outbound"}, g.of("p", []string{"http.outbound", "events.emit"}))
	require.True(t, g.mayInvoke("p", "tool:x"))
	require.False(t, g.mayInvoke("p", "model:x"))
	_, err := g.decide(t.Context(), "p", admin.GrantDecision{})
	require.EqualError(t, err, "the grants of plugin p stand in the settings: change plugins.p.grants there")
}

func TestGrants_aHostMayAskAtFirstSight(t *testing.T) {
	g, _ := grantsIn(t, t.TempDir(), `{"grants": {"firstSight": "ask"}}`)
	require.Equal(t, []string{"a", "invoke:b"}, see(t, g, asks([]string{"b"}, "a")).Waiting)
	require.Empty(t, g.of("p", []string{"a"}))
	module := ofProgram("module")
	require.Equal(t, []string{"invoke:*"}, see(t, g, module).Waiting)
	require.False(t, g.mayInvoke("module", "tool:x"))
}

func TestGrants_aModuleThatListsNothingIsNoNews(t *testing.T) {
	g, _ := grantsIn(t, t.TempDir(), `{}`)
	require.Nil(t, see(t, g, ofProgram("module")))
	require.True(t, g.mayInvoke("module", "tool:x"))
}

func TestGrants_withoutAStoreAllIsGranted(t *testing.T) {
	g := &grants{settings: &settings{}}
	require.Nil(t, see(t, g, asks([]string{"*"}, "a")))
	require.Equal(t, []string{"a"}, g.of("p", []string{"a"}))
	require.True(t, g.mayInvoke("p", "tool:x"))
	require.Equal(t, "none", g.told("p").Source)
	_, err := g.decide(t.Context(), "p", admin.GrantDecision{})
	require.EqualError(t, err, "plugin p has all that it asks for: this host keeps nothing")
}

func TestGrants_whatCannotBeKeptHoldsForThisHost(t *testing.T) {
	g, db := grantsIn(t, t.TempDir(), `{}`)
	require.NoError(t, db.Close())
	require.NotNil(t, see(t, g, asks(nil, "a")))
	require.Equal(t, []string{"a"}, g.of("p", []string{"a"}))
	see(t, g, asks(nil, "a", "b"))
	_, err := g.decide(t.Context(), "p", admin.GrantDecision{})
	require.ErrorIs(t, err, store.ErrClosed)
	require.Equal(t, []string{"b"}, g.waiting("p"))
}

func TestGrants_ofManyAreKeptAtOnce(t *testing.T) {
	g, db := grantsIn(t, t.TempDir(), `{}`)
	var list []*manifest.Manifest
	for i := range 200 {
		m := asks(nil, "a")
		m.Name = string(rune('a'+i/26)) + string(rune('a'+i%26))
		list = append(list, m)
	}
	require.Len(t, g.seeAll(t.Context(), list), 200)
	all, err := db.Plugins(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 200)
	require.Less(t, db.Stats().Commits, int64(200))
}

func TestGrantsText(t *testing.T) {
	of := actors.Origin{Plugin: "p"}
	for want, e := range map[string]actors.Granted{
		"has no grants":                                  {Origin: of},
		"has the grants a, b":                            {Origin: of, Grants: []string{"a", "b"}},
		"is granted what it asks for: a":                 {Origin: of, Grants: []string{"a"}, New: []string{"a"}},
		"waits for approval of b: 'airi-host approve p'": {Origin: of, Grants: []string{"a"}, Waiting: []string{"b"}},
	} {
		require.Equal(t, want, grantsText(e))
	}
}

func TestCrashBook_outlivesTheHost(t *testing.T) {
	dir := t.TempDir()
	db, err := openStore(t.Context(), dir, store.Options{})
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	b, err := openCrashBook(t.Context(), db, log)
	require.NoError(t, err)
	require.Zero(t, b.Recall("p"))
	want := actors.CrashRecord{Crashes: 3, InARow: 2, LastCrash: "exit status 1"}
	for i := range 1000 { // whatever comes in between, the last one stays
		b.Remember("p", actors.CrashRecord{Crashes: i})
	}
	b.Remember("p", want)
	b.Remember("q", actors.CrashRecord{Crashes: 1, GivenUp: true})
	b.forget("q")
	b.close(t.Context())
	b.close(t.Context())
	b.Remember("p", actors.CrashRecord{})
	require.Less(t, db.Stats().Writes, int64(1000))
	require.NoError(t, db.Close())

	db, err = openStore(t.Context(), dir, store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	b, err = openCrashBook(t.Context(), db, log)
	require.NoError(t, err)
	defer b.close(t.Context())
	require.Equal(t, want, b.Recall("p"))
}
