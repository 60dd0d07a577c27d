package airihost_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/airi-host/airi-host"

// arrow says which of our folders the code of one folder may import. It holds
// for all that lies below the folder, unless an arrow of its own begins there;
// within one arrow's reach imports are free.
type arrow struct {
	from string
	to   []string
	// tests is what the folder's tests may import as well.
	tests []string
	// pure code starts no goroutine and does no I/O.
	pure bool
	// timeless code is told the time, and sets no timer.
	timeless bool
	// program marks commands, which wire the rest: the linter leaves them alone.
	program bool
	// planned marks a folder that does not exist yet.
	planned bool
	// why is the answer to whoever wants the import. It stands in .golangci.yml too.
	why string
}

const whyDialect = "a dialect knows its own wire and the language of the host; what two dialects share belongs to protocol"

// needed is what every folder's tests may import.
const needed = "internal/need"

var (
	dialects = []string{"protocol/airi", "protocol/paperclip", "protocol/eliza"}
	// dialectTests is what they share with each other's tests.
	dialectTests = []string{"protocol/protocoltest"}

	arrows = []arrow{
		{
			from: "lifecycle", pure: true, timeless: true,
			why: "lifecycle holds tables that anybody may read, so it knows nobody",
		},
		{
			from: "protocol", pure: true, timeless: true,
			why: "protocol is the language between host and plugin, so it knows neither, and no dialect",
		},
		{
			from: "protocol/airi", pure: true, timeless: true,
			to:    []string{"protocol"},
			tests: dialectTests,
			why:   whyDialect,
		},
		{
			from:  "protocol/airi/bridge",
			tests: []string{"peers", "protocol", "protocol/airi", "transport"},
			why:   "the bridge is a worker's files and how to start them; what it says is read by protocol/airi",
		},
		{
			from: "protocol/airi/superjson", pure: true, timeless: true,
			to:  []string{"protocol"},
			why: "superjson is how values are written, whoever writes them; what they mean is read by who asks for them",
		},
		{
			from: "protocol/airi/server", pure: true, timeless: true,
			to:  []string{"protocol", "protocol/airi/superjson"},
			why: "AIRI's websocket server decides what peers are told; it knows its wire, its frames and the language of the host, and no module behind the bridge",
		},
		{
			from: "protocol/airi/client", pure: true, timeless: true,
			to:    []string{"protocol", "protocol/airi", "protocol/airi/superjson"},
			tests: []string{"protocol/airi/server"},
			why:   "a module's end of AIRI's websocket protocol decides what the module says; it knows its wire and Eventa, and no connection",
		},
		{
			from: "protocol/paperclip", pure: true, timeless: true,
			to:    []string{"protocol"},
			tests: dialectTests,
			why:   whyDialect,
		},
		{
			from: "protocol/eliza", pure: true, timeless: true,
			to:    []string{"protocol"},
			tests: dialectTests,
			why:   whyDialect,
		},
		{
			from: "protocol/protocoltest",
			to:   []string{"protocol"},
			why:  "what the tests of dialects share reads recordings and knows no dialect",
		},
		{
			from: "transport",
			why:  "a transport moves records without knowing what they mean; it meets a dialect in actors and in the SDK",
		},
		{
			from: "internal/logtest",
			why:  "a log that tests read is the same for everybody, so it knows nobody",
		},
		{
			from: "internal/regular",
			why:  "how a file is read that somebody names is the same for everybody, so it knows nobody",
		},
		{
			from:  "watch",
			tests: []string{"internal/logtest"},
			why:   "who watches files tells that they have changed; what is reloaded then, and what to say of it, is cmd's",
		},
		{
			from: "capability", pure: true,
			to:  []string{"lifecycle"},
			why: "the registry is a plain structure over states; who publishes and who asks is not its business",
		},
		{
			from: "manifest/evaluate",
			to:   []string{"transport"},
			why:  "an evaluator runs a module as a worker is run and hands over what it says; what that means is read by manifest",
		},
		{
			from:  "manifest",
			to:    []string{"capability", "internal/regular"},
			tests: []string{"manifest/evaluate"},
			why:   "a manifest is read before anything runs, so it names capabilities and nothing that lives",
		},
		{
			from:  "services",
			to:    []string{"protocol", "capability", "internal/regular"},
			tests: []string{"internal/logtest"},
			why:   "a service answers calls; what it pushes to a plugin goes through an interface of protocol that cmd wires",
		},
		{
			from:  "actors",
			to:    []string{"lifecycle", "capability", "manifest", "protocol", "transport"},
			tests: append([]string{"plugin", "testdata/plugins", "protocol/airi/bridge", "internal/logtest"}, dialects...),
			why:   "what lives is the same for every ecosystem; dialects, services and compiled-in plugins are handed to it",
		},
		{
			from: "ecosystems",
			to: append([]string{
				"actors", "manifest", "manifest/evaluate", "protocol", "protocol/airi/bridge", "services", "transport",
			}, dialects...),
			tests: []string{"testdata/plugins"},
			why:   "who embeds a host gets all ecosystems at once; what this host alone decides stays with cmd",
		},
		{
			from: "plugin",
			to:   append([]string{"protocol", "transport/ndjson"}, dialects...),
			why:  "an author's plugin must not link the host, nor a websocket that it does not use",
		},
		{
			from: "plugin/plugintest",
			to:   []string{"plugin", "protocol"},
			why:  "an author's test sees a plugin as a host does, and runs without one",
		},
		{
			from:  "plugin/ws",
			to:    append([]string{"plugin", "protocol", "protocol/airi/client", "transport", "transport/ndjson", "transport/websocket"}, dialects...),
			tests: []string{"actors", "gateway", "lifecycle", "manifest", "protocol/airi/server"},
			why:   "the SDK over a websocket is the SDK and one more transport, and still not the host",
		},
		{
			from: "gateway",
			to: []string{
				"actors", "capability", "lifecycle", "manifest", "protocol", "protocol/airi", "protocol/airi/server", "transport", "transport/websocket",
			},
			tests: []string{"plugin", "actors/configuration", "internal/logtest"},
			why:   "it brings one ecosystem's peers to the host, and knows that ecosystem, a transport, and what everybody may ask of the host",
		},
		{
			from:  "admin",
			to:    []string{"actors", "gateway", "lifecycle", "capability", "protocol", "transport"},
			tests: []string{"manifest", "plugin", "protocol/airi"},
			why:   "the control API shows what lives, websocket peers among it, and asks for changes; it has no way around the host",
		},
		{
			from:  "testdata/plugins",
			to:    []string{"plugin", "plugin/ws", "protocol"},
			tests: []string{"plugin/plugintest"},
			why:   "these plugins are written as an author outside would write them, on the SDK alone",
		},
		{
			from:  "testdata/workers",
			to:    []string{"plugin", "protocol"},
			tests: []string{"protocol/paperclip", "transport"},
			why:   "a worker of the tests is written on the SDK alone; its tests hold the host's end of its wire",
		},
		{
			from: "internal/need",
			why:  "what a test needs of the machine is no matter of the host's, so it knows nobody",
		},
		{
			from: "peers",
			to:   []string{needed},
			tests: append([]string{
				"actors", "admin", "capability", "ecosystems", "gateway", "lifecycle", "manifest", "manifest/evaluate", "plugin", "plugin/ws", "protocol",
				"protocol/airi/bridge", "protocol/airi/server", "protocol/airi/superjson", "services", "testdata/plugins", "testdata/workers", "transport",
			}, dialects...),
			why: "the real peers know nothing of this host; tests put them together",
		},
		{
			from: "peers/bench", program: true,
			to: append([]string{
				"actors", "ecosystems", "lifecycle", "manifest", "manifest/evaluate", "peers", "plugin", "protocol", "protocol/airi/bridge", "services", "transport",
			}, dialects...),
			why: "the comparison runs this host beside the real ones; nothing imports it",
		},
		{
			from: "peers/soak", program: true,
			to: []string{
				"actors", "lifecycle", "manifest", "manifest/evaluate", "peers", "protocol", "protocol/paperclip", "services", "transport",
			},
			why: "the soak tortures real workers under this host; nothing imports it",
		},
		{
			from: "examples", program: true,
			to: append([]string{
				"actors", "capability", "ecosystems", "lifecycle", "manifest", "manifest/evaluate", "plugin", "plugin/ws", "protocol",
				"protocol/airi/bridge", "transport", "testdata/plugins",
			}, dialects...),
			tests: []string{"peers"},
			why:   "an example shows what a program outside could write; nothing imports it",
		},
		{
			from: "cmd/airi-host", program: true,
			to: append([]string{
				"actors", "admin", "capability", "ecosystems", "gateway", "internal/regular", "lifecycle", "manifest", "manifest/evaluate",
				"plugin", "protocol", "protocol/airi/bridge", "protocol/airi/server", "services", "transport", "watch",
				"testdata/plugins", // the one that is compiled in
			}, dialects...),
			tests: []string{"internal/logtest"},
			why:   "the command line wires the rest; nothing imports it",
		},
	}
)

