package airi

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

var (
	tuned   = protocol.Config{ID: "hello:1", Revision: 2, SchemaVersion: 1, Full: raw(`{"tone":"dry"}`)}
	nobodys = protocol.Config{ID: "hello-0:default", Revision: 1, SchemaVersion: 1, Full: raw(`{}`)}
)

const commitNote = `note tell module:configuration:commit {"config":{"configId":"hello:1","revision":2,"schemaVersion":1,"full":{"tone":"dry"}}}`

func TestRemote_isGivenItsConfiguration(t *testing.T) {
	for _, row := range []struct {
		negotiates bool
		want       string
	}{{true, commitNote}, {false, `note configure {"tone":"dry"}`}} {
		l := newLink(t, Remote{Negotiates: row.negotiates}, protocol.Settings{})
		require.Empty(t, l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: nobodys}), "nobody gave it")
		require.Equal(t, []string{row.want}, l.emit(protocol.Moment{What: protocol.MomentCommitted, Config: tuned}))
		require.Empty(t, l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: tuned}), "it was committed")
		require.Equal(t, []string{row.want}, l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: tuned}), "a session that is prepared anew")
	}
}

func TestRemote_isGivenWhatWasThereBeforeItStarted(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	require.Equal(t, []string{`note configure {"tone":"dry"}`}, l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: tuned}))
	require.Equal(t, []string{`note configure {}`}, l.emit(protocol.Moment{What: protocol.MomentCommitted, Config: nobodys}), "it had one before")
}

func TestRemote_aConfigurationIsWaitedFor(t *testing.T) {
	for name, says := range map[string][2]string{
		"configured": {"module:configuration:configured", "{}"},
		"ready":      {"module:status", ready},
	} {
		l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
		l.life("module:status", ready)
		require.Equal(t, []string{"ran setup ok"}, l.run(protocol.StepSetup))
		l.emit(protocol.Moment{What: protocol.MomentCommitted, Config: tuned})
		l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: tuned})
		require.Empty(t, l.run(protocol.StepSetup), "what it said before is over: "+name)
		require.Equal(t, []string{"ran setup ok"}, l.life(says[0], says[1]), name)
		require.Equal(t, []string{"ran setup ok"}, l.run(protocol.StepSetup), name)
	}
}

func TestRemote_aConfigurationIsRefused(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: tuned})
	l.run(protocol.StepSetup)
	require.Equal(t, []string{"ran setup error no token"}, l.life("module:status", failed))
}

func TestRemote_saysWhatTheModuleDoesNotKnow(t *testing.T) {
	moments := []protocol.Moment{
		{What: protocol.MomentWaiting, Required: []string{"tool:x"}, Unresolved: []string{"tool:x"}},
		{What: protocol.MomentConfigurationNeeded, Reason: "none", AtStart: true},
		{What: protocol.MomentDegraded, Reason: "missing"},
		{What: protocol.MomentFailed, Reason: "late"},
	}
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	var got []string
	for _, m := range moments {
		got = append(got, l.emit(m)...)
	}
	require.Equal(t, []string{
		`note everyone module:status {"phase":"preparing","reason":"Waiting for capabilities: tool:x",` +
			`"details":{"lifecyclePhase":"waiting-deps","requiredCapabilities":["tool:x"],"unresolvedCapabilities":["tool:x"],"timeoutMs":0}}`,
		`note everyone module:status {"phase":"configuration-needed"}`,
		`note everyone module:status {"phase":"degraded","reason":"missing"}`,
		`note everyone module:status {"phase":"failed","reason":"late"}`,
	}, got)

	quiet := newLink(t, Remote{}, protocol.Settings{})
	for _, m := range moments {
		require.Empty(t, quiet.emit(m), "one that does not negotiate is spoken of by nobody")
	}
	l = newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.life("module:status", failed)
	require.Empty(t, l.emit(protocol.Moment{What: protocol.MomentFailed, Reason: "no token"}), "it said so itself")
}

