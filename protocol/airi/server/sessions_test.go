package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// byModule and byExtension announce a module of either generation.
func byModule(name, plugin, instance string) string {
	return event("module:announce", `{"name":"`+name+`","identity":{"kind":"plugin","plugin":{"id":"`+plugin+`"},"id":"`+instance+`"},"possibleEvents":["x:y"]}`, "")
}

func byExtension(name, extension, id string) string {
	return event("extension:module:announce", `{"name":"`+name+`","identity":{"id":"`+id+`","extension":{"id":"`+extension+`"}},"possibleEvents":["x:y"]}`, "")
}

func byPublished(name, instance string) string {
	return event("module:announce", `{"name":"`+name+`","identity":{"plugin":"`+name+`","instanceId":"`+instance+`","version":"1","labels":{"a":"b"}},"possibleEvents":["x:y"]}`, "")
}

// took returns the facts since it was called last, each on a line.
func (r *rig) took() []string {
	lines := []string{}
	for _, f := range r.facts {
		switch f := f.(type) {
		case Announced:
			line := fmt.Sprintf("%d announced by %s as %s, how %d", f.Session, r.names[f.Conn], f.Module.Name, f.How)
			if f.From != 0 {
				line += ", from " + r.names[f.From]
			}
			if f.Negotiates {
				line += ", negotiates"
			}
			lines = append(lines, line)
		case Away:
			lines = append(lines, fmt.Sprintf("%d away: %s", f.Session, f.Reason))
		case Gone:
			lines = append(lines, fmt.Sprintf("%d gone: %s", f.Session, f.Reason))
		case Health:
			lines = append(lines, fmt.Sprintf("%d healthy: %v", f.Session, f.Healthy))
		case Life:
			lines = append(lines, fmt.Sprintf("%d life by %s, own %v: %s %s", f.Session, r.names[f.Conn], f.Own, f.Type, f.Data))
		case Dropped:
			lines = append(lines, "dropped "+f.Reason)
		case Routed, Authenticated:
		default:
			lines = append(lines, fmt.Sprintf("%T", f))
		}
	}
	r.facts = nil
	return lines
}

// last is what a client was told last, without lists of modules.
func (r *rig) last(name string) string {
	_, others := separate(r.told[name])
	if len(others) == 0 {
		return ""
	}
	return others[len(others)-1]
}

func (r *rig) lastList(name string) string {
	syncs, _ := separate(r.told[name])
	return at(syncs, len(syncs)-1)
}

func TestServer_theNewerConnectionOfAnIdentityTakesTheSession(t *testing.T) {
	for name, announce := range map[string]func(name, instance string) string{
		"modules":    func(n, i string) string { return byModule(n, "p", i) },
		"extensions": func(n, i string) string { return byExtension(n, "p", i) },
		"published":  byPublished,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{})
			r.open("watch")
			r.open("old")
			r.say("old", announce("m", "1"))
			list := r.lastList("watch")
			r.open("new")
			r.say("new", announce("m", "1"))
			require.Equal(t, []string{"1 announced by old as m, how 1", "1 announced by new as m, how 4, from old"}, r.took())
			require.Equal(t, "CLOSE 4001 replaced by a newer connection of the same identity", r.last("old"))
			require.Equal(t, list, r.lastList("watch"), "it is listed once")

			clear(r.told)
			r.say("old", event("x:late", `{}`, ""))
			r.end("old")
			require.Empty(t, r.took())
			require.Empty(t, r.told, "the old one's end is nobody's affair")
			r.say("watch", event("x:y", `{}`, `,"route":{"destinations":["module:m"]}`))
			require.Equal(t, []string{"new"}, r.who())
		})
	}
}

func TestServer_twoInstancesOfOneNameLiveSideBySide(t *testing.T) {
	r := newRig(t, Options{})
	for _, name := range []string{"a", "b"} {
		r.open(name)
		r.say(name, byPublished("m", name))
	}
	require.Equal(t, []string{"1 announced by a as m, how 1", "2 announced by b as m, how 1"}, r.took())
	r.end("a")
	r.say("b", event("ui:configure", `{"moduleName":"m","config":{"k":1}}`, ""))
	require.Contains(t, r.last("b"), `module:configure {"config":{"k":1}}`)
}

