package peers

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/kinds.md that these tests find")

// kind is one kind of capability, and what each of those who offer it says.
type kind struct {
	// name is as docs/kinds.md has it; key is that of an ecosystem's.
	name, key, input, want string
	// by are the ecosystems whose plugins can offer it.
	by []string
	// unlisted are those whose plugins do so without announcing it: it has to be asked of a
	// plugin by name.
	unlisted []string
	// effect is what the callee has seen then, where there is no result.
	effect string
}

// ECO stands for the ecosystem that is called.
var kinds = []kind{
	{name: "tool", key: "tool:ECO-say", input: `{"text":"hi"}`, want: `{"content":"ECO: hi"}`, by: []string{"airi", "paperclip", "go", "websocket"}},
	{name: "model", key: "model:ECO-say", input: `{"text":"hi"}`, want: `"ECO: hi"`, by: []string{"airi", "eliza", "go", "websocket"}},
	{name: "service", key: "service:ECO.say", input: `["hi"]`, want: `"ECO: hi"`, by: []string{"airi", "eliza", "go", "websocket"}},
	{
		name: "action", key: "action:ECO-say", input: `{"params":{"text":"hi"}}`, want: `{"success":true,"text":"ECO: hi"}`,
		by: everybody, unlisted: []string{"paperclip"},
	},
	{
		name: "provider", key: "provider:ECO-say", input: `{"message":{"content":{"text":"hi"}}}`, want: `{"text":"ECO: hi"}`,
		by: []string{"airi", "eliza", "go", "websocket"},
	},
	{
		name: "evaluator", key: "evaluator:ECO-say", input: `{"message":{"content":{"text":"hi"}}}`, want: `"ECO: hi"`,
		by: []string{"airi", "eliza", "go", "websocket"},
	},
	{
		name: "data", key: "data:ECO-say", input: `{"text":"hi"}`, want: `"ECO: hi"`,
		by: []string{"airi", "paperclip", "go", "websocket"}, unlisted: []string{"paperclip"},
	},
	{name: "job", key: "job:ECO-say", input: `{"trigger":"manual"}`, want: `null`, by: []string{"airi", "paperclip", "go", "websocket"}, effect: "job"},
	{
		name: "webhook", key: "webhook:ECO-say", input: `{"headers":{},"rawBody":"hi"}`, want: `null`,
		by: []string{"airi", "paperclip", "go", "websocket"}, effect: "webhook hi",
	},
	{
		name: "http", key: "http:GET /ECO/say", input: `{"query":{"text":"hi"}}`, want: `{"status":200,"headers":{},"body":"ECO: hi"}`,
		by: townsfolk,
	},
	{name: "event", key: "event:ECO-say", input: `{"text":"hi"}`, want: `null`, by: everybody, effect: "event hi"},
	{
		name: "environment", key: "environment:ECO.probe", input: `{"environmentId":"e","config":{}}`, want: `{"ok":true,"summary":"ECO"}`,
		by: []string{"airi", "paperclip", "go", "websocket"},
	},
	{name: "other keys", key: "town:ECO", input: `{"text":"hi"}`, want: `"ECO: hi"`, by: []string{"airi", "go", "websocket"}},
}

func of(text, ecosystem string) string { return strings.ReplaceAll(text, "ECO", ecosystem) }

// unnamed are the ecosystems whose wire cannot name the plugin that is called.
var unnamed = []string{"airi", "websocket"}

// Each calls what each other offers, and itself, of every kind; docs/kinds.md has what was
// found, so that a direction that fails makes another table.
func TestCrossing_everyKind(t *testing.T) {
	h := openWideTown(t, nil)
	found := [][]string{{"kind", "of airi", "of paperclip", "of eliza", "of go", "of websocket"}}
	for _, k := range kinds {
		row := []string{k.name}
		for _, to := range everybody {
			row = append(row, h.reachedBy(t, k, to))
		}
		found = append(found, row)
	}
	wantTable(t, "kinds", found)
}

