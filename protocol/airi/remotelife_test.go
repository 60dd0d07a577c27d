package airi

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

const (
	ready  = `{"phase":"ready"}`
	failed = `{"phase":"failed","reason":"no token"}`
)

func TestRemote_aModuleThatDoesNotNegotiateHasPassedThroughAllSteps(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	require.Empty(t, l.run(protocol.StepLoad), "what it offers is not known yet")
	require.Equal(t, []string{"ran load ok"}, l.note("announced\n{}"))
	for _, s := range allSteps {
		require.Equal(t, []string{"ran " + string(s) + " ok"}, l.run(s))
	}
}

func TestRemote_stepsWaitForWhatTheModuleSays(t *testing.T) {
	for name, row := range map[string]struct {
		before []string // what it says before the step is asked for
		step   protocol.Step
		first  []string // what comes of asking
		says   string   // what it says then
		then   []string
	}{
		"load":                      {nil, protocol.StepLoad, []string{"ran load ok"}, "", nil},
		"load, announced after":     {[]string{"not yet"}, protocol.StepLoad, []string{}, "announced {}", []string{"ran load ok"}},
		"stop":                      {nil, protocol.StepStop, []string{"ran stop ok"}, "", nil},
		"init, prepared after":      {nil, protocol.StepInit, []string{}, "prepared", []string{"ran init ok"}},
		"init, prepared before":     {[]string{"prepared"}, protocol.StepInit, []string{"ran init ok"}, "", nil},
		"init, ready is not it":     {nil, protocol.StepInit, []string{}, "status " + ready, []string{}},
		"init fails":                {nil, protocol.StepInit, []string{}, "status " + failed, []string{"ran init error no token"}},
		"init failed before":        {[]string{"status " + failed}, protocol.StepInit, []string{"ran init error no token"}, "", nil},
		"setup, ready after":        {[]string{"prepared"}, protocol.StepSetup, []string{}, "status " + ready, []string{"ran setup ok"}},
		"setup, ready before":       {[]string{"prepared", "status " + ready}, protocol.StepSetup, []string{"ran setup ok"}, "", nil},
		"setup, other phases":       {nil, protocol.StepSetup, []string{}, `status {"phase":"degraded"}`, []string{}},
		"setup fails":               {nil, protocol.StepSetup, []string{}, "status " + failed, []string{"ran setup error no token"}},
		"setup fails without words": {nil, protocol.StepSetup, []string{}, `status {"phase":"failed"}`, []string{"ran setup error"}},
		"setup failed before":       {[]string{"prepared", "status " + failed}, protocol.StepSetup, []string{"ran setup error no token"}, "", nil},
		"a failure is forgotten":    {[]string{"status " + failed, "status " + ready}, protocol.StepSetup, []string{"ran setup ok"}, "", nil},
		"configured is not ready":   {[]string{"configuration:configured {}"}, protocol.StepSetup, []string{}, "configuration:configured {}", []string{}},
		"a failure is no load's":    {[]string{"status " + failed}, protocol.StepLoad, []string{"ran load ok"}, "prepared", []string{}},
		"stop after a failure":      {[]string{"status " + failed}, protocol.StepStop, []string{"ran stop ok"}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
			say := func(what string) []string {
				event, data, _ := strings.Cut(what, " ")
				if event == "announced" {
					return l.note("announced\n" + data)
				}
				return l.life("module:"+event, data)
			}
			if !slices.Contains(row.before, "not yet") {
				require.Empty(t, say("announced {}"))
			}
			for _, what := range row.before {
				if what == "not yet" {
					continue
				}
				require.Empty(t, say(what))
			}
			require.Equal(t, row.first, l.run(row.step))
			if row.says != "" {
				got := say(row.says)
				for i := range got {
					got[i] = strings.TrimSpace(got[i])
				}
				require.Equal(t, row.then, got)
			}
		})
	}
}

func TestRemote_aFailureHasTheModulesWords(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.run(protocol.StepSetup)
	n, _ := ReadNote([]byte("life module:status\n" + failed))
	out := l.d.Step(now, protocol.Received{Message: n}, nil)
	require.Equal(t, []protocol.Effect{protocol.Ran{Step: protocol.StepSetup, Err: &protocol.PeerError{Message: "no token"}}}, out)
}