func TestServer_modulesWithoutAnInstanceAreNeverTheSame(t *testing.T) {
	bare := event("module:announce", `{"name":"m","identity":{"kind":"plugin","plugin":{"id":"p"}}}`, "")
	r := newRig(t, Options{})
	r.open("a")
	r.say("a", bare)
	r.say("a", bare)
	r.open("b")
	r.say("b", bare)
	r.end("a")
	require.Equal(t, []string{
		"1 announced by a as m, how 1", "1 announced by a as m, how 2", "2 announced by b as m, how 1",
		"1 gone: connection closed", // nobody could come back as it
	}, r.took())
}

func tokens(token string) (string, bool) {
	credential, ok := strings.CutPrefix(token, "token-")
	return credential, ok
}

func TestServer_anotherCredentialDoesNotTakeAnIdentity(t *testing.T) {
	r := newRig(t, Options{Verify: tokens})
	authenticate := func(name, token string) {
		r.open(name)
		r.say(name, event("module:authenticate", `{"token":"`+token+`"}`, ""))
	}
	authenticate("owner", "token-1")
	r.say("owner", byModule("m", "p", "1"))
	r.took()
	authenticate("thief", "token-2")
	r.say("thief", byModule("m", "p", "1"))
	require.Equal(t, `error {"message":"the identity p/1 is in use with another token: choose another id for event 'module:announce'"}`+ourSource, r.last("thief"))
	r.open("nobody")
	r.say("nobody", byModule("m", "p", "1"))
	require.Equal(t, `error {"message":"must authenticate before announcing"}`+ourSource, r.last("nobody"))
	require.Equal(t, []string{"dropped limit"}, r.took())

	r.end("owner")
	r.say("thief", byModule("m", "p", "1"))
	require.Equal(t, []string{"1 away: connection closed", "dropped limit"}, r.took(), "it waits for its own peer")
	authenticate("again", "token-1")
	r.say("again", byModule("m", "p", "1"))
	require.Equal(t, []string{"1 announced by again as m, how 3"}, r.took())
}

func TestServer_waitsForAPeerToComeBack(t *testing.T) {
	r := newRig(t, Options{})
	r.open("watch")
	r.open("a")
	r.say("a", byExtension("m", "p", "1"))
	r.end("a")
	require.Contains(t, r.last("watch"), `"reason":"connection closed"`)
	require.Contains(t, r.lastList("watch"), `{"modules":[]}`)
	r.wait(10*time.Second - 1)
	r.open("b")
	r.say("b", byExtension("m", "p", "1"))
	r.wait(time.Minute - 10*time.Second)
	require.Equal(t, []string{
		"1 announced by a as m, how 1", "1 away: connection closed", "1 announced by b as m, how 3",
	}, r.took())
	r.end("b")
	r.wait(10 * time.Second)
	require.Equal(t, []string{"1 away: connection closed", "1 gone: its peer did not come back within 10s"}, r.took())
	r.open("c")
	r.say("c", byExtension("m", "p", "1"))
	require.Equal(t, []string{"2 announced by c as m, how 1"}, r.took())
}

func TestServer_onlySoManySessionsWait(t *testing.T) {
	r := newRig(t, Options{Limits: Limits{Away: 1}})
	r.open("a")
	r.say("a", byExtension("m", "p", "1"))
	r.say("a", byExtension("n", "p", "2"))
	r.took()
	r.end("a")
	require.Equal(t, []string{"1 away: connection closed", "2 gone: connection closed"}, r.took())
}

func TestServer_anotherNameIsAnotherSession(t *testing.T) {
	for name, c := range map[string]struct {
		announce func(name, plugin, instance string) string
		reason   string
	}{
		"modules": {byModule, "re-announcing"}, "extensions": {byExtension, "reannounced"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{})
			r.open("watch")
			r.open("a")
			r.say("a", c.announce("m", "p", "1"))
			r.say("a", c.announce("m", "p", "1"))
			r.say("a", c.announce("n", "p", "1"))
			require.Equal(t, []string{
				"1 announced by a as m, how 1", "1 announced by a as m, how 2",
				"1 gone: " + c.reason, "2 announced by a as n, how 1",
			}, r.took())
			r.open("b")
			r.say("b", c.announce("o", "p", "1"))
			require.Equal(t, []string{"2 gone: " + c.reason, "3 announced by b as o, how 1"}, r.took())
			require.Contains(t, r.last("a"), "CLOSE 4001")
			require.NotContains(t, r.lastList("watch"), `"n"`)
			r.end("b")
			r.open("c")
			r.say("c", c.announce("q", "p", "1"))
			require.Equal(t, []string{"3 away: connection closed", "3 gone: " + c.reason, "4 announced by c as q, how 1"}, r.took())
			require.Empty(t, r.timers[Timer{Kind: TimerGrace, Session: 3}])
		})
	}
}