// users are the libraries that one folder alone may import.
var users = []struct {
	library, folder string
	// tests may import it everywhere.
	tests bool
	why   string
}{
	{
		library: "github.com/asynkron/protoactor-go", folder: "actors",
		why: "its mailboxes, timers and futures have traps that the wrapper in actors knows",
	},
	{
		library: "github.com/looplab/fsm", folder: "lifecycle",
		why: "a cancelled context wedges it and a misspelt callback is ignored; lifecycle.Machine hides both",
	},
	{
		library: "github.com/tidwall/btree", folder: "capability",
		why: "the registry's snapshots, which share what did not change, are its only use",
	},
	{
		library: "github.com/santhosh-tekuri/jsonschema", folder: "capability",
		why: "its checks have no bound of their own; capability.Schema puts one to them",
	},
	{
		library: "modernc.org/sqlite", folder: "services/store",
		why: "one connection writes and its statements are closed by hand; services/store knows that and maps its errors",
	},
	{
		library: "github.com/prometheus", folder: "admin",
		why: "metrics are one registry of admin's own; what is counted elsewhere is told by a function",
	},
	{
		library: "go.opentelemetry.io", folder: "services/otlp",
		why: "its SDK has global state and reads the environment; services/otlp gives it all that it needs",
	},
	{
		library: "github.com/gobwas/ws", folder: "transport/websocket",
		why: "it frames and no more; transport/websocket bounds what comes, and who may come",
	},
	{
		library: "github.com/robfig/cron", folder: "services/jobs",
		why: "it knows more than Paperclip's schedules have and takes days otherwise; services/jobs holds it to those",
	},
	{
		library: "github.com/fsnotify/fsnotify", folder: "watch",
		why: "it watches single directories and loses them when they are replaced; watch knows how trees are followed",
	},
	{
		library: "github.com/spf13", folder: "cmd/airi-host",
		why: "flags and subcommands belong to the command line; everything else takes options",
	},
	{
		library: "charm.land/bubbletea", folder: "cmd/airi-host",
		why: "the live view is what run shows of a host; nobody else paints a terminal",
	},
	{
		library: "github.com/lmittmann/tint", folder: "cmd/airi-host",
		why: "how a log looks is decided where the logger is made, in cmd/airi-host",
	},
	{
		library: "github.com/stretchr/testify", folder: "transport/transporttest", tests: true,
		why: "what only tests need is not linked into the host",
	},
	{
		library: "github.com/rogpeppe/go-internal", folder: "transport/transporttest", tests: true,
		why: "what only tests need is not linked into the host",
	},
	{
		library: "github.com/charmbracelet/x/vt", folder: "transport/transporttest", tests: true,
		why: "what only tests need is not linked into the host",
	},
	{
		library: "github.com/creack/pty", folder: "testdata/workers", tests: true,
		why: "terminals are opened by a worker of the tests, and by tests, and not by the host",
	},
	{
		library: "go.uber.org/goleak", folder: "transport/transporttest", tests: true,
		why: "what only tests need is not linked into the host",
	},
}

