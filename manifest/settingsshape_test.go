package manifest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
)

// settingsContract is the published schema, to check settings against.
func settingsContract(t testing.TB) *capability.Schema {
	t.Helper()
	s, err := capability.CompileSchema(SettingsSchema())
	require.NoError(t, err)
	require.Empty(t, s.Unchecked())
	return s
}

// settingsNode is the part of a schema that a shape has to agree with.
type settingsNode struct {
	Additional json.RawMessage         `json:"additionalProperties"`
	Properties map[string]settingsNode `json:"properties"`
	Required   []string                `json:"required"`
	Defs       map[string]settingsNode `json:"$defs"`
	Minimum    int64                   `json:"minimum"`
	Maximum    int64                   `json:"maximum"`
}

func settingsNodes(t *testing.T) settingsNode {
	t.Helper()
	var root settingsNode
	require.NoError(t, json.Unmarshal(SettingsSchema(), &root))
	return root
}

// wantShape compares a shape of the reader with its object in the schema.
func wantShape[T any](t *testing.T, s shape[T], n settingsNode) {
	t.Helper()
	require.ElementsMatch(t, s.names(), slices.Collect(maps.Keys(n.Properties)))
	var required []string
	for _, f := range s.fields {
		if f.required != "" {
			required = append(required, f.name)
		}
	}
	require.ElementsMatch(t, required, n.Required)
	require.Equal(t, "false", string(n.Additional))
}

func TestSettingsSchema_hasTheReadersNames(t *testing.T) {
	root := settingsNodes(t)
	wantShape(t, settingsShape, root)
	wantShape(t, secretShape, root.Defs["secret"])
	wantShape(t, grantsShape, root.Defs["grants"])
	wantShape(t, auditShape, root.Defs["audit"])
	wantShape(t, httpShape, root.Defs["http"])
	wantShape(t, pluginShape, root.Defs["plugin"])
	wantShape(t, companyShape, root.Defs["company"])
	wantShape(t, workerLimitsShape, root.Defs["workerLimits"])
	wantShape(t, restartShape, root.Defs["restart"])
	wantShape(t, hostLimitsShape, root.Defs["limits"])
	wantShape(t, hostTimeoutsShape, root.Defs["timeouts"])
	wantShape(t, listenShape, root.Defs["listen"])
	wantShape(t, tokenShape, root.Defs["token"])
	wantShape(t, tlsShape, root.Defs["tls"])
	wantShape(t, websocketShape, root.Defs["websocket"])
	wantShape(t, websocketPolicyShape, root.Defs["websocketPolicy"])
	wantShape(t, websocketLimitsShape, root.Defs["websocketLimits"])
	wantShape(t, logShape, root.Defs["log"])
	wantShape(t, logFilesShape, root.Defs["logs"])
	wantShape(t, runtimesShape, root.Defs["runtimes"])
	wantShape(t, declaredFolderShape, root.Defs["folder"])
	wantShape(t, companyFolderShape, root.Defs["companyFolder"])
	wantShape(t, stopShape, root.Defs["stop"])
	wantShape(t, workersShape, root.Defs["workers"])
	wantShape(t, manifestsShape, root.Defs["manifests"])
	wantShape(t, apiShape, root.Defs["api"])
	wantShape(t, stateShape, root.Defs["state"])
	wantShape(t, storeShape, root.Defs["store"])
	wantShape(t, jobsShape, root.Defs["jobs"])
	wantShape(t, folderLimitsShape, root.Defs["folders"])
	wantShape(t, servicesShape, root.Defs["services"])
	wantShape(t, queuesShape, root.Defs["queues"])
	wantShape(t, routesShape, root.Defs["routes"])
	wantShape(t, routeLogShape, root.Defs["routeLog"])
	wantShape(t, routeStreamsShape, root.Defs["routeStreams"])
	wantShape(t, routeSessionsShape, root.Defs["routeSessions"])
	wantShape(t, routeShape, root.Defs["route"])
}

