package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The recorded conversations of AIRI's servers of releases 0.10.2 and 0.11.3 with their
// clients, with this server in their place.

var update = flag.Bool("update", false, "rewrite what this server says where it differs from a recording")

const differencesPage = "../../../docs/differences.md"

// differs says which rows of the page tell why a recording is another one here. What is
// said instead stands in testdata/ours.
var differs = map[string][]string{
	"head-auth-flow":                 {"ws-configure-unauthenticated"},
	"v0102-auth-flow":                {"ws-configure-unauthenticated"},
	"head-auth-isolation":            {"ws-configure-unauthenticated"},
	"v0102-auth-isolation":           {"ws-configure-unauthenticated"},
	"v0102-announce-flow":            {"ws-same-key"},
	"v0102-ui-configure":             {"ws-identity-stays"},
	"head-extension-flow":            {"ws-announced-identity", "ws-generations"},
	"head-health":                    {"ws-healthy-again"},
	"head-routing":                   {"ws-source", "ws-glob"},
	"head-dispose":                   {"ws-shutdown"},
	"v0102-dispose":                  {"ws-shutdown"},
	"v0102-pub084-missing-token":     {"ws-published"},
	"head-crash-auth":                {"ws-crash", "ws-generations"},
	"head-crash-noauth":              {"ws-crash", "ws-generations"},
	"v0102-crash-auth":               {"ws-crash"},
	"v0102-crash-noauth":             {"ws-crash"},
	"head-pub084-default-auth":       {"ws-generations", "ws-published"},
	"head-pub084-default-noauth":     {"ws-generations", "ws-published"},
	"v0102-pub084-default-auth":      {"ws-published"},
	"v0102-pub084-default-noauth":    {"ws-published"},
	"head-pub084-missing-token":      {"ws-generations"},
	"head-pub084-two-clients-auth":   {"ws-generations", "ws-published"},
	"head-pub084-two-clients-noauth": {"ws-generations", "ws-published"},
}

func TestServer_saysWhatTheReferenceServersSay(t *testing.T) {
	for _, name := range recordings(t) {
		t.Run(name, func(t *testing.T) {
			want, got := replay(t, name, asItIs)
			if rows := differs[name]; rows != nil {
				require.NotEmpty(t, difference(want, got), "it is the same as the recording: strike its difference")
				wantRows(t, rows)
				wantOurs(t, name, got)
				return
			}
			require.Empty(t, difference(want, got))
		})
	}
}

func recordings(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.meta.json")
	require.NoError(t, err)
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".meta.json"))
	}
	require.Len(t, names, 55)
	for name := range differs {
		require.Contains(t, names, name)
	}
	return names
}

// The page tells of nothing that nobody shows.
func TestDifferences_areShown(t *testing.T) {
	page, err := os.ReadFile(differencesPage)
	require.NoError(t, err)
	told := map[string]bool{}
	for _, m := range regexp.MustCompile(`<a id="(ws-[a-z-]+)"></a>`).FindAllStringSubmatch(string(page), -1) {
		told[m[1]] = true
	}
	shown := map[string]bool{}
	for _, rows := range differs {
		for _, row := range rows {
			shown[row] = true
		}
	}
	require.Equal(t, shown, told)
}

func wantRows(t *testing.T, rows []string) {
	t.Helper()
	page, err := os.ReadFile(differencesPage)
	require.NoError(t, err)
	for _, row := range rows {
		require.Contains(t, string(page), `<a id="`+row+`"></a>`, "%s does not tell it", differencesPage)
	}
}

// wantOurs compares what every connection was told with what was reviewed.
func wantOurs(t *testing.T, name string, got map[string][]string) {
	t.Helper()
	var text strings.Builder
	for _, conn := range slices.Sorted(maps.Keys(got)) {
		for _, line := range got[conn] {
			fmt.Fprintln(&text, conn, line)
		}
	}
	file := filepath.Join("testdata", "ours", name+".txt")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text.String(), "run the test with -update, and review the change")
}

// difference tells where two conversations are not the same, but for lists of modules that
// were not sent because newer ones followed; "" for nowhere.
func difference(want, got map[string][]string) string {
	conns := maps.Clone(want)
	maps.Copy(conns, got)
	for _, conn := range slices.Sorted(maps.Keys(conns)) {
		wantSyncs, wantOthers := separate(want[conn])
		gotSyncs, gotOthers := separate(got[conn])
		for i := range max(len(wantOthers), len(gotOthers)) {
			if at(wantOthers, i) != at(gotOthers, i) {
				return fmt.Sprintf("%s, frame %d:\nwant %s\ngot  %s", conn, i, at(wantOthers, i), at(gotOthers, i))
			}
		}
		if at(wantSyncs, len(wantSyncs)-1) != at(gotSyncs, len(gotSyncs)-1) {
			return fmt.Sprintf("%s, the last list:\nwant %s\ngot  %s", conn, at(wantSyncs, len(wantSyncs)-1), at(gotSyncs, len(gotSyncs)-1))
		}
		rest := wantSyncs
		for _, sync := range gotSyncs {
			i := slices.Index(rest, sync)
			if i < 0 {
				return fmt.Sprintf("%s, a list that the reference does not send:\n%s", conn, sync)
			}
			rest = rest[i+1:]
		}
	}
	return ""
}

func at(lines []string, i int) string {
	if i < 0 || i >= len(lines) {
		return "nothing"
	}
	return lines[i]
}

