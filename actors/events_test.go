package actors

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// oneOfEach is an event of every kind, with all of its members, and some without.
func oneOfEach() []Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	of := Origin{Session: "plugin-session-0", Plugin: "hello"}
	return []Event{
		PhaseChanged{Origin: of, From: lifecycle.Prepared, To: lifecycle.Configured, At: at},
		PhaseChanged{Origin: of, From: lifecycle.Ready, To: lifecycle.Failed, At: at, Reason: "no luck"},
		Waiting{Origin: of, For: []string{"tool:a", "tool:b"}, At: at},
		Waiting{Origin: of, For: []string{"tool:a"}, Cycle: []string{"hello", "b", "hello"}, Because: []string{"tool:a: no luck"}, At: at},
		CapabilityChanged{Origin: of, Key: "tool:a", To: lifecycle.CapAnnounced, At: at},
		CapabilityChanged{Origin: of, Key: "tool:a", From: lifecycle.CapReady, To: lifecycle.CapWithdrawn, At: at, Reason: "no luck"},
		Logged{Origin: of, Level: slog.LevelWarn, Stream: "stderr", Text: "a \"line\"", At: at},
		Dropped{Origin: of, What: "late-answer", Detail: "tool:a", Count: 4, At: at},
		Channel{Origin: of, FromPlugin: true, Name: "module:status", Payload: []byte(`{"a":1}`), Phase: lifecycle.Ready, At: at},
		Channel{Origin: of, Name: "bare", Phase: lifecycle.Ready, At: at},
		Restart{Origin: of, Reason: "no luck", InARow: 2, Crashes: 3, Next: at.Add(2 * time.Second), At: at},
		Restart{Origin: of, Reason: "no luck", InARow: 11, Crashes: 12, GivenUp: true, At: at},
		Granted{Origin: Origin{Plugin: "hello"}, Grants: []string{"http.outbound"}, New: []string{"http.outbound"}, At: at},
		Granted{Origin: of, Grants: []string{}, Waiting: []string{"invoke:tool:*"}, At: at},
		ConfigurationStatus{Origin: of, Company: "acme", Step: StepValidate, State: StepRefused, Progress: 1, Note: "no luck", At: at},
		ConfigurationStatus{Origin: of, Step: StepCommit, State: StepDone, Progress: 1, Revision: 2, At: at},
		ConfigurationStatus{Origin: Origin{Plugin: "hello"}, Step: StepPlan, State: StepWorking, Progress: 0.5, At: at},
		Called{
			Origin: of, Ecosystem: "airi", Key: "tool:a", Caller: "other", Scope: "acme", Took: time.Millisecond, Code: "peer", At: at,
			Chain: []protocol.Link{{Key: "action:B"}, {Caller: "other", Ecosystem: "eliza", Key: "tool:a"}},
		},
		Streamed{Origin: of, What: StreamItem, Channel: "logs", Scope: "acme", Item: []byte(`{"secret":1}`), At: at},
		Streamed{Origin: of, What: StreamClosed, Channel: "logs", Scope: "acme", Lost: true, At: at},
		Wire{Origin: of, FromPlugin: true, Message: "secret", Phase: lifecycle.Ready, At: at},
	}
}

func TestEvents_haveTheirJSON(t *testing.T) {
	var lines strings.Builder
	for _, e := range oneOfEach() {
		line, err := EncodeEvent(e)
		require.NoError(t, err)
		lines.Write(append(line, '\n'))
	}
	wantGolden(t, "events.ndjson", lines.String())
}

func TestEvents_logThemselves(t *testing.T) {
	var log notebook
	for _, e := range oneOfEach() {
		e.Log(log.logger())
	}
	wantGolden(t, "events.log", log.String())
	require.NotContains(t, log.String(), "secret")
}

func TestEvents_whatDoesNotEncodeIsAnError(t *testing.T) {
	_, err := EncodeEvent(Channel{Payload: []byte(`{`)})
	require.ErrorContains(t, err, "unexpected end of JSON input")
}

func TestKind_hasAName(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range oneOfEach() {
		require.NotEmpty(t, e.Kind().String())
		seen[e.Kind().String()] = true
	}
	require.Len(t, seen, len(kindNames))
	require.Empty(t, KindsUsual.String())
}

func TestTellGrants_addsTheSessionAndTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("hello"))
		var told []Event
		listen(t, h, KindGrants, func(e Event) { told = append(told, e) })
		h.TellGrants(Granted{Origin: Origin{Plugin: "hello"}, Grants: []string{"a"}})
		startReady(t, h, manifestFor("hello"))
		h.TellGrants(Granted{Origin: Origin{Plugin: "hello"}, Grants: []string{"a", "b"}})
		settle()
		require.Equal(t, []Event{
			Granted{Origin: Origin{Plugin: "hello"}, Grants: []string{"a"}, At: time.Now()},
			Granted{Origin: Origin{Plugin: "hello", Session: "plugin-session-0"}, Grants: []string{"a", "b"}, At: time.Now()},
		}, told)
	})
}
