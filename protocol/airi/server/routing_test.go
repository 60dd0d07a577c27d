package server

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tableRow is one case of a recorded truth table: what an event said of its way, and who
// got it.
type tableRow struct {
	Note      string
	Route     json.RawMessage
	Data      json.RawMessage
	Delivered []string
}

func readTable(t *testing.T, file string) (rows []tableRow) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &rows))
	require.Len(t, rows, 54)
	return rows
}

// elsewhere says who gets an event here where that is somebody else than in the table of
// 0.11.3, by the row of the page that tells why.
var elsewhere = map[string]struct {
	row  string
	gets []string
}{
	"source:":                  {"ws-source", []string{"C"}},
	"expr source":              {"ws-source", []string{"A"}},
	"expr source empty string": {"ws-source", []string{"D"}},
	"expr glob":                {"ws-glob", []string{"A", "B", "C"}},
	"expr glob inverted":       {"ws-glob", []string{"D"}},
}

// crowd has the clients of the tables: three with a module, a sender that has none, and
// one that says nothing.
func crowd(t *testing.T, r *rig, extensions bool) (source func(labels string) string) {
	t.Helper()
	type client struct{ name, module, instance, plugin, pluginLabels, labels string }
	identity := func(c client) string {
		if extensions {
			return `{"id":"` + c.instance + `","extension":{"id":"` + c.plugin + `"` + c.pluginLabels + `}` + c.labels + `}`
		}
		return `{"kind":"plugin","plugin":{"id":"` + c.plugin + `"` + c.pluginLabels + `},"id":"` + c.instance + `"` + c.labels + `}`
	}
	kind := "module:announce"
	if extensions {
		kind = "extension:module:announce"
	}
	for _, c := range []client{
		{"A", "mod-a", "a-1", "plug-a", "", `,"labels":{"env":"prod","app":"tg"}`},
		{"B", "mod-b", "b-1", "plug-b", `,"labels":{"tier":"gold"}`, `,"labels":{"env":"dev","app":"tg"}`},
		{"C", "mod-c", "c-1", "plug-b", "", `,"labels":{"env":"prod"}`},
	} {
		r.open(c.name)
		id := identity(c)
		r.say(c.name, `{"type":"`+kind+`","data":{"name":"`+c.module+`","identity":`+id+`,"possibleEvents":[]},"metadata":{"source":`+id+`,"event":{"id":"1"}}}`)
	}
	r.open("S")
	r.open("D")
	return func(labels string) string {
		sender := client{instance: "s-1", plugin: "sender"}
		if labels != "" && strings.HasPrefix(labels, "plugin:") {
			sender.pluginLabels = `,"labels":{"devtools":"` + labels[len("plugin:"):] + `"}`
		} else if labels != "" {
			sender.labels = `,"labels":{"devtools":"` + labels + `"}`
		}
		return identity(sender)
	}
}

// devtoolsOf are the labels that the sender has in a case of the tables.
func devtoolsOf(note string) string {
	switch {
	case strings.Contains(note, "plugin-level devtools"):
		return "plugin:true"
	case strings.Contains(note, "devtools=true"):
		return "true"
	case strings.Contains(note, "devtools=1"):
		return "1"
	case strings.Contains(note, "devtools=yes"):
		return "yes"
	}
	return ""
}

func TestServer_routesAsTheTruthTablesSay(t *testing.T) {
	for _, table := range []struct {
		name       string
		extensions bool
	}{{"v0102", false}, {"head", true}} {
		for _, row := range readTable(t, "testdata/"+table.name+"-routing.table.json") {
			t.Run(table.name+" "+row.Note, func(t *testing.T) {
				want := row.Delivered
				if other, ok := elsewhere[row.Note]; ok && table.extensions {
					require.NotEqual(t, want, other.gets, "strike the difference")
					wantRows(t, []string{other.row})
					want = other.gets
				}
				r := newRig(t, Options{})
				source := crowd(t, r, table.extensions)
				clear(r.told)
				r.say("S", row.event(source(devtoolsOf(row.Note))))
				require.ElementsMatch(t, want, r.who())
			})
		}
	}
}

// event is an event with the destinations of a case.
func (row tableRow) event(source string) string {
	data, route := `{}`, ``
	if row.Data != nil {
		data = `{"destinations":` + string(row.Data) + `}`
	}
	switch {
	case row.Route != nil && row.Route[0] == '[':
		route = `,"route":{"destinations":` + string(row.Route) + `}`
	case row.Route != nil:
		route = `,"route":` + string(row.Route)
	}
	return `{"type":"spark:notify","data":` + data + route + `,"metadata":{"source":` + source + `,"event":{"id":"e"}}}`
}