func TestSettingsSchema_hasTheReadersLimits(t *testing.T) {
	defs := settingsNodes(t).Defs
	require.EqualValues(t, MaxFrameBytes, defs["http"].Properties["maxBody"].Maximum)
	require.EqualValues(t, MinMemoryBytes, defs["workerLimits"].Properties["memoryBytes"].Minimum)
	require.EqualValues(t, maxSafe, defs["workerLimits"].Properties["memoryBytes"].Maximum)
	require.EqualValues(t, MaxProcesses, defs["workerLimits"].Properties["processes"].Maximum)
	require.EqualValues(t, MaxGiveUp, defs["restart"].Properties["giveUp"].Maximum)
	limits := defs["limits"].Properties
	require.EqualValues(t, MaxFrameBytes, limits["frameBytes"].Maximum)
	require.EqualValues(t, MaxPendingCalls, limits["pendingCalls"].Maximum)
	require.EqualValues(t, MaxLogLines, limits["logLines"].Maximum)
	require.EqualValues(t, MaxFacts, limits["facts"].Maximum)
	require.EqualValues(t, MaxStreamItems, limits["streamItems"].Maximum)
	require.EqualValues(t, MaxFrameBytes, limits["streamBytes"].Maximum)
	require.EqualValues(t, MaxEvents, limits["events"].Maximum)
	require.EqualValues(t, MaxCallDepth, limits["callDepth"].Maximum)
	require.EqualValues(t, MaxFrameBytes, limits["eventBytes"].Maximum)
	require.EqualValues(t, MaxCount, limits["owedFrames"].Maximum)
	require.EqualValues(t, MaxFrameBytes, limits["owedBytes"].Maximum)
	require.EqualValues(t, MaxCount, limits["phaseRequests"].Maximum)
	peers := defs["websocket"].Properties
	require.EqualValues(t, MaxFrameBytes, peers["frameBytes"].Maximum)
	require.EqualValues(t, MaxFrameBytes, peers["earlyFrameBytes"].Maximum)
	require.EqualValues(t, MaxRouteDepth, defs["websocketLimits"].Properties["depth"].Maximum)
	logs := defs["logs"].Properties
	for _, name := range []string{"maxBytes", "total"} {
		require.EqualValues(t, MinLogBytes, logs[name].Minimum)
		require.EqualValues(t, MaxLogBytes, logs[name].Maximum)
	}
	require.EqualValues(t, MaxLogFiles, logs["files"].Maximum)
	require.EqualValues(t, 8760, MaxCPUTime/time.Hour)
	require.EqualValues(t, 87600, MaxAge/time.Hour)
	require.EqualValues(t, MaxCount, defs["count"].Maximum)
	require.EqualValues(t, MaxBytes, defs["bytes"].Maximum)
	require.EqualValues(t, MaxBytes, defs["store"].Properties["cacheBytes"].Maximum)
	require.EqualValues(t, int64(MaxStoredBytes), defs["storedBytes"].Maximum)
	require.EqualValues(t, MaxRedirects, defs["http"].Properties["redirects"].Maximum)
}

func TestSettingsSchema_isTheOneInTheDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "airi-host.schema.json"))
	require.NoError(t, err)
	require.Equal(t, string(SettingsSchema()), string(page), "copy manifest/settings.schema.json")
	SettingsSchema()[0] = 'x'
	require.True(t, json.Valid(SettingsSchema()), "it is the caller's own")
}

func TestSettingsSchema_takesWhatIsRight(t *testing.T) {
	require.NoError(t, settingsContract(t).Check(settingsFile(t, "whole.json")))
}

