package manifest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
)

func TestHostFields_wholeObject(t *testing.T) {
	got := wantManifest(t, `{`+head+`, "name": "hello", "entrypoints": {}, "airi-host": {
		"requires": ["tool:greet", {"anyOf": ["model:TEXT_SMALL", "http:GET /hello"]}],
		"offers": ["action:GREET"],
		"command": ["worker", "--flag", ""],
		"configuration": {"required": true, "schema": {"type": "object", "x": [1, 2]}},
		"invoke": ["tool:*", "*"],
		"env": {"PLAIN": "a", "EMPTY": "", "ESCAPED": "$${HOME}"},
		"timeouts": {"load": "1s", "init": 2000, "setup": "3s", "stop": "4s", "call": "5s", "idle": "7s", "capabilities": "6s"},
		"limits": {"frameBytes": 134217728, "pendingCalls": 5, "logLines": 100000},
		"scope": "acme", "priority": -7}}`).Host

	require.Equal(t, HostFields{
		Requires: capability.Requirements{
			{AnyOf: []capability.Key{"tool:greet"}},
			{AnyOf: []capability.Key{"model:TEXT_SMALL", "http:GET /hello"}},
		},
		Offers:        []capability.Key{"action:GREET"},
		Command:       []string{"worker", "--flag", ""},
		Configuration: Configuration{Required: true, Schema: json.RawMessage(`{"type": "object", "x": [1, 2]}`)},
		Invoke:        []string{"tool:*", "*"},
		Env:           map[string]string{"PLAIN": "a", "EMPTY": "", "ESCAPED": "${HOME}"},
		Timeouts: Timeouts{
			Load: time.Second, Init: 2 * time.Second, Setup: 3 * time.Second,
			Stop: 4 * time.Second, Call: 5 * time.Second, Idle: 7 * time.Second, Capabilities: 6 * time.Second,
		},
		Limits:   Limits{FrameBytes: MaxFrameBytes, PendingCalls: 5, LogLines: MaxLogLines},
		Scope:    "acme",
		Priority: -7,
	}, got)
}

func TestHostFields_absentIsZero(t *testing.T) {
	require.Zero(t, wantManifest(t, hello).Host)
	require.Zero(t, wantHost(t, `{}`))
}

func TestHostFields_envIsResolved(t *testing.T) {
	dir := tree(t, map[string]string{"plugin.json": withHost(`{"env": {"TOKEN": "Bearer ${SECRET}", "B": "${NOPE}"}}`)})
	opts := Options{Lookup: lookupIn(map[string]string{"SECRET": "s3cret"})}
	_, problems := Read(dir+"/plugin.json", opts)
	require.Equal(t, []string{`airi-host.env.B: "NOPE" is not set in the host's environment: set it, or write $${ for ${ itself`}, withoutFile(problems))

	opts.Lookup = lookupIn(map[string]string{"SECRET": "s3cret", "NOPE": ""})
	m, problems := Read(dir+"/plugin.json", opts)
	require.Empty(t, problems)
	require.Equal(t, map[string]string{"TOKEN": "Bearer s3cret", "B": ""}, m.Host.Env)
}

func TestHostFields_envIsTheHostsUnlessToldOtherwise(t *testing.T) {
	t.Setenv("AIRI_HOST_MANIFEST_TEST", "here")
	dir := tree(t, map[string]string{"plugin.json": withHost(`{"env": {"A": "${AIRI_HOST_MANIFEST_TEST}"}}`)})
	m, problems := Read(dir+"/plugin.json", Options{})
	require.Empty(t, problems)
	require.Equal(t, "here", m.Host.Env["A"])
}

func TestHostFields_envIsBounded(t *testing.T) {
	// Eight times 128 KiB - 1, with the names, and one of 8 bytes are 1 MiB.
	env := func(rest string) string {
		var b strings.Builder
		for name := range strings.SplitSeq("A B C D E F G H", " ") {
			b.WriteString(`"` + name + `": "${LONG}", `)
		}
		return withHost(`{"env": {` + b.String() + rest + `}}`)
	}
	opts := Options{Lookup: lookupIn(map[string]string{"LONG": strings.Repeat("x", maxVariable-2)})}
	dir := tree(t, map[string]string{"good.json": env(`"I": "1234567"`), "long.json": env(`"I": "12345678"`)})
	_, problems := Read(dir+"/good.json", opts)
	require.Empty(t, problems)
	_, problems = Read(dir+"/long.json", opts)
	require.Equal(t, []string{"airi-host.env: expected at most 1048576 bytes in all: put what is long into a file and give the file's path"}, withoutFile(problems))
}

