package ws_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/plugin/ws"
)

// A hook that does not heed its context holds up neither the end nor the host's answer.
func TestServe_leavesHooksThatGoOn(t *testing.T) {
	// stuck returns a hook's work, which goes on until the test is over.
	stuck := func(t *testing.T) (work func()) {
		t.Helper()
		free := make(chan struct{})
		t.Cleanup(func() { close(free) })
		return func() { <-free }
	}
	quick := ws.Options{HookTime: 20 * time.Millisecond, Grace: time.Millisecond}
	t.Run("OnSetup", func(t *testing.T) {
		work := stuck(t)
		p := plugin.Define("stuck").OnSetup(func(context.Context, *plugin.Session) error {
			work()
			return nil
		})
		o := quick
		o.URL, o.Log = start(t, gateway.Options{}).url, slog.NewTextHandler(t.Output(), nil)
		ended := make(chan error, 1)
		go func() { ended <- ws.Serve(t.Context(), p, o) }()
		require.ErrorContains(t, within(t, ended), "the hook for setup goes on 1ms after its context has ended")
	})
	t.Run("OnStop", func(t *testing.T) {
		work := stuck(t)
		p := plugin.Define("stuck").OnSetup(func(context.Context, *plugin.Session) error { return nil })
		p.OnStop(func(context.Context, *plugin.Session) error {
			work()
			return nil
		})
		r := start(t, gateway.Options{})
		stop := r.serve(p, quick)
		r.wantPhase("stuck", lifecycle.Ready)
		ended := make(chan error, 1)
		go func() { ended <- stop() }()
		require.NoError(t, within(t, ended))
	})
	t.Run("OnHealth", func(t *testing.T) {
		work := stuck(t)
		p := plugin.Define("stuck").OnHealth(func(context.Context, *plugin.Session) (plugin.Health, error) {
			work()
			return plugin.Health{}, nil
		})
		r := start(t, gateway.Options{})
		o := quick
		o.HealthEvery = 50 * time.Millisecond
		r.serve(p, o)
		require.Contains(t, r.wantPhase("stuck", lifecycle.Degraded).Reason, "OnHealth goes on 1ms after")
	})
}

// within is what comes, in the time that there is.
func within(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		require.Fail(t, "it has not ended")
		return nil
	}
}