// who was told anything.
func (r *rig) who() []string {
	names := []string{}
	for name, lines := range r.told {
		if len(lines) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// event is a frame without a wrapper.
func event(kind, data, rest string) string {
	return `{"type":"` + kind + `","data":` + data + rest + `,"metadata":{"event":{"id":"e"}}}`
}

func TestServer_expressionsBeyondTheTables(t *testing.T) {
	for destination, want := range map[string][]string{
		`"peer:peer-D"`: {"D"},
		`{"type":"ids","ids":["peer-A","peer-D"]}`:        {"A", "D"},
		`{"type":"ids","ids":["peer-A"],"inverted":true}`: {"B", "C", "D"},
		`{"type":"instance","instances":[""]}`:            {"D"},
		`{"type":"module","modules":[""]}`:                {"D"},
		`"module:"`:                                       {},
		`"plugin:"`:                                       {},
		`"instance:"`:                                     {},
		`"source:"`:                                       {},
		`"peer:"`:                                         {},
		`"plugin:plug-a:more"`:                            {"A"},
		`7`:                                               {},
		`true`:                                            {},
		`{}`:                                              {},
		`{"type":7}`:                                      {},
		`{"type":"plugin","plugins":[7,null,"plug-a"]}`:                                 {"A"},
		`{"type":"and","all":["plug-a"]}`:                                               {},
		`{"type":"or","any":[7,{"type":"module","modules":["mod-c"]}],"inverted":true}`: {"C"},
		`{"type":"label","selectors":["tier"],"inverted":1}`:                            {"A", "C", "D"},
		`{"type":"glob","glob":"*-1"}`:                                                  {"A", "B", "C"},
	} {
		r := newRig(t, Options{})
		crowd(t, r, false)
		clear(r.told)
		r.say("S", event("x:y", `{}`, `,"route":{"destinations":[`+destination+`]}`))
		require.Equal(t, want, r.who(), destination)
	}
}

func TestServer_refusesDestinationsThatAreNone(t *testing.T) {
	deep := strings.Repeat(`{"type":"and","all":[`, 17) + strings.Repeat(`]}`, 17)
	for rest, want := range map[string]string{
		`,"route":"x"`:                                                                              "invalid event format",
		`,"route":[]`:                                                                               "invalid event format",
		`,"route":{"destinations":"module:b"}`:                                                      "invalid event format",
		`,"route":{"destinations":null}`:                                                            "invalid event format",
		`,"route":{"destinations":[null]}`:                                                          "invalid event format",
		`,"route":{"destinations":[{"type":"and"}]}`:                                                "invalid event format",
		`,"route":{"destinations":[{"type":"and","all":[null]}]}`:                                   "invalid event format",
		`,"route":{"destinations":[{"type":"or","any":{}}]}`:                                        "invalid event format",
		`,"route":{"destinations":[{"type":"glob"}]}`:                                               "invalid event format",
		`,"route":{"destinations":[{"type":"label"}]}`:                                              "invalid event format",
		`,"route":{"destinations":[{"type":"label","selectors":[7]}]}`:                              "invalid event format",
		`,"route":{"destinations":[{"type":"ids","ids":"x"}]}`:                                      "invalid event format",
		`,"route":{"delivery":"consumer"}`:                                                          "invalid event format",
		`,"route":{"destinations":[` + deep + `]}`:                                                  "invalid event format: destinations nest deeper than 16",
		`,"route":{"destinations":["` + strings.Repeat("x", 1025) + `"]}`:                           "invalid event format: a destination has more than 1024 bytes",
		`,"route":{"destinations":[` + strings.Repeat(`"x",`, 256) + `"x"]}`:                        "invalid event format: destinations have more than 256 expressions",
		`,"route":{"destinations":[{"more":"` + strings.Repeat("x", 256<<10) + `"}]}`:               "invalid event format: destinations have more than 262144 bytes",
		`,"route":{"destinations":[{"type":"ids","ids":[` + strings.Repeat(`"x",`, 255) + `"x"]}]}`: "invalid event format: destinations have more than 256 expressions",
	} {
		r := newRig(t, Options{})
		crowd(t, r, true)
		clear(r.told)
		r.say("S", event("x:y", `{}`, rest))
		require.Equal(t, map[string][]string{"S": {`error {"message":"` + want + `"}` + ourSource}}, r.told, rest)
	}
}

func TestServer_obeysItsPolicy(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		want   []string
	}{
		{Policy{AllowPlugins: []string{"plug-b"}}, []string{"B", "C"}},
		{Policy{AllowPlugins: []string{""}}, []string{"D"}},
		{Policy{DenyPlugins: []string{"plug-b"}}, []string{"A", "D"}},
		{Policy{AllowLabels: []string{"env=prod", "app"}}, []string{"A"}},
		{Policy{DenyLabels: []string{"env=prod"}}, []string{"B", "D"}},
		{Policy{DenyPlugins: []string{"plug-a"}, DenyLabels: []string{"env=prod"}}, []string{"B", "D"}},
	} {
		r := newRig(t, Options{Policy: c.policy})
		crowd(t, r, true)
		clear(r.told)
		r.say("S", event("x:y", `{}`, `,"route":{"destinations":["module:mod-a"]}`))
		require.Equal(t, c.want, r.who(), "%+v", c.policy)
	}
}

func TestServer_bypassIsForDevtools(t *testing.T) {
	bypass := `,"route":{"bypass":true,"destinations":[]}`
	for _, c := range []struct {
		o     Options
		named string
		want  []string
	}{
		{Options{}, "my-devtools", []string{"A", "B", "C", "D"}},
		{Options{Policy: Policy{AllowLabels: []string{"env=prod"}}}, "my-devtools", []string{"A", "B", "C", "D"}},
		{Options{NoBypass: true}, "my-devtools", []string{}},
		{Options{}, "tools", []string{}},
	} {
		r := newRig(t, c.o)
		crowd(t, r, false)
		r.say("S", event("module:announce", `{"name":"`+c.named+`","identity":{"plugin":"p","instanceId":"s-1"}}`, ""))
		clear(r.told)
		r.say("S", event("x:y", `{}`, bypass))
		require.Equal(t, c.want, r.who(), "%+v %s", c.o, c.named)
	}
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		glob, text string
		want       bool
	}{
		{"*", "x", true},
		{"*", "", false},
		{"", "", false},
		{"", "x", false},
		{"a*b", "ab", true},
		{"a*b", "axxb", true},
		{"a*b", "axxbc", false},
		{"*b*", "abc", true},
		{"**a**", "a", true},
		{"a.c", "abc", false},
		{"a?c", "abc", false},
		{"[a]", "a", false},
		{"*a*a*b", "aaaaaaaaaaab", true},
		{"*a*a*b", "aaaaaaaaaaa", false},
		{"ä*", "äö", true},
	} {
		require.Equal(t, c.want, globs(c.glob, c.text), "%q %q", c.glob, c.text)
	}
}