func separate(lines []string) (syncs, others []string) {
	for _, line := range lines {
		// A peer's own event of that type has no metadata of the server's.
		if strings.HasPrefix(line, "registry:modules:sync ") && strings.HasSuffix(line, ourSource) {
			syncs = append(syncs, line)
		} else {
			others = append(others, line)
		}
	}
	return syncs, others
}

// answeredAt is the time that the recorded server had when it answered the heartbeat that
// comes first; zero for anything else.
func answeredAt(t *testing.T, rows []row) (at time.Time) {
	t.Helper()
	if !strings.Contains(*rows[0].Text, `"kind":"ping"`) {
		return at
	}
	for _, row := range rows {
		if row.Dir != "server->client" || row.Conn != rows[0].Conn || row.Text == nil || !strings.Contains(*row.Text, `"kind":"pong"`) {
			continue
		}
		var f struct {
			JSON struct{ Data struct{ At int64 } }
		}
		require.NoError(t, json.Unmarshal([]byte(*row.Text), &f))
		return time.UnixMilli(f.JSON.Data.At)
	}
	return at
}

// row is what was recorded: a frame, or what a connection did.
type row struct {
	Conn, Dir, Event string
	Text             *string
	Base64           string
	Seq              int
}

func readRows(t *testing.T, name string) (rows []row) {
	t.Helper()
	for _, file := range []string{name + ".ndjson", name + ".control.ndjson"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		require.NoError(t, err)
		for line := range bytes.Lines(data) {
			var r row
			require.NoError(t, json.Unmarshal(line, &r))
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.Seq - b.Seq })
	return rows
}

// recorded are the options of the server that was recorded.
type recorded struct {
	Server, Mode string
	Heartbeat    heartbeatOptions
	Options      struct {
		Auth      struct{ Token string }
		Heartbeat heartbeatOptions
		Routing   struct {
			Policy struct{ DenyPlugins, DenyExtensions, AllowLabels []string }
		}
	}
}

type heartbeatOptions struct {
	ReadTimeout int
	Message     string
}

func readOptions(t *testing.T, name string) (o Options) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".meta.json"))
	require.NoError(t, err)
	var r recorded
	require.NoError(t, json.Unmarshal(data, &r))
	o.Instance = "lab-server"
	o.Version = map[string]string{"head": "0.11.3", "v0102": "0.10.2"}[r.Server]
	o.Pong = r.Options.Heartbeat.Message
	o.Beat = time.Duration(r.Heartbeat.ReadTimeout) * time.Millisecond
	o.Policy.DenyPlugins = append(r.Options.Routing.Policy.DenyPlugins, r.Options.Routing.Policy.DenyExtensions...)
	o.Policy.AllowLabels = r.Options.Routing.Policy.AllowLabels
	if r.Options.Auth.Token != "" || r.Mode == "auth" {
		o.Verify = func(token string) (string, bool) { return "lab", token == "secret-token" }
	}
	return o
}

func asItIs(frame string) string { return frame }

// wrapped is the other form of a frame, where it has one.
func wrapped(frame string) string {
	if f, err := Decode([]byte(frame)); err != nil || f.Event.Wrapped || f.Control != "" {
		return frame
	}
	return `{"json":` + frame + `,"meta":{"values":{"data.nothing":["undefined"]},"v":1}}`
}

func TestServer_bothFormsOfAFrameAreOne(t *testing.T) {
	for _, name := range recordings(t) {
		_, plain := replay(t, name, asItIs)
		_, other := replay(t, name, wrapped)
		require.Equal(t, plain, other, name)
	}
}

// replay says to a server what the recorded clients said, in a form, and returns by
// connection what the recorded server answered, and what this one does.
func replay(t *testing.T, name string, form func(string) string) (want, got map[string][]string) {
	t.Helper()
	rows := readRows(t, name)
	r := newRig(t, readOptions(t, name))
	want = map[string][]string{}
	if strings.HasSuffix(name, "-crash-noauth") { // by a client that was not recorded
		r.open("b")
		if strings.HasPrefix(name, "head") {
			r.say("b", `{"type":"extension:module:announce","data":{"name":"b","identity":{"id":"b","extension":{"id":"pb"}},"possibleEvents":[]}}`)
		} else {
			r.say("b", `{"type":"module:announce","data":{"name":"b","identity":{"kind":"plugin","plugin":{"id":"pb"},"id":"b"},"possibleEvents":[]}}`)
		}
		clear(r.told)
	}
	for i, row := range rows {
		switch {
		case row.Text != nil && row.Dir == "server->client":
			want[row.Conn] = append(want[row.Conn], frameLine(t, []byte(*row.Text)))
		case row.Text != nil:
			r.until(answeredAt(t, rows[i:]))
			r.say(row.Conn, form(*row.Text))
		case row.Event == "binary-frame": // was not recorded, but its way on was
			r.say(row.Conn, form(*rows[i+1].Text))
		case row.Event == "open":
			r.open(row.Conn)
			r.wait(time.Millisecond)
		case row.Event == "close" && strings.HasSuffix(name, "-dispose"):
			r.step(Shut{})
		case row.Event == "close" && strings.HasSuffix(name, "-health"): // by the server
			want[row.Conn] = append(want[row.Conn], "CLOSE 1005 heartbeat expired")
		case row.Event == "close" && row.Dir != "server->client":
			r.end(row.Conn)
		}
	}
	delete(r.told, "b") // hears what others say in crash-noauth, and was not recorded
	return want, r.told
}