func TestServer_aModulePeerHasOneModule(t *testing.T) {
	r := newRig(t, Options{})
	r.open("a")
	r.say("a", byModule("m", "p", "1"))
	r.open("b")
	r.say("b", byModule("n", "p", "2"))
	r.took()
	r.say("b", byModule("m", "p", "1")) // and so it takes over the other's
	require.Equal(t, []string{"2 gone: re-announcing", "1 announced by b as m, how 4, from a"}, r.took())
	require.NotContains(t, r.lastList("b"), `"n"`)
}

func TestServer_aConnectionWithOtherModulesStays(t *testing.T) {
	r := newRig(t, Options{})
	r.open("a")
	r.say("a", byExtension("m", "p", "1"))
	r.say("a", byExtension("n", "p", "2"))
	r.open("b")
	r.say("b", byExtension("m", "p", "1"))
	r.took()
	require.NotContains(t, r.last("a"), "CLOSE")
	r.end("a")
	require.Equal(t, []string{"2 away: connection closed"}, r.took())
}

func TestServer_dismissesASession(t *testing.T) {
	r := newRig(t, Options{})
	r.open("watch")
	r.open("a")
	r.say("a", byExtension("m", "p", "1"))
	r.say("a", byExtension("n", "p", "2"))
	r.took()
	r.step(Dismiss{1, "stopped by hand"})
	require.Contains(t, r.last("watch"), `extension:module:de-announced {"identity":{"extension":{"id":"p"},"id":"1"},"name":"m","possibleEvents":[],"reason":"stopped by hand"}`)
	require.NotContains(t, r.last("a"), "CLOSE")
	r.step(Dismiss{2, strings.Repeat("ä", 100)})
	require.Equal(t, "CLOSE 1008 "+strings.Repeat("ä", 61), r.last("a"))
	r.step(Dismiss{2, "again"})
	require.Len(t, r.took(), 2)

	r.open("b")
	r.say("b", byExtension("m", "p", "1"))
	r.end("b")
	r.took()
	r.step(Dismiss{3, "while it is away"})
	require.Equal(t, []string{"3 gone: while it is away"}, r.took())
	require.NotContains(t, r.timers, Timer{Kind: TimerGrace, Session: 3})
}

func TestServer_shutdownEndsEverything(t *testing.T) {
	r := newRig(t, Options{Verify: tokens})
	r.open("a")
	r.say("a", event("module:authenticate", `{"token":"token-1"}`, ""))
	r.say("a", byModule("m", "p", "1"))
	r.open("b")
	r.took()
	r.step(Shut{})
	require.Equal(t, []string{"1 gone: server shutdown"}, r.took())
	for _, name := range []string{"a", "b"} {
		require.Equal(t, "CLOSE 1001 server shutdown", r.last(name))
	}
	clear(r.told)
	r.say("a", event("x:y", `{}`, ""))
	r.open("c")
	require.Empty(t, r.told)
}

// A timer may have fired already when it is stopped.
func TestServer_timersThatNobodyWaitsForChangeNothing(t *testing.T) {
	r := newRig(t, Options{Verify: tokens})
	r.open("a")
	r.say("a", event("module:authenticate", `{"token":"token-1"}`, ""))
	r.say("a", byModule("m", "p", "1"))
	r.took()
	clear(r.told)
	for _, timer := range []Timer{
		{Kind: TimerAuthentication, Conn: 1},
		{Kind: TimerAuthentication, Conn: 9},
		{Kind: TimerGrace, Session: 1},
		{Kind: TimerGrace, Session: 9},
		{Kind: TimerSync},
		{},
	} {
		require.Empty(t, r.step(Fired{timer}), "%+v", timer)
	}
	require.Empty(t, r.told)
	r.step(Opened{Conn: 1, Peer: "again"})
	r.step(Receive(9, []byte(`x`)))
	r.step(Ended{Conn: 9})
	require.Empty(t, r.told)
	require.Len(t, r.server.order, 1)
}

func TestGeneration_hasAName(t *testing.T) {
	require.Equal(t, "undecided modules extensions", fmt.Sprint(Undecided, " ", Modules, " ", Extensions))
}

func TestIdentity_keyIsNoOthers(t *testing.T) {
	require.NotEqual(t, Identity{Plugin: "a\x00b", Instance: "c"}.key(), Identity{Plugin: "a", Instance: "b\x00c"}.key())
	require.NotEqual(t, Identity{Plugin: "1", Instance: "2:x"}.key(), Identity{Plugin: "12", Instance: ":x"}.key())
}