func TestHostFields_problems(t *testing.T) {
	const (
		aKey      = `expected a key, e.g. "tool:greet", found `
		blankKey  = `capability key " " is blank: expected "<kind>:<name>", e.g. "tool:greet"`
		emptyKey  = `a capability's key is empty: expected "<kind>:<name>", e.g. "tool:greet"`
		keys      = `expected an array of keys, e.g. ["tool:greet"], found `
		aCommand  = `airi-host.command: expected an array of strings, the program and its arguments, e.g. ["./worker", "--flag"], found `
		anInteger = `airi-host.priority: expected a whole number from -1000000 to 1000000, found `
	)
	for host, want := range map[string][]string{
		`5`:                           {`airi-host: expected an object, found a number, 5`},
		`{"requires": "tool:a"}`:      {`airi-host.requires: expected an array of keys, e.g. ["tool:greet", {"anyOf": ["a", "b"]}], found "tool:a"`},
		`{"requires": ["a", 5, " "]}`: {`airi-host.requires[1]: expected a key or {"anyOf": ["a", "b"]}, found a number, 5`, `airi-host.requires[2]: ` + blankKey},
		`{"requires": [{}, {"anyOf": []}, {"anyof": ["a"]}, {"anyOf": ["a", null], "b": 1}]}`: {
			`airi-host.requires[0].anyOf: is missing: expected an array of keys, e.g. ["a", "b"]`,
			`airi-host.requires[1].anyOf: expected at least one key, found none: remove the requirement or name one`,
			`airi-host.requires[2].anyof: unknown field: names are exact, write "anyOf"`,
			`airi-host.requires[3].anyOf[1]: ` + aKey + `null`,
			`airi-host.requires[3].b: unknown field: remove it (known are anyOf)`,
		},
		`{"offers": {}}`:                                   {`airi-host.offers: ` + keys + `an object`},
		`{"offers": ["", "a\nb"]}`:                         {`airi-host.offers[0]: ` + emptyKey, `airi-host.offers[1]: capability key "a\nb" has a control character: use printable text`},
		`{"offers": [" a"]}`:                               {`airi-host.offers[0]: expected a key, found " a": remove the blanks around it`},
		`{"offers": ["` + strings.Repeat("x", 513) + `"]}`: {`airi-host.offers[0]: capability key "` + strings.Repeat("x", 40) + `"… is 513 bytes long: at most 512 are allowed`},
		`{"command": "./worker"}`:                          {aCommand + `"./worker"`},
		`{"command": []}`:                                  {aCommand + `no program: name one or remove the command`},
		`{"command": ["", "a"]}`:                           {aCommand + `no program: name one or remove the command`},
		`{"command": ["a", 5, "b\u0000"]}`:                 {`airi-host.command[1]: expected a string, found a number, 5`, `airi-host.command[2]: expected a string without NUL, found "b\x00"`},
		`{"configuration": true}`:                          {`airi-host.configuration: expected an object, found a boolean, true`},
		`{"configuration": {"required": 1, "schema": true, "scheme": {}}}`: {
			`airi-host.configuration.required: expected true or false, found a number, 1`,
			`airi-host.configuration.schema: expected an object, a JSON Schema, found a boolean, true`,
			`airi-host.configuration.scheme: unknown field: did you mean "schema"?`,
		},
		`{"invoke": ["tool:*", 5, "tool:"]}`: {`airi-host.invoke[1]: ` + aKey + `a number, 5`, `airi-host.invoke[2]: capability key "tool:" has no name: expected one after "tool:"`},
		`{"env": ["A=b"]}`:                   {`airi-host.env: expected an object of strings, e.g. {"API_KEY": "${MY_API_KEY}"}, found an array`},
		`{"env": {"A": 5, "B": ""}}`:         {`airi-host.env.A: expected a string, found a number, 5`},
		`{"env": {"": "a", "A=B": "c", "C": "\u0000", "D": "${"}}`: {
			`airi-host.env[""]: expected a variable's name: it may not be empty nor hold "=" or NUL`,
			`airi-host.env["A=B"]: expected a variable's name: it may not be empty nor hold "=" or NUL`,
			`airi-host.env.C: expected a string without NUL, found "\x00"`,
			`airi-host.env.D: expected ${NAME}, found "${": write $${ for ${ itself`,
		},
		`{"timeouts": []}`:                 {`airi-host.timeouts: expected an object, found an array`},
		`{"limits": {"frameBytes": 2e8}}`:  {`airi-host.limits.frameBytes: expected a whole number from 1 to 134217728, found a number, 2e8`},
		`{"limits": {"logLines": 100001}}`: {`airi-host.limits.logLines: expected a whole number from 1 to 100000, found a number, 100001`},
		`{"scope": " "}`:                   {`airi-host.scope: expected a string, the tenant's id, found " "`},
		`{"scope": 5}`:                     {`airi-host.scope: expected a string, the tenant's id, found a number, 5`},
		`{"priority": 1000001}`:            {anInteger + `a number, 1000001`},
		`{"priority": "1"}`:                {anInteger + `"1"`},
	} {
		t.Run(host[:min(len(host), 40)], func(t *testing.T) { wantProblems(t, withHost(host), want...) })
	}
}
