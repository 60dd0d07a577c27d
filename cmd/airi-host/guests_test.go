package main

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// guestGrants are grants of a host whose own plugin is "p".
func guestGrants(t *testing.T, config string) *grants {
	t.Helper()
	g, _ := grantsIn(t, t.TempDir(), config)
	g.owns = func(plugin string) bool { return plugin == "p" }
	return g
}

// A guest may call what stands under its name, else what all guests may.
func TestGrants_ofGuests(t *testing.T) {
	for _, c := range []struct {
		name, config string
		may, mayNot  []capability.Key
	}{
		{"everything", `{}`, []capability.Key{"tool:x", "model:Y", "proj-airi:own"}, nil},
		{"by patterns", `{"websocket": {"invoke": ["tool:*", "event:x"]}}`, []capability.Key{"tool:x", "event:x"}, []capability.Key{"model:x", "event:y"}},
		{"nothing", `{"websocket": {"invoke": []}}`, nil, []capability.Key{"tool:x", "event:x"}},
		{"by name", `{"websocket": {"invoke": ["tool:*"]}, "plugins": {"bot": {"grants": ["invoke:model:*"]}}}`, []capability.Key{"model:x"}, []capability.Key{"tool:x"}},
		{"nothing by name", `{"plugins": {"bot": {"grants": []}}}`, nil, []capability.Key{"tool:x"}},
		{"another's name", `{"plugins": {"cat": {"grants": []}}}`, []capability.Key{"tool:x"}, nil},
	} {
		g := guestGrants(t, c.config)
		for _, key := range c.may {
			require.True(t, g.mayInvoke("bot", key), "%s: %s", c.name, key)
		}
		for _, key := range c.mayNot {
			require.False(t, g.mayInvoke("bot", key), "%s: %s", c.name, key)
		}
		require.Empty(t, g.waiting("bot"), c.name)
		require.False(t, g.mayInvoke("p", "tool:x"), "what guests may is not the host's own plugins'")
	}
}

// Where grants are to be asked for, a guest waits for them, and keeps what was approved.
func TestGrants_ofGuestsAreAskedFor(t *testing.T) {
	g := guestGrants(t, `{"grants": {"firstSight": "ask"}, "websocket": {"invoke": ["tool:*"]}}`)
	require.Equal(t, []string{"invoke:tool:*"}, g.waiting("bot"))
	require.False(t, g.mayInvoke("bot", "tool:x"))
	_, err := g.decide(t.Context(), "bot", admin.GrantDecision{})
	require.NoError(t, err)
	require.True(t, g.mayInvoke("bot", "tool:x"))
	require.Equal(t, admin.Grants{Plugin: "bot", Source: "stored", Asked: []string{"invoke:tool:*"}, Granted: []string{"invoke:tool:*"}}, g.told("bot"))

	_, err = g.decide(t.Context(), "cat", admin.GrantDecision{Deny: true})
	require.NoError(t, err)
	require.False(t, g.mayInvoke("cat", "tool:x"))
	require.Equal(t, []string{"invoke:tool:*"}, g.told("cat").Refused)

	again := guestGrants(t, `{}`)
	require.NoError(t, again.load(t.Context(), g.db))
	require.True(t, again.mayInvoke("bot", "tool:x"))
	require.False(t, again.mayInvoke("bot", "model:x"), "what was approved by hand is what it has")

	kept := &grants{settings: wantSettings(t, `{"grants": {"firstSight": "ask"}}`), owns: g.owns}
	require.True(t, kept.mayInvoke("bot", "tool:x"), "where nothing is kept nobody can approve")
}

func TestHouse_preparesGuests(t *testing.T) {
	h := &house{roster: newRoster([]*manifest.Manifest{ofProgram("p")}, manifest.Options{}), grants: guestGrants(t, `{}`), paperclip: &paperclip{}}
	h.configs = &configurations{settings: wantSettings(t, `{"plugins": {"bot": {"config": {"voice": "low"}}}}`)}
	require.NoError(t, h.configs.load(t.Context(), nil))
	guest := func(name string) (actors.Guest, error) {
		g := actors.Guest{Manifest: &manifest.Manifest{Dialect: manifest.DialectAIRI, Name: name}, Instance: "1"}
		return g, h.prepare(&g)
	}
	bot, err := guest("bot")
	require.NoError(t, err)
	require.JSONEq(t, `{"voice": "low"}`, string(bot.Start.Config.Full))
	require.True(t, bot.Manifest.MayInvoke("model:x"), "who decides is asked at each call")
	cat, err := guest("cat")
	require.NoError(t, err)
	require.Nil(t, cat.Start.Config)
	_, err = guest("p")
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
	require.ErrorContains(t, err, "plugin p is one of the host's own: a peer needs another name")
	require.Equal(t, guestDialect, h.speaks("bot"))
	require.Equal(t, manifest.DialectAIRI, h.speaks("p"))
}