func TestRemote_leavesTheRestToTheModule(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	for what := protocol.MomentAuthenticating; what <= protocol.MomentRecovered; what++ {
		switch what {
		case protocol.MomentWaiting, protocol.MomentConfigurationNeeded, protocol.MomentDegraded, protocol.MomentConfigured:
		default:
			require.Empty(t, l.emit(protocol.Moment{What: what}), "moment %d", what)
		}
	}
	require.Equal(t, []string{"dropped payload module:status: json: unsupported type: chan int"},
		l.step(protocol.Emit{Event: protocol.Event{Name: "module:status", Payload: make(chan int)}}))
	require.Contains(t, l.step(protocol.Emit{Event: protocol.Event{Name: "module:configuration:commit", Payload: raw(`5`)}})[0], "dropped payload a configuration: ")
}

func (l link) validate(id protocol.CallID) []string {
	l.t.Helper()
	return l.step(protocol.Invoke{ID: id, Call: Remote{}.Validation(module("hello", 0), tuned)})
}

const validateNote = `note tell module:configuration:validate:request {"current":{"configId":"hello:1","revision":2,"schemaVersion":1,"full":{"tone":"dry"}}}`

const planNote = `note tell module:configuration:plan:request {"current":{"configId":"hello:1","revision":2,"schemaVersion":1,"full":{"tone":"dry"}}}`

// A configuration is validated, and then planned, unless the first answer has the plan.
func TestRemote_isAskedAboutAConfiguration(t *testing.T) {
	const valid, planned = `{"validation":{"status":"valid"}}`, `{"validation":{"status":"valid"},"plan":{"warnings":["slow"]}}`
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	for id := range protocol.CallID(4) {
		require.Equal(t, []string{validateNote}, l.validate(id+1))
	}
	require.Equal(t, []string{planNote}, l.life(eventValidateResponse, valid))
	require.Equal(t, []string{`note everyone module:configuration:validate:status {"state":"failed","note":"it was not answered in time"}`},
		l.step(protocol.Cancel{ID: 2}))
	require.Equal(t, []string{"dropped late-answer module:configuration:validate:response"}, l.life(eventValidateResponse, valid), "it is for whom has left")
	require.Equal(t, []string{"complete 1 ok " + planned}, l.life(eventPlanResponse, `{"plan":{"warnings":["slow"]}}`))
	require.Equal(t, []string{"complete 3 ok " + planned}, l.life(eventValidateResponse, planned))
	require.Equal(t, []string{"complete 4 ok"}, l.life(eventValidateResponse, ""))
	require.Equal(t, []string{"emitted module:configuration:validate:response"}, l.life(eventValidateResponse, ""))
	require.Equal(t, []string{"emitted module:configuration:plan:response"}, l.life(eventPlanResponse, ""))

	v, err := Remote{}.Validated(raw(planned), nil)
	require.NoError(t, err)
	require.Equal(t, protocol.Validation{Asked: true, Warnings: []string{"slow"}}, v)
}

// What the module does not take is told to all, so that who shows configurations shows why.
func TestRemote_whatItRefusesIsTold(t *testing.T) {
	const missing = `{"validation":{"status":"partial","missing":["token"]}}`
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.validate(1)
	require.Equal(t, []string{
		`note everyone module:configuration:validate:status {"state":"failed","note":"it lacks token"}`, "complete 1 ok " + missing,
	}, l.life(eventValidateResponse, missing))

	l.validate(2)
	l.life(eventValidateResponse, `{"validation":{"status":"valid"}}`)
	require.Equal(t, []string{
		`note everyone module:configuration:plan:status {"state":"failed","note":"/port: in use"}`,
		`complete 2 ok {"validation":{"status":"valid"},"plan":{"invalid":[{"path":"/port","reason":"in use"}]}}`,
	}, l.life(eventPlanResponse, `{"plan":{"invalid":[{"path":"/port","reason":"in use"}]}}`))

	l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: tuned})
	require.Equal(t, `note everyone module:configuration:commit:status {"state":"failed","note":"late"}`,
		l.emit(protocol.Moment{What: protocol.MomentFailed, Reason: "late"})[0])

	_, err := Remote{}.Validated(nil, &protocol.Error{Code: protocol.CodeTimeout, Message: "late"})
	require.Equal(t, protocol.CodeConfiguration, protocol.CodeOf(err))
	require.ErrorContains(t, err, "it did not answer module:configuration:validate:request or module:configuration:plan:request: late")
}

