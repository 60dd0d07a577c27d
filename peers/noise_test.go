package peers

import (
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/process"
)

// deed has a rogue do something.
func (h *home) deed(t *testing.T, plugin, name, params string) (string, error) {
	t.Helper()
	return h.tries(t, protocol.Call{Key: "data:" + name, Plugin: plugin, Input: json.RawMessage(params)})
}

// wantDeed is deed with the result that it has to have.
func (h *home) wantDeed(t *testing.T, want, plugin, name, params string) {
	t.Helper()
	result, err := h.deed(t, plugin, name, params)
	require.NoError(t, err)
	require.JSONEq(t, want, result)
}

// One rogue is told to be noisy in every way that hurts nobody; it answers all the same.
func TestHost_standsNoise(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip916, "", nil)
	h.start(t, "rogue", Changes{})
	is := h.session(t, "rogue")

	long := `{"text":"` + strings.Repeat(`é😀\u2028`, 100_000) + `"}`
	h.wantDeed(t, long, "rogue", "echo", long)
	h.wantDeed(t, `null`, "rogue", "say", `{"text":"a print of its own\n"}`)
	h.journal.wants(t, "rogue", "INFO", "a print of its own")
	h.wantDeed(t, `null`, "rogue", "stdout", `{"bytes":200000,"line":100}`)
	h.wantDeed(t, `null`, "rogue", "stderr", `{"bytes":200000,"line":100}`)
	h.wantDeed(t, `null`, "rogue", "long-line", `{"bytes":1000000,"end":true}`)
	require.Equal(t, uint64(1+2000+1), h.session(t, "rogue").Dropped["stray-text"])

	var err error
	need.Time(50*time.Millisecond, func(limit time.Duration) bool {
		_, err = h.tries(t, protocol.Call{Key: "data:held", Plugin: "rogue", Deadline: time.Now().Add(limit), Input: json.RawMessage(`{}`)})
		return err == nil || !strings.Contains(err.Error(), " was not called before the deadline ")
	})
	wantCode(t, err, protocol.CodeTimeout, "data:held of plugin rogue did not answer before the deadline (the call's own deadline)")
	h.wantDeed(t, `null`, "rogue", "release", `{}`)
	eventually(t, func() bool { return h.session(t, "rogue").Dropped["late-answer"] == 1 }, "its answer has not come")

	h.wantDeed(t, `null`, "rogue", "reject-later", `{}`)
	eventually(t, func() bool {
		return len(h.journal.records(t, func(r record) bool {
			return r.Level == "ERROR" && r.Plugin == "rogue" && strings.HasPrefix(r.Text, "Unhandled rejection: rejected outside of any handler")
		})) == 1
	}, h.journal)
	h.wantDeed(t, `{"n":1}`, "rogue", "echo", `{"n":1}`)
	require.Equal(t, is.ID, h.session(t, "rogue").ID)
	require.Less(t, strings.Count(h.journal.String(), "\n"), 1000, "a flood does not drown the log")
}

// A worker that cannot be spoken with any more is ended, with what it has started, and
// another one takes its place.
func TestHost_replacesAWorkerThatCannotGoOn(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip, "", func(o *actors.Options) {
		o.Ladder = process.Ladder{CloseStdin: 100 * time.Millisecond, Term: 100 * time.Millisecond}
	})
	for deed, row := range map[string]struct{ params, fork, reason string }{
		"close-stdin":  {`{}`, `{"hold":true}`, "plugin close-stdin: the worker closed its input and runs on: it has to be stopped"},
		"close-stdout": {`{}`, `{"hold":false}`, "plugin close-stdout: the worker closed its output and runs on: it has to be stopped"},
		"say":          {`{"text":"glued"}`, `{"hold":true}`, `plugin say wrote `},
	} {
		t.Run(deed, func(t *testing.T) {
			t.Parallel()
			h.start(t, "rogue", Changes{ID: deed})
			var grandchild struct{ PID int }
			result, err := h.deed(t, deed, "fork", row.fork)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal([]byte(result), &grandchild))
			old := h.session(t, deed)
			_, err = h.deed(t, deed, deed, row.params)
			for err == nil || protocol.CodeOf(err) == protocol.CodeTimeout { // what is written before it closes is lost
				_, err = h.tries(t, protocol.Call{Key: "data:echo", Plugin: deed, Deadline: time.Now().Add(time.Second)})
			}
			eventually(t, func() bool { is := h.session(t, deed); return is.ID != old.ID && is.Phase == lifecycle.Ready }, h.journal)
			require.Contains(t, h.session(t, deed).Worker.LastCrash, row.reason)
			h.wantDeed(t, `{"n":1}`, deed, "echo", `{"n":1}`)
			for _, pid := range []int{old.Process.PID, grandchild.PID} {
				eventually(t, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, pid) // whoever adopts it may be slow
			}
		})
	}
}
