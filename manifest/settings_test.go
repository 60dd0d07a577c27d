package manifest

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
)

var updateSettings = flag.Bool("update", false, "write what is wrong with the settings in testdata anew")

// settingsFile returns a file of testdata/settings.
func settingsFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "settings", name))
	require.NoError(t, err)
	return data
}

// wantSettings reads settings that are right.
func wantSettings(t *testing.T, data string) *Settings {
	t.Helper()
	s, problems := ParseSettings("airi-host.json", []byte(data), SettingsOptions{})
	require.Empty(t, problems)
	return s
}

// wantSettingsProblems checks what is said of settings that are wrong.
func wantSettingsProblems(t *testing.T, data string, want ...string) {
	t.Helper()
	s, problems := ParseSettings("airi-host.json", []byte(data), SettingsOptions{})
	require.Nil(t, s)
	require.Equal(t, want, withoutFile(problems))
}

func TestParseSettings_wholeFile(t *testing.T) {
	require.Equal(t, &Settings{
		Scope:     "acme",
		Companies: []string{"acme", "globex"},
		Secrets: map[string]Secret{
			"api":                                  {Env: "API_KEY"},
			"77777777-7777-4777-8777-777777777777": {File: "/run/secrets/token", Plugins: []string{"hello"}, Companies: []string{"acme"}},
		},
		HTTP: HTTPSettings{
			Allow:   []string{"10.0.0.0/8", "127.0.0.1:8080", "intern.example:443"},
			MaxBody: 1 << 20, Timeout: 10 * time.Second, DNSTimeout: time.Second, Redirects: new(0), AtOnce: 3,
		},
		Plugins: map[string]PluginSettings{
			"hello": {
				Config:    json.RawMessage(`{"greeting": "Hello", "deep": [1, {"a": 9007199254740993}]}`),
				Companies: map[string]json.RawMessage{"globex": json.RawMessage(`{"greeting": "Hey"}`)},
				Grants:    []string{"events.subscribe", "http.outbound"},
				Limits:    WorkerLimits{MemoryBytes: 512 << 20, Processes: 64, CPUTime: 2 * time.Hour},
				Folders: map[string]Folder{
					"notes": {Path: "/srv/notes", ReadOnly: true, Companies: map[string]CompanyFolder{"acme": {Path: "/srv/acme"}}},
				},
				Sign: true,
			},
			"@acme/quiet": {Grants: []string{}, Limits: WorkerLimits{CPUTime: 90 * time.Second}},
		},
		Restart: RestartSettings{
			Base: 2 * time.Second, Max: 10 * time.Minute, Stable: 30 * time.Second, Jitter: new(0.0), GiveUp: 5,
		},
		Limits: HostLimits{Limits: Limits{FrameBytes: 1 << 20, PendingCalls: 10, LogLines: 20}, Facts: 30, StreamItems: 40, StreamBytes: 50, Events: 60, EventBytes: 70, OwedFrames: 80, OwedBytes: 90, PhaseRequests: 95},
		Timeouts: HostTimeouts{Timeouts: Timeouts{
			Load: time.Second, Init: 2 * time.Second, Setup: 3 * time.Second,
			Stop: 4 * time.Second, Call: 5 * time.Second, Capabilities: 6 * time.Second,
		}, Drain: 7 * time.Second},
		StartLimit: time.Minute, Drain: 20 * time.Second,
		Listen: ListenSettings{
			Address: "0.0.0.0:6121", Token: TokenSource{Env: "TOKEN"}, Origins: []string{"http://localhost:5173"}, Remote: true,
		},
		Log: LogSettings{Level: "warn", Format: "json"}, Runtimes: RuntimeSettings{Node: "/opt/node/bin/node"},
		Stop: StopSettings{CloseInput: time.Second, Term: 2 * time.Second, Kill: 3 * time.Second},
		Workers: WorkerSettings{
			QueueFrames: 1, QueueBytes: 2, ExitGrace: time.Second, DrainIdle: 2 * time.Second, DrainMost: 3 * time.Second, Cgroup: "/sys/fs/cgroup/a",
		},
		Manifests: ReadingSettings{Evaluation: time.Second, FileBytes: 2, Entries: 3},
		API: APISettings{
			Requests: 1, Followers: 2, Connections: 3, FollowLines: 4, FollowBytes: 5, LogBytes: 8, History: 6, BodyBytes: 7, Command: time.Second,
		},
		State: StateSettings{Keys: 1, Bytes: 2, ValueBytes: 3},
		Store: StoreSettings{
			CacheBytes: new(0), MaxBytes: 1 << 40, QueueWrites: 1, QueueBytes: 2, BatchWrites: 3, Busy: time.Second, Readers: 4, Unsynced: true,
			History: 5, ConfigurationBytes: 6, Grants: 7, Subscriptions: 8, Runs: 9, RunAge: 720 * time.Hour,
			Audit: 10, AuditAge: MaxAge, AuditBytes: 11, Entities: 12, EntityBytes: 13, EntityAnswer: 14,
		},
		Jobs:     JobSettings{SkipMissed: true, Limit: time.Minute, AtOnce: 1, PerPlugin: 3, Jobs: 2, Drain: time.Second},
		Folders:  FolderLimits{FileBytes: 1, Files: 2, Bytes: 3, AtOnce: 4},
		Services: ServiceSettings{Activities: 1, Secrets: 2, Series: 3, States: 4, ProviderTimeout: time.Second, StateTimeout: 2 * time.Second, StateBytes: 5},
		Queues:   QueueSettings{Events: 1, Frames: 2, LogLines: 3, Bytes: 4},
		Logs:     LogFileSettings{Dir: "/var/log/airi-host", MaxBytes: 64 << 10, Files: 2, Total: 1 << 20},
	}, wantSettings(t, string(settingsFile(t, "whole.json"))))
}