func TestArrows_nameFoldersThatExist(t *testing.T) {
	for _, a := range arrows {
		_, err := os.Stat(filepath.FromSlash(a.from))
		if a.planned {
			require.ErrorIs(t, err, fs.ErrNotExist,
				"%s is there: strike its planned mark in the arrows of arch_test.go", a.from)
			continue
		}
		require.NoError(t, err, "the arrows of arch_test.go name a folder that is not there")
		for _, to := range slices.Concat(a.to, a.tests) {
			require.NotEmpty(t, arrowOf(to).from, "%s may import %s, which has no arrow of its own", a.from, to)
		}
	}
}

func TestArrows_pointTheRightWay(t *testing.T) {
	for _, s := range sources(t) {
		if s.folder == "." {
			continue
		}
		a := arrowOf(s.folder)
		require.NotEmpty(t, a.from,
			"%s: no arrow begins at this folder: add one to arch_test.go, .golangci.yml and docs/architecture.md", s.path)
		for _, imported := range s.imports() {
			folder, ours := strings.CutPrefix(imported, module+"/")
			if ours && !a.allows(folder, s.test) {
				t.Errorf("%s imports %s: %s", s.path, folder, a.why)
			}
		}
	}
}

func TestArrows_standInTheLinterToo(t *testing.T) {
	config := read(t, ".golangci.yml")
	for _, a := range arrows {
		if a.program {
			continue
		}
		require.Contains(t, config, "${base-path}/"+a.from+"/", "the linter does not hold the arrows of %s", a.from)
		require.Contains(t, config, "desc: "+a.why+"\n", "the linter gives another reason for %s", a.from)
	}
	for _, u := range users {
		require.Contains(t, config, "pkg: "+u.library+"\n", "the linter lets everybody import %s", u.library)
		require.Contains(t, config, "desc: "+u.why+"\n", "the linter gives another reason for %s", u.library)
	}
}