// A configuration that the module has from somebody else is the session's, and is not given
// to it once more.
func TestRemote_takesAConfigurationOfOthers(t *testing.T) {
	configured := func(l link, data string) protocol.Wanted {
		n, _ := ReadNote([]byte("life module:configuration:configured\n" + data))
		out := l.d.Step(now, protocol.Received{Message: n}, nil)
		require.Len(t, out, 1)
		e, ok := out[0].(protocol.Emitted)
		require.True(t, ok)
		payload, err := e.Event.JSON()
		require.NoError(t, err)
		require.JSONEq(t, data, string(payload))
		w, ok := Remote{}.Wants(e.Event)
		require.True(t, ok)
		return w
	}
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	w := configured(l, `{"config":{"configId":"c","revision":3,"schemaVersion":1,"full":{"a":1,"b":2}}}`)
	theirs := protocol.Config{ID: "c", Revision: 3, SchemaVersion: 1, Full: raw(`{"a":1,"b":2}`)}
	require.Equal(t, protocol.Wanted{Config: &theirs}, w)
	require.Empty(t, l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: theirs}), "it has it")

	w = configured(l, `{"config":{"configId":"c","revision":4,"schemaVersion":1,"patch":{"b":null}}}`)
	require.Equal(t, raw(`{"a":1}`), w.Config.Full)
	require.Equal(t, []string{commitNote}, l.emit(protocol.Moment{What: protocol.MomentCommitted, Config: tuned}))
	require.Equal(t, "c", configured(l, `{"config":{"configId":"c","revision":5,"schemaVersion":1,"full":{}}}`).Config.ID, "somebody was quicker")

	l = newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: tuned})
	l.run(protocol.StepSetup)
	require.Equal(t, []string{"ran setup ok"}, l.life(eventConfigured, `{"config":{"configId":"hello:1","revision":2,"schemaVersion":1,"full":{"tone":"dry","more":1}}}`),
		"the module may write the host's anew")
	for _, none := range []string{`{}`, `{"config":5}`, `{"config":{"configId":"c"}}`, `{"config":{"full":[]}}`, `{"config":{"patch":5}}`} {
		require.Empty(t, l.life(eventConfigured, none), none)
	}
}

// Once the host has said of a module that it cannot be called, it says as well that it can.
func TestRemote_isReadyAgain(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.life("module:status", ready)
	require.Empty(t, l.emit(protocol.Moment{What: protocol.MomentReady}))
	require.Len(t, l.emit(protocol.Moment{What: protocol.MomentDegraded, Reason: "missing"}), 1)
	require.Equal(t, []string{`note everyone module:status {"phase":"ready"}`}, l.emit(protocol.Moment{What: protocol.MomentRecovered}))
	require.Empty(t, l.emit(protocol.Moment{What: protocol.MomentReady}))
	l.emit(protocol.Moment{What: protocol.MomentDegraded, Reason: "missing"})
	l.life("module:status", ready)
	require.Empty(t, l.emit(protocol.Moment{What: protocol.MomentRecovered}), "it has said so itself")
}

func TestRemote_doesNotHearTheQuestion(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	require.Equal(t, []string{`complete 1 ok {"unheard":true}`}, l.validate(1))
}

func TestRemote_questionsAreBounded(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{MaxPending: 2})
	l.validate(1)
	l.validate(2)
	require.Equal(t, []string{"complete 3 error overloaded: plugin hello: 2 calls are in flight, the limit: call airi-host:bridge:validate again later"}, l.validate(3))
	l.step(protocol.Cancel{ID: 1})
	require.Equal(t, []string{validateNote}, l.validate(4), "one that it does not answer and nobody waits for is given up")
	require.Equal(t, []string{
		"complete 2 error outcome-unknown: plugin hello ended while a question about its configuration was in flight; it may have run: gone",
		"complete 4 error outcome-unknown: plugin hello ended while a question about its configuration was in flight; it may have run: gone",
	}, l.step(protocol.Closed{Err: errors.New("gone")}))
}
