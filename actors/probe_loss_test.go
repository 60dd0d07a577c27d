package actors_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// restarting lets what crashed come back.
func restarting(o *actors.Options) { o.Restart = steady }

// rogueHalfDead closes one of its ends when it is called, and lives.
func rogueHalfDead(w *rogue) {
	w.tools["close"] = func(a ask) string {
		if argument() == "stdout" {
			_ = os.Stdout.Close()
		} else {
			_ = os.Stdin.Close()
			w.says(reply(a, `null`))
		}
		time.Sleep(time.Hour)
		return ""
	}
	w.serve()
}

func TestProbe_aWorkerThatClosesAnEndAndLivesHasCrashed(t *testing.T) {
	for end, test := range map[string]struct {
		code   protocol.Code
		reason string
	}{
		"stdin":  {protocol.CodeNotReady, "the worker closed its input and runs on"},
		"stdout": {protocol.CodeOutcomeUnknown, "the worker closed its output and runs on"},
	} {
		t.Run(end, func(t *testing.T) {
			p := newTrial(t, restarting)
			old := p.start(told(p.worker("half-dead", "close", "hello"), end))
			err := (<-p.begin("half-dead", "close", `{}`)).err
			if end == "stdin" {
				require.NoError(t, err)
				err = (<-p.begin("half-dead", "hello", `{}`)).err // the next write
			}
			require.Equal(t, test.code, protocol.CodeOf(err), err)
			crash := sighted(p, 1, func(actors.Restart) bool { return true })
			require.Contains(t, crash.Reason, test.reason)
			p.wantPhase("half-dead", lifecycle.Ready, 2)
			require.ErrorIs(t, syscall.Kill(old.Process.PID, 0), syscall.ESRCH)
			require.NotEqual(t, old.ID, p.inspect("half-dead").ID)
			p.wantCall("half-dead", "hello", `{}`, `{"content":"hello"}`)
		})
	}
}

// rogueAsksAndGoes asks the host for something once it is initialized, and exits at
// once.
func rogueAsksAndGoes(w *rogue) {
	w.says(reply(w.hears(), `{"ok":true}`), `{"jsonrpc":"2.0","id":1,"method":"probe.wait","params":{}}`)
}

func TestProbe_aReplyToAWorkerThatIsGoneIsCounted(t *testing.T) {
	p := newTrial(t, methods(map[string]protocol.ServiceFunc{"probe.wait": func(ctx context.Context, _ protocol.Call) (json.RawMessage, error) {
		<-ctx.Done() // the worker has gone
		return json.RawMessage(`{"content":"too late"}`), nil
	}}))
	const lives = 20
	for life := range lives {
		_, _ = p.host.Start(t.Context(), p.worker("asks-and-go"), actors.StartOptions{}) // it may be gone before this is answered
		p.wantPhase("asks-and-go", lifecycle.Failed, life+1)
		lost := sighted(p, life+1, func(e actors.Dropped) bool { return e.What == "lost-reply" })
		require.Equal(t, "probe.wait", lost.Detail)
	}
	for line := range strings.Lines(p.log.text()) {
		require.False(t, strings.Contains(line, "level=ERROR") && strings.Contains(line, "probe.wait"), line)
	}
}

// rogueLeaves exits when it is called, and leaves somebody behind who holds its pipes.
func rogueLeaves(w *rogue) {
	w.tools["leave"] = func(a ask) string {
		child := exec.Command("sleep", "600")
		child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
		_ = child.Start()
		os.Exit(a.number())
		return ""
	}
	w.serve()
}

func TestProbe_anExitIsSeenAlthoughAPipeStaysOpen(t *testing.T) {
	for code, test := range map[string]struct{ input, reason string }{
		"code 3": {`{"n":3}`, "plugin leaves: the worker exited with code 3 after "},
		"code 0": {`{"n":0}`, "plugin leaves: the worker exited with code 0 after "},
	} {
		t.Run(code, func(t *testing.T) {
			p := newTrial(t, restarting)
			p.start(p.worker("leaves", "leave", "hello"))
			began := time.Now()
			err := (<-p.begin("leaves", "leave", test.input)).err
			require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
			crash := sighted(p, 1, func(actors.Restart) bool { return true })
			require.Less(t, crash.At.Sub(began), 10*time.Second, "two seconds, with the machine to itself")
			require.Contains(t, crash.Reason, test.reason)
			p.wantLogged("leaves", "outlived")
			p.wantPhase("leaves", lifecycle.Ready, 2)
			p.wantCall("leaves", "hello", `{}`, `{"content":"hello"}`)
			p.wantProcesses(2) // the neighbor and the new worker
			require.Equal(t, 1, p.inspect("leaves").Worker.Crashes)
			require.Equal(t, 1, count(p, func(actors.Restart) bool { return true }))
			require.Equal(t, 1, count(p, func(e actors.PhaseChanged) bool { return e.To == lifecycle.Failed }))
		})
	}
}