// Both the reader and the schema refuse each of these, and nothing else is wrong.
func TestSettings_refusedByReaderAndSchema(t *testing.T) {
	schema := settingsContract(t)
	for data, want := range map[string]string{
		`{"scope": ""}`:                                                       `scope: expected a string, a company's id, found ""`,
		`{"companies": "acme"}`:                                               `companies: expected an array of companies' ids, e.g. ["acme"], found "acme"`,
		`{"companies": ["a", "a"]}`:                                           `companies[1]: "a" is taken by companies[0]: change one of them`,
		`{"secrets": {"a": {"env": "A B"}}}`:                                  `secrets.a.env: expected the name of a variable, e.g. "API_KEY", found another string: the secret itself does not stand here`,
		`{"secrets": {"a": {"plugins": ["b"]}}}`:                              `secrets.a: expected {"env": "NAME"} or {"file": "/path"}, found neither`,
		`{"secrets": []}`:                                                     `secrets: expected an object of secrets, e.g. {"api": {"env": "API_KEY"}}, found an array`,
		`{"http": {"maxBody": 134217729}}`:                                    `http.maxBody: expected a whole number from 1 to 134217728, found a number, 134217729`,
		`{"http": null}`:                                                      `http: expected an object, found null`,
		`{"plugins": {"a ": {}}}`:                                             `plugins["a "]: expected a name without blanks around it, nor control characters: change it`,
		`{"plugins": {"a": {"limits": {"memoryBytes": 1.5}}}}`:                `plugins.a.limits.memoryBytes: expected a whole number of bytes, at least 1048576, found a number, 1.5`,
		`{"plugins": {"a": {"limits": {"cpuTime": 999}}}}`:                    `plugins.a.limits.cpuTime: expected a time from 1s to 8760h, as text ("90s") or in whole milliseconds (90000), found a number, 999`,
		`{"plugins": {"a": {"limits": {"cpuTime": 1e18}}}}`:                   `plugins.a.limits.cpuTime: expected a time from 1s to 8760h, as text ("90s") or in whole milliseconds (90000), found a number, 1e18`,
		`{"plugins": {"a": {"companies": {"b": {"conf": 1, "config": {}}}}}}`: `plugins.a.companies.b.conf: unknown field: did you mean "config"?`,
		`{"restart": {"jitter": "0.5"}}`:                                      `restart.jitter: expected a number from 0 to 1, found "0.5"`,
		`{"restart": {"jitter": 1.1}}`:                                        `restart.jitter: expected a number from 0 to 1, found a number, 1.1`,
		`{"listen": {"address": 6121}}`:                                       `listen.address: expected an address and a port, e.g. "127.0.0.1:6121", or "off", found a number, 6121`,
		`{"listen": {"token": "0123456789abcdef"}}`:                           `listen.token: expected an object, found a string: ` + whereSecrets,
		`{"listen": {"token": {"env": "A", "plugins": ["a"]}}}`:               `listen.token.plugins: unknown field: remove it (known are env, file)`,
		`{"listen": {"token": {}}}`:                                           `listen.token: expected {"env": "NAME"} or {"file": "/path"}, found neither`,
		`{"log": {"level": "loud"}}`:                                          `log.level: expected one of "debug", "info", "warn", "error", found "loud"`,
		`{"runtimes": {"node": "node"}}`:                                      `runtimes.node: expected the absolute path of Node.js, e.g. "/usr/local/bin/node", found "node"`,
		`{"plugins": {"a": {"folders": {"f": {}}}}}`:                          `plugins.a.folders.f: expected a path, or companies with one each, found neither`,
		`{"plugins": {"a": {"folders": {"f": {"path": "notes"}}}}}`:           `plugins.a.folders.f.path: expected the absolute path of a directory, e.g. "/srv/notes", found "notes"`,
		`{"plugins": {"a": {"folders": {"f": {"companies": {"b": {}}}}}}}`:    `plugins.a.folders.f.companies.b.path: is missing: expected the absolute path of a directory, e.g. "/srv/notes"`,
		`{"http": {"redirects": -1}}`:                                         `http.redirects: expected a whole number from 0 to 100, found a number, -1`,
		`{"store": {"maxBytes": 1099511627777}}`:                              `store.maxBytes: expected a whole number from 1 to 1099511627776, found a number, 1099511627777`,
		`{"store": {"cacheBytes": -1}}`:                                       `store.cacheBytes: expected a whole number from 0 to 1073741824, found a number, -1`,
		`{"store": {"runAge": "soon"}}`:                                       `store.runAge: expected a time from 1s to 87600h, as text ("90s") or in whole milliseconds (90000), found "soon"`,
		`{"store": {"auditAge": 999}}`:                                        `store.auditAge: expected a time from 1s to 87600h, as text ("90s") or in whole milliseconds (90000), found a number, 999`,
		`{"api": {"requests": 1000001}}`:                                      `api.requests: expected a whole number from 1 to 1000000, found a number, 1000001`,
		`{"logs": {"files": 101}}`:                                            `logs.files: expected a whole number from 1 to 100, found a number, 101`,
		`{"logs": {"dir": ""}}`:                                               `logs.dir: expected the absolute path of a directory, e.g. "/var/log/airi-host", found ""`,
		`{"drain": "soon"}`:                                                   `drain: expected a time above 0 and up to 1h, as text ("5s") or in whole milliseconds (5000), found "soon"`,
	} {
		t.Run(data, func(t *testing.T) {
			wantSettingsProblems(t, data, want)
			require.Error(t, schema.Check(json.RawMessage(data)))
		})
	}
}

func TestSettings_theLongestAndTheShortest(t *testing.T) {
	s := wantSettings(t, `{"plugins": {"a": {"limits": {"cpuTime": "8760h", "memoryBytes": 1048576}}, "b": {"limits": {"cpuTime": 1000}}},
		"restart": {"base": "5s", "max": "5s", "jitter": 1, "giveUp": 1}, "http": {"maxBody": 1}}`)
	require.Equal(t, MaxCPUTime, s.Plugins["a"].Limits.CPUTime)
	require.Equal(t, time.Second, s.Plugins["b"].Limits.CPUTime)
	require.InDelta(t, 1, *s.Restart.Jitter, 0)
}