// reachedBy are the ecosystems whose plugins reach what one offers of a kind.
func (h *town) reachedBy(t *testing.T, k kind, to string) string {
	t.Helper()
	key := of(k.key, to)
	if !slices.Contains(k.by, to) {
		for _, offer := range h.Offers() {
			require.NotEqual(t, key, string(offer.Key))
		}
		return "–"
	}
	var reach []string
	for _, from := range everybody {
		o := order{Key: key, Input: json.RawMessage(k.input)}
		if from == "websocket" && strings.Contains(key, "/") {
			o.Ms = 100
			require.Equal(t, "an AbortError", saysOf(h.relays(t, from, "", o).Failed), "its adapter sends no name with a slash in it")
			continue
		}
		if slices.Contains(k.unlisted, to) {
			o.Plugin = to
		}
		got := h.relays(t, from, "", o)
		if o.Plugin != "" && slices.Contains(unnamed, from) {
			require.Equal(t, "not-found", got.Failed.code(), "its wire cannot name the plugin")
			continue
		}
		require.Nil(t, got.Failed, "%s calls %s: %+v", from, key, got.Failed)
		require.JSONEq(t, of(k.want, to), orNull(got.Result), "%s calls %s", from, key)
		reach = append(reach, from)
	}
	if k.effect != "" {
		h.wantSeen(t, to, k.effect, len(reach))
	}
	if len(reach) == len(everybody) {
		return "all"
	}
	return strings.Join(reach, ", ")
}

func orNull(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "null"
	}
	return string(raw)
}

// An elizaOS plugin reaches others by its own methods, too.
func TestCrossing_elizasOwnMethods(t *testing.T) {
	h := openTown(t, nil)
	for _, to := range []string{"airi", "eliza", "go"} {
		got := h.relays(t, "eliza", "", order{Key: "model:" + to + "-say", Input: json.RawMessage(`{"text":"hi"}`), By: "useModel"})
		require.JSONEq(t, `"`+to+`: hi"`, orNull(got.Result), got.Failed)
		require.JSONEq(t, `{"service":{"available":true}}`, string(h.does(t, "eliza", "service", "", map[string]string{"type": to})))
	}
	require.JSONEq(t, `{"service":null}`, string(h.does(t, "eliza", "service", "", map[string]string{"type": "none"})))
}

// A failure crosses with what the wires have of it.
func TestCrossing_failures(t *testing.T) {
	h := openWideTown(t, nil)
	found := [][]string{{"fails", "as airi sees it", "as paperclip sees it", "as eliza sees it", "as go sees it", "as websocket sees it"}}
	for _, to := range everybody {
		row := []string{to}
		for _, from := range everybody {
			key := "tool:" + to + "-fail"
			if to == "eliza" {
				key = "action:eliza-fail"
			}
			row = append(row, survived(t, h.relays(t, from, "", order{Key: key, Input: json.RawMessage(`{}`)})))
		}
		found = append(found, row)
	}
	wantTable(t, "failures", found)
}

// survived names the members of a RangeError that have come across. What comes in the place
// of one is not among them.
func survived(t *testing.T, got relayed) string {
	t.Helper()
	require.NotNil(t, got.Failed, "%s", got.Result)
	require.Equal(t, "burnt", got.Failed.Message)
	members := []string{"message"}
	if got.Failed.Name == "RangeError" {
		members = append(members, "name")
	}
	if got.Failed.code() == "7" {
		members = append(members, "code")
	}
	if data := (struct{ Tray int }{}); json.Unmarshal(got.Failed.Data, &data) == nil && data.Tray == 3 {
		members = append(members, "data")
	}
	return strings.Join(members, ", ")
}

// told are the ecosystems whose wire tells the callee that nobody waits any more.
var told = []string{"airi", "go", "websocket"}