func TestArrow_allows(t *testing.T) {
	for _, c := range []struct {
		from, to string
		test     bool
		want     bool
	}{
		{from: "actors", to: "protocol", want: true},
		{from: "actors", to: "transport/process", want: true},
		{from: "actors", to: "protocol/airi"},
		{from: "actors", to: "protocol/airi", test: true, want: true},
		{from: "actors", to: "services", test: true},
		{from: "actors", to: needed, test: true, want: true},
		{from: "actors", to: needed},
		{from: "protocol", to: "protocol/airi"},
		{from: "protocol/airi", to: "protocol", want: true},
		{from: "protocol/airi", to: "protocol/eliza"},
		{from: "plugin", to: "transport/ndjson", want: true},
		{from: "plugin", to: "transport"},
		{from: "plugin", to: "actors", test: true},
		{from: "transport", to: "transport/ndjson", want: true},
		{from: "transport", to: "protocol"},
	} {
		require.Equal(t, c.want, arrowOf(c.from).allows(c.to, c.test), "%s to %s, test: %v", c.from, c.to, c.test)
	}
}

func TestLibraries_haveOneUser(t *testing.T) {
	for _, s := range sources(t) {
		for _, imported := range s.imports() {
			for _, u := range users {
				if !within(imported, u.library) || within(s.folder, u.folder) || (s.test && u.tests) {
					continue
				}
				t.Errorf("%s imports %s: %s", s.path, imported, u.why)
			}
		}
	}
}

// arrowOf returns the arrow that holds for a folder; its from is "" if none does.
func arrowOf(folder string) arrow {
	var best arrow
	for _, a := range arrows {
		if within(folder, a.from) && len(a.from) > len(best.from) {
			best = a
		}
	}
	return best
}

// allows tells whether the folder may be imported from where the arrow begins.
func (a arrow) allows(folder string, test bool) bool {
	reach := arrowOf(folder).from
	if reach == a.from {
		return true
	}
	// A right to import protocol is none to import protocol/airi, which has an
	// arrow of its own.
	covers := func(to string) bool { return within(folder, to) && arrowOf(to).from == reach }
	return slices.ContainsFunc(a.to, covers) || (test && (folder == needed || slices.ContainsFunc(a.tests, covers)))
}

// within tells whether a slash-separated name is root or lies below it.
func within(name, root string) bool {
	return name == root || strings.HasPrefix(name, root+"/")
}
