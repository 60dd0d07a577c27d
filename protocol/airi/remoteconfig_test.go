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
	require.Equal(t, []string{"dropped payload e: json: unsupported type: chan int"},
		l.step(protocol.Emit{Event: protocol.Event{Name: "e", Payload: make(chan int)}}))
	require.Contains(t, l.step(protocol.Emit{Event: protocol.Event{Name: "module:configuration:commit", Payload: raw(`5`)}})[0], "dropped payload a configuration: ")
}

func (l link) validate(id protocol.CallID) []string {
	l.t.Helper()
	return l.step(protocol.Invoke{ID: id, Call: Remote{}.Validation(module("hello", 0), tuned)})
}

const validateNote = `note tell module:configuration:validate:request {"current":{"configId":"hello:1","revision":2,"schemaVersion":1,"full":{"tone":"dry"}}}`

func TestRemote_isAskedAboutAConfiguration(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	for id := range protocol.CallID(3) {
		require.Equal(t, []string{validateNote}, l.validate(id+1))
	}
	answer := `{"validation":{"status":"valid"}}`
	require.Equal(t, []string{"complete 1 ok " + answer}, l.life("module:configuration:validate:response", answer))
	require.Empty(t, l.step(protocol.Cancel{ID: 2}))
	require.Equal(t, []string{"dropped late-answer module:configuration:validate:response"},
		l.life("module:configuration:validate:response", answer), "the second answer is for whom has left")
	require.Equal(t, []string{"complete 3 ok"}, l.life("module:configuration:validate:response", ""))
	require.Equal(t, []string{"emitted module:configuration:validate:response"}, l.life("module:configuration:validate:response", ""))

	v, err := Remote{}.Validated(raw(answer), nil)
	require.NoError(t, err)
	require.Equal(t, protocol.Validation{Asked: true}, v)
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