// A guest is on the board as long as it is there, by its instance, and nobody awaits it.
func TestObserver_showsGuestsWhileTheyAreThere(t *testing.T) {
	o := newObserver([]string{"p"}, noon)
	p := actors.SessionInfo{Plugin: "p", ID: "s0", Phase: lifecycle.Ready}
	one := actors.SessionInfo{Plugin: "bot", Instance: "1", ID: "s1", Phase: lifecycle.Ready}
	two := actors.SessionInfo{Plugin: "bot", Instance: "2", ID: "s2", Phase: lifecycle.Preparing}
	names := func(sessions ...actors.SessionInfo) (names []string) {
		for _, r := range o.look(noon.Add(time.Second), doingServe, sessions).rows {
			names = append(names, r.plugin)
		}
		return names
	}
	require.Equal(t, []string{"p", "bot/1", "bot/2"}, names(one, p, two))
	require.False(t, settled([]actors.SessionInfo{{Phase: lifecycle.Preparing}}))
	require.True(t, settled([]actors.SessionInfo{p, two}))
	o.sampled = noon
	require.Equal(t, []string{"p"}, names(p))
	require.Len(t, o.samples, 1)
	require.Len(t, o.seen, 1)
}

// Peers choose their names: the host remembers only so many.
func TestJournal_tracesSoManyPlugins(t *testing.T) {
	j := &journal{traces: map[string]trace{}, show: func(actors.Event) {}}
	failed := func(plugin string) {
		j.take(actors.PhaseChanged{Origin: actors.Origin{Plugin: plugin}, From: lifecycle.Prepared, To: lifecycle.Failed})
	}
	for i := range maxTraces + 10 {
		failed(strconv.Itoa(i))
	}
	require.Len(t, j.traces, maxTraces)
	j.take(actors.Waiting{Origin: actors.Origin{Plugin: "0"}, Cycle: []string{"0", "0"}})
	require.Equal(t, []string{"0", "0"}, j.traces["0"].cycle, "who is known is traced on")
}

// A peer is held to the token, the pages and the names that are in force at the moment.
func TestFront_holdsPeersToWhatIsInForce(t *testing.T) {
	f := &front{}
	f.guards.Store(&admin.Guard{})
	whose, ok := f.verify("")
	require.True(t, ok, "where there is no token all are equal")
	f.guards.Store(&admin.Guard{Token: "0123456789abcdef", Origins: []string{"https://stage.example"}, Hosts: []string{"airi.lan"}})
	for _, wrong := range []string{"", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef "} {
		_, ok := f.verify(wrong)
		require.False(t, ok, "%q", wrong)
	}
	same, ok := f.verify("0123456789abcdef")
	require.True(t, ok)
	require.Equal(t, whose, same)
	require.Equal(t, "0123456789abcdef", f.access().Token)
	require.Equal(t, []string{"https://stage.example"}, f.access().Origins)
	require.Equal(t, []string{"airi.lan"}, f.access().Hosts)
}

// What a peer gives may not stay hidden for good, by a reload of settings neither.
func TestHouse_hidesAGuestsConfigurationsWithinABound(t *testing.T) {
	h := &house{roster: newRoster([]*manifest.Manifest{{Name: "own"}}, manifest.Options{}), paperclip: &paperclip{}}
	h.hide("guest", json.RawMessage(`{"n":0}`)) // nothing is logged, and nothing hidden
	h.paperclip.hidden = &hush{bounds: guestConfigBounds{Plugins: 1, Bytes: 100}}
	for plugin, config := range map[string]string{"own": `{"n":1}`, "guest": `{"n":2}`} {
		h.hide(plugin, json.RawMessage(config))
	}
	h.hide("guest", json.RawMessage(`{"n":3}`))
	require.Equal(t, `{"r":["[masked]",{"n":2},"[masked]"]}`, h.paperclip.hidden.show([]byte(`{"r":[{"n":1},{"n":2},{"n":3}]}`)))
}