func TestRemote_runsOneStepAtATime(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.run(protocol.StepInit)
	require.Equal(t, []string{"ran setup error invalid: plugin hello: step setup was asked for while init runs; a module passes through one step at a time"},
		l.run(protocol.StepSetup))
	require.Contains(t, l.run("dance")[0], "ran dance error invalid: ")
	require.Equal(t, []string{"ran init ok"}, l.life("module:prepared", "{}"))
}

func TestRemote_aStepEndsWithTheLink(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.run(protocol.StepInit)
	require.Equal(t, []string{"ran init error outcome-unknown: plugin hello ended while init was in flight; it may have run: gone"},
		l.step(protocol.Closed{Err: errors.New("gone")}))
	require.Contains(t, l.run(protocol.StepStop)[0], "ran stop error not-ready: ")
	require.Empty(t, l.note("back\n"))
}

// A way back to announced takes back what the module has said of itself.
func TestRemote_beginsAnew(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.life("module:prepared", "{}")
	l.life("module:status", ready)
	l.run(protocol.StepInit)
	l.run(protocol.StepSetup)
	require.Equal(t, []string{`emitted module:status:change {"phase":"announced"}`}, l.life("module:status:change", `{"phase":"announced"}`))
	require.Empty(t, l.run(protocol.StepInit))
	require.Equal(t, []string{"ran init ok"}, l.life("module:prepared", "{}"))
	require.Empty(t, l.run(protocol.StepSetup))
	require.Equal(t, []string{`emitted module:status:change {"phase":"configuration-needed"}`},
		l.life("module:status:change", `{"phase":"configuration-needed"}`), "which takes nothing back")
	require.Equal(t, []string{"ran setup ok"}, l.life("module:status", ready))
}

func TestRemote_isUnwellAsItSays(t *testing.T) {
	for _, negotiates := range []bool{true, false} {
		l := newLink(t, Remote{Negotiates: negotiates}, protocol.Settings{})
		l.life("module:prepared", "{}")
		require.Empty(t, l.life("module:status", ready))
		l.run(protocol.StepInit)
		l.run(protocol.StepSetup)
		require.Equal(t, []string{"absent the game is paused"}, l.life("module:status", `{"phase":"degraded","reason":"the game is paused"}`))
		require.Equal(t, []string{"absent no token"}, l.life("module:status", failed))
		require.Equal(t, []string{"present"}, l.life("module:status", ready))
		require.Empty(t, l.life("module:status", ready))
		require.Equal(t, []string{"absent it says that it is degraded"}, l.life("module:status", `{"phase":"degraded","reason":5}`))
		require.Empty(t, l.life("module:status", `"degraded"`))
		require.Empty(t, l.life("module:status", `{"phase":"preparing"}`))
		require.Equal(t, []string{"present"}, l.life("module:status", ready))
		long := l.life("module:status", `{"phase":"failed","reason":"`+strings.Repeat("é", protocol.MaxReason)+`"}`)
		require.Equal(t, []string{"absent " + strings.Repeat("é", protocol.MaxReason/2)}, long)
	}
}

const needs = `{"schema":{"type":"object"},"reason":"no account"}`

func TestRemote_needsAConfiguration(t *testing.T) {
	for _, negotiates := range []bool{true, false} {
		l := newLink(t, Remote{Negotiates: negotiates}, protocol.Settings{})
		require.Empty(t, l.life("module:configuration:needed", needs), "before init it is kept")
		l.run(protocol.StepInit)
		l.life("module:prepared", "{}")
		require.Empty(t, l.life("module:configuration:needed", needs), "as it is before setup")
		require.Equal(t, []string{"emitted module:configuration:needed " + needs, "ran setup ok"}, l.run(protocol.StepSetup),
			"the setup is over: there is another one with a configuration")
		require.Equal(t, []string{"emitted module:configuration:needed {}"}, l.life("module:configuration:needed", "{}"), "later it is told at once")
		l.life("module:status", ready)
		require.Equal(t, []string{"ran setup ok"}, l.run(protocol.StepSetup), "it was told once")
	}
}

func TestRemote_needsAConfigurationDuringSetup(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	require.Empty(t, l.run(protocol.StepSetup))
	require.Equal(t, []string{"emitted module:configuration:needed " + needs, "ran setup ok"}, l.life("module:configuration:needed", needs))
}