// A caller that waits no longer hears so in the words of its ecosystem, and the callee is
// told where its wire has a word for it; else its answer is late, and counted.
func TestCrossing_deadlinesAndGivingUp(t *testing.T) {
	h := openWideTown(t, map[string]protocol.Program{"sloth": sloth()}, compiledIn(t, "sloth", `"timeouts":{"call":"200ms"}`))
	found := [][]string{{"calls", "its own deadline", "the host's limit", "the callee is told"}}
	for _, from := range everybody {
		words := map[string]bool{}
		for _, to := range everybody {
			key := "tool:" + to + "-hang"
			if to == "eliza" {
				key = "action:eliza-hang"
			}
			got := h.relays(t, from, "", order{Key: key, Input: json.RawMessage(`{}`), Ms: 60})
			require.NotNil(t, got.Failed, "%s calls %s: %s", from, key, got.Result)
			words[saysOf(got.Failed)] = true
		}
		require.Len(t, words, 1, "whomever it calls")
		got := h.relays(t, from, "", order{Key: "tool:sloth-hang", Input: json.RawMessage(`{}`)})
		require.NotNil(t, got.Failed)
		require.Contains(t, got.Failed.Message, "tool:sloth-hang of plugin sloth did not answer before the deadline (the plugin's limit airi-host.timeouts.call)")
		for word := range words {
			found = append(found, []string{from, word, saysOf(got.Failed), strings.Join(told, ", ")})
		}
	}
	for _, to := range everybody {
		if slices.Contains(told, to) {
			h.wantSeen(t, to, "told", len(everybody))
			continue
		}
		eventually(t, func() bool {
			is, err := h.Inspect(to)
			require.NoError(t, err)
			return is.Dropped["late-answer"] == uint64(len(everybody))
		}, "late answers of "+to)
	}
	wantTable(t, "deadlines", found)
}

// saysOf is how a failure tells what it is: by a name of its ecosystem, or by its code.
func saysOf(f *failed) string {
	if f.Name == "AbortError" {
		return "an AbortError"
	}
	return "code " + f.code()
}

// Items before a result come to callers whose wire has a place for them, from callees whose
// wire has them; others get the result.
func TestCrossing_progress(t *testing.T) {
	h := openWideTown(t, nil)
	found := [][]string{{"to", "of airi", "of paperclip", "of eliza", "of go", "of websocket"}}
	calls := map[string]struct{ key, input, items, result string }{
		"airi":      {"model:airi-count", `{"to":3}`, `[1,2,3]`, `[1,2,3]`},
		"paperclip": {"tool:paperclip-say", `{"text":"hi"}`, `[]`, `{"content":"paperclip: hi"}`},
		"eliza":     {"action:eliza-count", `{"params":{"to":3}}`, `[{"text":"1"},{"text":"2"},{"text":"3"}]`, `null`},
		"go":        {"model:go-count", `{"to":3}`, `[1,2,3]`, `[1,2,3]`},
		"websocket": {"model:websocket-count", `{"to":3}`, `[1,2,3]`, `[1,2,3]`},
	}
	for _, from := range everybody {
		row := []string{from}
		for _, to := range everybody {
			c := calls[to]
			got := h.relays(t, from, "", order{Key: c.key, Input: json.RawMessage(c.input), Follow: from != "paperclip"})
			require.Nil(t, got.Failed, "%s follows %s: %+v", from, c.key, got.Failed)
			items, err := json.Marshal(got.Items)
			require.NoError(t, err)
			switch {
			case from == "websocket" && to != from: // nothing tells the host whether it takes items, and a value has to be whole
				require.JSONEq(t, `[`+c.result+`]`, string(items))
				row = append(row, "the result")
			case len(got.Items) > 0 && to != "paperclip":
				require.JSONEq(t, c.items, string(items), "%s follows %s", from, c.key)
				row = append(row, "items")
			case from == "airi": // its only item
				require.JSONEq(t, `[`+c.result+`]`, string(items))
				row = append(row, "the result")
			default:
				require.JSONEq(t, c.result, orNull(got.Result), "%s calls %s", from, c.key)
				row = append(row, "the result")
			}
		}
		found = append(found, row)
	}
	wantTable(t, "progress", found)
}

// round is what came of a worker's call that calls back.
type round struct {
	// company is whom it worked for, last whom it was called back for, and found what was
	// kept there; failed tells that the one in between could not call.
	company, last, found string
	failed               *failed
}