func TestParseSettings_absentIsZero(t *testing.T) {
	require.Equal(t, &Settings{}, wantSettings(t, `{}`))
	require.Equal(t, &Settings{}, wantSettings(t, "\ufeff{}"))
	require.Nil(t, wantSettings(t, `{"plugins": {"a": {}}}`).Plugins["a"].Grants)
}

// What is said of wrong.json stands beside it; `go test ./manifest -run AllThatIsWrong -update`
// writes it.
func TestParseSettings_saysAllThatIsWrong(t *testing.T) {
	s, problems := ParseSettings("airi-host.json", settingsFile(t, "wrong.json"), SettingsOptions{})
	require.Nil(t, s)
	var lines strings.Builder
	for _, p := range problems {
		lines.WriteString(p.String() + "\n")
	}
	require.NotContains(t, lines.String(), "hunter2", "a secret is shown")
	golden := filepath.Join("testdata", "settings", "wrong.txt")
	if *updateSettings {
		require.NoError(t, os.WriteFile(golden, []byte(lines.String()), 0o600))
	}
	require.Equal(t, string(settingsFile(t, "wrong.txt")), lines.String())
}

func TestParseSettings_saysWhatIsNotJSON(t *testing.T) {
	wantSettingsProblems(t, "", "expected a JSON object, found an empty file")
	wantSettingsProblems(t, "[]", "expected an object, found an array")
	wantSettingsProblems(t, "{\n  \"scope\": }", "not valid JSON: invalid character '}' looking for beginning of value")
	wantSettingsProblems(t, "\xff\xfe{\x00}\x00", "expected UTF-8, found UTF-16 (little endian): save the file as UTF-8")
}

// Each problem is where an editor finds it, also in a file with a byte order mark.
func TestParseSettings_saysWhere(t *testing.T) {
	for data, want := range map[string]string{
		"{\n  \"scope\": }":                                      "f:2:12: not valid JSON: invalid character '}' looking for beginning of value",
		"{\"scope\": \"a\"":                                      "f:1:14: the JSON ends in the middle: a closing bracket or quote is missing",
		"\ufeff{\"é\": 1}":                                       "f:1:2: é: unknown field: remove it",
		"{\n \"limits\": {\n  \"facts\": 0}}":                    "f:3:3: limits.facts: expected a whole number from 1 to 65536, found a number, 0",
		"{\"drain\": 1,\n\"drain\": 2}":                          "f:2:1: drain: appears twice: keep one of them",
		"{\"plugins\": {\"a\": {\n\"companies\": {\"b\": {}}}}}": "f:2:15: plugins.a.companies.b.config: is missing: expected an object, the configuration for this company",
		"{\"companies\": [\"a\",\n  5]}":                         "f:2:3: companies[1]: expected a string, a company's id, found a number, 5",
		"{\n\"plugins\": {\"@a/b\": 5}}":                         "f:2:13: plugins[\"@a/b\"]: expected an object, found a number",
		"\n []":                                                  "f: expected an object, found an array",
		"":                                                       "f: expected a JSON object, found an empty file",
	} {
		_, problems := ParseSettings("f", []byte(data), SettingsOptions{})
		require.Len(t, problems, 1, data)
		require.True(t, strings.HasPrefix(problems[0].String(), want), "%s: %s", data, problems[0])
	}
}

func TestParseSettings_asksAboutAddresses(t *testing.T) {
	opts := SettingsOptions{CheckAddress: func(entry string) error {
		if entry == "a" {
			return nil
		}
		return errors.New("expected a")
	}}
	_, problems := ParseSettings("f", []byte(`{"http": {"allow": ["a", "b"]}}`), opts)
	require.Equal(t, []string{"http.allow[1]: expected a"}, withoutFile(problems))
	_, problems = ParseSettings("f", []byte(`{"http": {"allow": ["b", 5]}}`), opts)
	require.Equal(t, []string{`http.allow[1]: expected an address, e.g. "127.0.0.1:8080", found a number, 5`}, withoutFile(problems),
		"one thing after the other")
}

func TestPluginSettings_aCompanysOwnConfigStandsInPlace(t *testing.T) {
	p := wantSettings(t, string(settingsFile(t, "whole.json"))).Plugins["hello"]
	require.Equal(t, `{"greeting": "Hey"}`, string(p.ConfigFor("globex")))
	require.Equal(t, p.Config, p.ConfigFor("acme"))
	require.Equal(t, p.Config, p.ConfigFor(""))
	require.Nil(t, PluginSettings{}.ConfigFor("acme"))
}

func FuzzParseSettings(f *testing.F) {
	f.Add(settingsFile(f, "whole.json"))
	f.Add(settingsFile(f, "wrong.json"))
	f.Add([]byte(`{"restart": {"base": 1e3, "jitter": -0}, "plugins": {"": {}}, "secrets": {"\n": {"\n": ""}}}`))
	schema := settingsContract(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems := ParseSettings("airi-host.json", data, SettingsOptions{})
		require.Equal(t, s == nil, len(problems) > 0, "problems or settings, never both, never neither")
		for _, p := range problems {
			require.NotEmpty(t, p.Message)
			require.False(t, strings.ContainsFunc(p.String(), unicode.IsControl), "%q is more than one line", p)
		}
		if s != nil {
			require.NoError(t, schema.Check([]byte(strings.TrimPrefix(string(data), "\ufeff"))), "the schema refuses what is read")
		}
	})
}