func TestRemote_aNeedThatIsMetIsNotTold(t *testing.T) {
	for name, meet := range map[string]func(link){
		"it is configured":     func(l link) { l.life("module:configuration:configured", "{}") },
		"it begins anew":       func(l link) { l.life("module:status:change", `{"phase":"announced"}`) },
		"the host has got one": func(l link) { l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: tuned}) },
	} {
		l := newLink(t, Remote{}, protocol.Settings{})
		l.life("module:configuration:needed", needs)
		meet(l)
		require.Equal(t, []string{"ran setup ok"}, l.run(protocol.StepSetup), name)
	}
}

func TestRemote_heedsWhatTheModuleWants(t *testing.T) {
	for name, row := range map[string]struct {
		event protocol.Event
		want  *protocol.Wanted
	}{
		"a change": {protocol.Event{Name: "module:status:change", Payload: raw(`{"phase":"announced","reason":"r"}`)}, &protocol.Wanted{Phase: "announced", Reason: "r"}},
		"a need":   {protocol.Event{Name: "module:configuration:needed", Payload: raw(needs)}, &protocol.Wanted{Phase: "configuration-needed", Reason: "no account", Schema: raw(`{"type":"object"}`)}},
		"a need without reason": {
			protocol.Event{Name: "module:configuration:needed", Payload: raw(`{}`)},
			&protocol.Wanted{Phase: "configuration-needed"},
		},
		"a long schema": {
			protocol.Event{Name: "module:configuration:needed", Payload: raw(`{"schema":"` + strings.Repeat("x", MaxSchema) + `"}`)},
			&protocol.Wanted{Phase: "configuration-needed"},
		},
		"another event":     {protocol.Event{Name: "module:status", Payload: raw(ready)}, nil},
		"no payload":        {protocol.Event{Name: "module:configuration:needed"}, nil},
		"no JSON":           {protocol.Event{Name: "module:configuration:needed", Payload: raw(`{`)}, nil},
		"not to be written": {protocol.Event{Name: "module:configuration:needed", Payload: make(chan int)}, nil},
		"others want it":    {protocol.Event{Name: "module:status:change", Payload: othersWords(`{"phase":"announced"}`)}, nil},
	} {
		got, ok := Remote{}.Wants(row.event)
		require.Equal(t, row.want != nil, ok, name)
		if ok {
			require.Equal(t, *row.want, got, name)
		}
	}
}

func TestConfigSchema_isTheSchemaAlone(t *testing.T) {
	for said, want := range map[string]string{
		`{"id":"s","version":1,"schema":{"type":"object"}}`: `{"type":"object"}`,
		`{"id":"s","version":1}`:                            "",
		`{"type":"object"}`:                                 `{"type":"object"}`,
		`null`:                                              "",
		``:                                                  "",
	} {
		require.Equal(t, want, string(ConfigSchema(raw(said))), said)
	}
}

func TestRemote_passesTheRestOfItsLifeOn(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	for _, event := range []string{
		"module:configuration:plan:response", "module:configuration:validate:response", "module:configuration:commit:status", "module:x",
	} {
		require.Equal(t, []string{"emitted " + event + ` {"a":1}`}, l.life(event, `{"a":1}`))
		require.Equal(t, []string{"emitted " + event + ` {"a":1}`}, l.note("asked "+event+"\n"+`{"a":1}`))
	}
	require.Equal(t, []string{"emitted module:status " + failed}, l.note("asked module:status\n"+failed), "which changes nothing")
	require.Empty(t, l.run(protocol.StepSetup))
	require.Equal(t, []string{"emitted module:x null"}, l.note("asked module:x\n"))
}

func TestRemote_countsNotesThatMeanNothing(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	for record, want := range map[string]string{
		"dance now\n":       "dropped control dance now",
		"back\n":            "dropped control back",
		"life\n{}":          "dropped control life",
		"said \"\\n\"\n{}":  "dropped control said",
		"asked \u00a0\n{}":  "dropped control asked",
		"tell module:x\n{}": "dropped control tell module:x",
		"said " + strings.Repeat("x", 1025) + "\n": "dropped name " + strings.Repeat("x", 200),
	} {
		require.Equal(t, []string{want}, l.note(record), record)
	}
	require.Empty(t, l.step(protocol.Received{Message: "text"}))
	require.Empty(t, l.step(protocol.Fired{}))
}