func TestServer_keepsTheBytesOfWhatItPassesOn(t *testing.T) {
	for sent, want := range map[string]string{
		`{ "type":"x:y", "data":{"n":1.50,"u":"\u00e4"},"extra":1 }`:                      `{"json":{ "type":"x:y", "data":{"n":1.50,"u":"\u00e4"},"extra":1 }}`,
		`{"json":{"type":"x:y","data":{"d":"x"}}, "meta":{"values":{"data.d":["Date"]}}}`: `{"json":{"type":"x:y","data":{"d":"x"}}, "meta":{"values":{"data.d":["Date"]}}}`,
		`{"type":"x:outer","data":{},"json":{"type":"x:inner","data":{}}}`:                `{"type":"x:outer","data":{},"json":{"type":"x:inner","data":{}}}`,
		`{"type":"x:y","data":{"constructor":1},"json":null}`:                             `{"json":{"type":"x:y","data":{"constructor":1},"json":null}}`,
	} {
		s := New(Options{})
		s.Step(protocolNow, Opened{Conn: 1, Peer: "p1"})
		s.Step(protocolNow, Opened{Conn: 2, Peer: "p2"})
		effects := s.Step(protocolNow, Receive(1, []byte(sent)))
		require.Equal(t, Send{[]Conn{2}, []byte(want)}, effects[0])
		require.IsType(t, Routed{}, effects[1])
	}
}

// The longest glob over the longest id, for each of many terms and modules, is one event.
func TestGlobs_takeNoLongerThanTheirLength(t *testing.T) {
	glob, text := "*"+strings.Repeat("a", 1022)+"b", strings.Repeat("a", 4000)
	began := time.Now()
	for range 2000 {
		require.False(t, globs(glob, text))
	}
	require.Less(t, time.Since(began), 2*time.Second)
}