// goesRound has the Paperclip worker work for a company, and be called back by another plugin.
func (h *town) goesRound(t *testing.T, through, company string) (got round) {
	t.Helper()
	var outer struct {
		Company string
		Result  struct{ Data json.RawMessage }
		Failed  *failed
	}
	require.NoError(t, json.Unmarshal(h.does(t, "paperclip", "round", company, map[string]string{"through": relayOf(through), "loaves": company}), &outer))
	require.Nil(t, outer.Failed, "through %s: %+v", through, outer.Failed)
	var inner relayed
	require.NoError(t, json.Unmarshal(outer.Result.Data, &inner), "%s", outer.Result.Data)
	got.company, got.failed = outer.Company, inner.Failed
	if got.failed == nil {
		var kept struct{ Data struct{ Company, Was string } }
		require.NoError(t, json.Unmarshal(inner.Result, &kept), "%s", inner.Result)
		got.last, got.found = kept.Data.Company, kept.Data.Was
	}
	return got
}

// goRound is goesRound many times at once, for several companies.
func (h *town) goRound(t *testing.T, through string, companies ...string) (all []round) {
	t.Helper()
	rounds := make([]round, 10*len(companies))
	var going sync.WaitGroup
	for i := range rounds {
		going.Go(func() { rounds[i] = h.goesRound(t, through, companies[i%len(companies)]) })
	}
	going.Wait()
	return rounds
}

// A company crosses with the call, and is never widened: whoever is called for one and calls
// back reaches that one alone, however many are served at a time.
func TestCrossing_aCompanyCrossesWithTheCall(t *testing.T) {
	h := openTown(t, nil, elizaPlugin(t, "mute", strings.ReplaceAll(readText(t, "testdata", "town", "eliza.mjs"), "eliza", "mute"), ``))
	for _, through := range townsfolk {
		for _, got := range h.goRound(t, through, "globex", "initech", "acme") {
			require.Nil(t, got.failed, "through %s: %+v", through, got.failed)
			require.Equal(t, got.company, got.last, "through %s", through)
			require.Contains(t, []string{"", got.company}, got.found, "through %s, what is another's was read", through)
		}
	}
	for _, got := range h.goRound(t, "mute", "globex") {
		require.Nil(t, got.failed, "its wire does not tell, but it can be for one only: %+v", got.failed)
		require.Equal(t, "globex", got.last)
	}
	refused := 0
	for _, got := range h.goRound(t, "mute", "globex", "initech", "acme") {
		if got.failed != nil {
			require.Equal(t, "denied", got.failed.code())
			require.Contains(t, got.failed.Message, "it serves calls of several tenants, and its wire does not tell for which of them this is")
			refused++
			continue
		}
		require.Equal(t, got.company, got.last, "denied, or right")
	}
	t.Logf("%d of 30 were denied", refused)
}

// Who called whom is told of each direction, and in which chain.
func TestCrossing_isTold(t *testing.T) {
	h := openTown(t, nil)
	sub := h.Subscribe(actors.KindCall, 0)
	defer sub.Close()
	for _, from := range townsfolk {
		for _, to := range townsfolk {
			if from == "airi" && to == "airi" {
				continue // what a module calls of itself stays inside
			}
			first, key := relayOf(from), "http:GET /"+to+"/say"
			got := h.relays(t, from, "globex", order{Key: key, Input: json.RawMessage(`{"query":{"text":"hi"}}`)})
			require.Nil(t, got.Failed)
			inner := (<-sub.C).(actors.Called)
			require.Equal(t, []string{to, to, key, from, "globex"}, []string{inner.Plugin, inner.Ecosystem, string(inner.Key), inner.Caller, inner.Scope})
			require.Equal(t, []protocol.Link{{Key: first}, {Caller: from, Ecosystem: from, Key: key}}, inner.Chain)
			require.Equal(t, from, (<-sub.C).(actors.Called).Plugin)
		}
	}
}

