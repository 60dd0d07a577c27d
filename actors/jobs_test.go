package actors

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// clerk stands before the owners of jobs, and has each call that it was asked.
type clerk struct {
	host  *Host
	asked []protocol.Call
	err   error
}

func (k *clerk) Serve(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	k.asked = append(k.asked, c)
	if k.err != nil {
		return nil, k.err
	}
	c.Input = json.RawMessage(`{"trigger":"manual","runId":"r-1"}`)
	return k.host.InvokeOwner(ctx, c)
}

func TestSetJobs_asksWhoRunsJobsBeforeTheirOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs []plugin.Run
		worker, caller := plugin.Define("worker"), plugin.Define("caller")
		plugin.Job(worker, "sync", func(_ context.Context, run plugin.Run) error { runs = append(runs, run); return nil })
		var session *plugin.Session
		caller.OnSetup(func(_ context.Context, s *plugin.Session) error { session = s; return nil })
		plugin.Handle(caller, "tool:ask", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{}`), session.Call(ctx, "job:sync", nil, nil)
		})
		seen := 0
		h := startHostWith(t, Options{Observe: func(c CallEnded) {
			if c.Key == "job:sync" {
				seen++
			}
		}}, worker, caller)
		startReady(t, h, manifestFor("worker"))
		startReady(t, h, manifestFor("caller"))
		k := &clerk{host: h}
		h.SetJobs(k)

		for _, c := range []protocol.Call{{Key: "job:sync"}, {Key: "tool:ask", Input: json.RawMessage(`{}`)}} {
			_, err := h.Invoke(t.Context(), c)
			require.NoError(t, err)
		}
		require.Equal(t, []plugin.Run{{Trigger: "manual", ID: "r-1"}, {Trigger: "manual", ID: "r-1"}}, runs)
		require.Len(t, k.asked, 2)
		require.Equal(t, "worker", k.asked[0].Plugin, "the owner is chosen before")
		require.Equal(t, "caller", k.asked[1].Caller)
		require.Equal(t, 2, seen, "each run is one call")

		k.err = errors.New("not now")
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "job:sync"})
		require.ErrorIs(t, err, k.err)
		h.SetJobs(nil)
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "job:sync"})
		require.NoError(t, err)
		require.Len(t, runs, 3)
	})
}

func TestSetJobs_whatIsWrongWithACallIsNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := plugin.Define("a"), plugin.Define("b")
		for _, p := range []*plugin.Definition{a, b} {
			plugin.Job(p, "sync", func(context.Context, plugin.Run) error { return nil })
		}
		h := startHost(t, a, b)
		startReady(t, h, manifestFor("a"))
		startReady(t, h, manifestFor("b"))
		k := &clerk{host: h}
		h.SetJobs(k)
		var feed iter.Seq2[json.RawMessage, error] = func(func(json.RawMessage, error) bool) {}
		for _, c := range []struct {
			call protocol.Call
			code protocol.Code
		}{
			{protocol.Call{Key: "job:sync"}, protocol.CodeAmbiguous},
			{protocol.Call{Key: "job:none"}, protocol.CodeNotFound},
			{protocol.Call{Key: "job:sync", Plugin: "c"}, protocol.CodeNotFound},
			{protocol.Call{Key: "job:"}, protocol.CodeInvalid},
			{protocol.Call{Key: "job:sync", Plugin: "a", Input: json.RawMessage(`{"trigger":7}`)}, protocol.CodeInvalid},
			{protocol.Call{Key: "job:sync", Plugin: "a", Feed: feed}, protocol.CodeInvalid},
		} {
			_, err := h.Invoke(t.Context(), c.call)
			require.Equal(t, c.code, protocol.CodeOf(err), "%v", err)
		}
		require.Empty(t, k.asked)
	})
}