// Plugins of different ecosystems that call each other in a circle come to an end.
func TestCrossing_circlesEnd(t *testing.T) {
	h := openTown(t, nil)
	say, err := json.Marshal(order{Key: "tool:go-say", Input: json.RawMessage(`{"text":"hi"}`)})
	require.NoError(t, err)
	for range 12 { // each around the one before, three of them
		for _, who := range townsfolk {
			input := say
			if who == "eliza" {
				input = json.RawMessage(`{"params":` + string(say) + `}`)
			}
			say, err = json.Marshal(order{Key: relayOf(who), Input: input})
			require.NoError(t, err)
		}
	}
	got := h.does(t, "airi", "relay", "", json.RawMessage(say))
	require.Contains(t, string(got), "the limit is 32 (limits.callDepth): do plugins call each other in a circle?")
}

// What each tells is heard by all, itself among them.
func TestCrossing_eventsAreHeardByAll(t *testing.T) {
	h := openTown(t, nil)
	for _, from := range townsfolk {
		h.does(t, from, "tell", "acme", struct{}{})
		for _, to := range townsfolk {
			h.wantSeen(t, to, "news "+from, 1)
		}
	}
}

// A plugin of each ecosystem requires what those of all others offer: it waits for them, goes
// on, is degraded when one goes, and recovers.
func TestCrossing_requirements(t *testing.T) {
	const all = `"requires":["tool:airi-say","tool:paperclip-say","action:eliza-say","tool:go-say"]`
	modules := Install(t, Paperclip)
	needs := []string{"tool:airi-say", "tool:paperclip-say", "action:eliza-say", "tool:go-say"}
	needy := map[string]string{
		"needs-airi":      airiModule(t, "needs-airi", `export function setupModules() {}`, all),
		"needs-paperclip": Fixture(t, modules, "echo", Changes{ID: "needs-paperclip", Host: map[string]any{"requires": needs}}),
		"needs-eliza": elizaPlugin(t, "needs-eliza", `import { bootstrap } from './bootstrap.mjs'
			await bootstrap({ name: 'needs-eliza' })`, all),
		"needs-go": compiledIn(t, "needs-go", all),
	}
	h := townWith(t, map[string]protocol.Program{"needs-go": plugin.Define("needs-go")},
		needy["needs-airi"], needy["needs-paperclip"], needy["needs-eliza"], needy["needs-go"])
	phases := func(want lifecycle.State) {
		t.Helper()
		for name := range needy {
			eventually(t, func() bool {
				is, err := h.Inspect(name)
				return err == nil && is.Phase == want
			}, name+" is not "+string(want))
		}
	}
	started := make(chan error, 8)
	start := func(name string) {
		for _, m := range h.Found.Manifests {
			if m.PluginName() == name {
				go func() {
					_, err := h.Start(t.Context(), m, actors.StartOptions{Wait: patience})
					started <- err
				}()
			}
		}
	}
	for name := range needy {
		start(name)
	}
	phases(lifecycle.WaitingDeps)
	for _, name := range townsfolk {
		start(name)
	}
	for range cap(started) {
		require.NoError(t, <-started)
	}
	phases(lifecycle.Ready)
	for _, name := range townsfolk {
		is, err := h.Inspect(name)
		require.NoError(t, err)
		_, err = h.Stop(t.Context(), is.ID)
		require.NoError(t, err)
		phases(lifecycle.Degraded)
		start(name)
		require.NoError(t, <-started)
		phases(lifecycle.Ready)
	}
}

// wantTable holds a table of docs/kinds.md to what a test has found: `go test ./peers -run
// Crossing -update` writes it anew.
func wantTable(t *testing.T, name string, rows [][]string) {
	t.Helper()
	const page = "../docs/kinds.md"
	begin, end := "<!-- found: "+name+" -->\n", "<!-- end -->\n"
	text := readText(t, page)
	before, rest, found := strings.Cut(text, begin)
	require.True(t, found, "docs/kinds.md has lost its mark %s", begin)
	_, after, found := strings.Cut(rest, end)
	require.True(t, found, "docs/kinds.md has lost its mark %s", end)
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
		}
	}
	want := before + begin + "\n" + b.String() + "\n" + end + after
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, text, "docs/kinds.md is not what was found: look at it, and run with -update")
}
