package configuration

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// slowly is a setup that takes a second of the bubble with a configuration that says so.
func slowly(ctx context.Context, config map[string]any) error {
	if config["slow"] == nil {
		return nil
	}
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// setting begins a change, which is under way when it returns.
func (r *rig) setting(value string) <-chan error {
	over := make(chan error, 1)
	go func() { over <- r.set(r.t, value) }()
	synctest.Wait()
	return over
}

// again is what a reload does.
func (r *rig) again() error {
	was := r.newest("picky").ID
	if _, err := r.Host.Stop(context.Background(), was); err != nil {
		return err
	}
	_, err := r.Host.Start(context.Background(), r.m, r.Book.Start("picky", r.Company(r.m)))
	return err
}

func TestCommit_aPluginThatIsBeingStoppedSaysSo(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.stop = func(context.Context) { time.Sleep(time.Second) }
		r.start(t)
		was := r.newest("picky")
		go func() { _, _ = r.Host.Stop(context.Background(), was.ID) }()
		synctest.Wait()
		require.Equal(t, lifecycle.Ready, r.newest("picky").Phase, "its stop hook runs")
		err := r.set(t, `{"a":1}`)
		wantFault(t, err, protocol.CodeNotReady, "")
		require.EqualError(t, err, "plugin picky is being stopped and takes no configuration: its session is ending")
		time.Sleep(2 * time.Second)
		r.wantKept(t)
		require.NoError(t, r.set(t, `{"a":1}`), "it is stopped, and takes it at its start")
		r.start(t)
		r.wantSeen(t, `null`, `{"a":1}`)
	})
}

func TestCommit_aPluginThatIsStoppedWhileItIsTriedSaysSo(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.setup = slowly
		r.start(t)
		over := r.setting(`{"slow":1}`)
		_, err := r.Host.Stop(t.Context(), r.newest("picky").ID)
		require.NoError(t, err)
		err = <-over
		wantFault(t, err, protocol.CodeNotReady, "")
		require.EqualError(t, err, "plugin picky was stopped meanwhile, and has what was in force before: repeat the change: its session is ending")
		r.wantKept(t)
		r.start(t)
		r.wantIs(t, lifecycle.Ready, `{}`)
	})
}

func TestCommit_aPluginThatIsReloadedWhileItIsTriedHasWhatIsInForce(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.setup = slowly
		r.start(t)
		require.NoError(t, r.set(t, `{"a":1}`))
		over := r.setting(`{"slow":1}`)
		require.NoError(t, r.again())
		wantFault(t, <-over, protocol.CodeNotReady, "plugin picky was stopped meanwhile")
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
		r.wantKept(t, `{"a":1}`)
		r.wantSeen(t, `null`, `{"a":1}`, `{"slow":1}`, `{"a":1}`)
	})
}

// It has been given its configuration, and is reloaded before that is kept.
func TestCommit_aPluginThatIsReloadedBeforeItIsKeptTakesItAllTheSame(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.setup = slowly
		r.start(t)
		require.NoError(t, r.set(t, `{"a":1}`))
		r.store.before = func() {
			r.store.before = nil
			require.NoError(t, r.again())
		}
		require.NoError(t, r.set(t, `{"a":2}`))
		r.wantIs(t, lifecycle.Ready, `{"a":2}`)
		has, ok := r.Host.SessionConfiguration(r.newest("picky").ID)
		require.True(t, ok)
		require.JSONEq(t, `{"a":2}`, string(has.Full))
		r.wantSeen(t, `null`, `{"a":1}`, `{"a":2}`, `{"a":1}`, `{"a":2}`)
	})
}

// It is stopped when the change begins, and on its way to ready when that is kept.
func TestCommit_aPluginThatIsStartedMeanwhileTakesItWhenItIsReady(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.setup = slowly
		require.NoError(t, r.set(t, `{"slow":1}`))
		r.store.before = func() {
			r.store.before = nil
			go func() { _, _ = r.Host.Start(context.Background(), r.m, r.Book.Start("picky", "")) }()
			synctest.Wait()
			require.Equal(t, lifecycle.Configured, r.newest("picky").Phase)
		}
		require.NoError(t, r.set(t, `{"a":2}`))
		r.wantIs(t, lifecycle.Ready, `{"a":2}`)
		r.wantSeen(t, `{"slow":1}`, `{"a":2}`)
	})
}

// It does not take it, and says why: what was kept is in force all the same.
func TestCommit_warnsOfAPluginThatWasStartedMeanwhileAndRefuses(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.setup = noBad
		r.store.before = func() {
			r.store.before = nil
			r.start(t)
		}
		done, err := r.Commit(t.Context(), "picky", Change{Value: []byte(`{"bad":1}`)})
		require.NoError(t, err)
		require.Equal(t, []string{"the plugin was started meanwhile with what was in force before, and has this one when it is started anew: this is bad"}, done.Warnings)
	})
}

func TestCommit_aFailedPluginThatSomebodyElseStartsMeanwhile(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		broken := true
		r.setup = func(context.Context, map[string]any) error {
			if broken {
				return errors.New("no luck")
			}
			return nil
		}
		_, err := r.Host.Start(t.Context(), r.m, actors.StartOptions{})
		require.Error(t, err)
		broken = false
		r.validate = func(context.Context, map[string]any) error { return nil }
		s, err := r.begin("picky", Change{Value: []byte(`{"a":1}`)})
		require.NoError(t, err)
		r.start(t) // after the change has looked at it
		_, _, err = s.commit(t.Context())
		wantFault(t, err, protocol.CodeNotReady, "plugin picky was started by somebody else meanwhile, and has what was in force before: repeat the change")
		r.wantIs(t, lifecycle.Ready, `{}`)
	})
}

func TestCommit_theHostEndsMeanwhile(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.setup = slowly
		r.start(t)
		over := r.setting(`{"slow":1}`)
		require.NoError(t, r.Host.Shutdown(t.Context()))
		err := <-over
		wantFault(t, err, protocol.CodeNotReady, "plugin picky was stopped meanwhile")
		require.NotContains(t, err.Error(), "given back")
		require.NoError(t, r.set(t, `{"a":1}`), "it takes it at its start")
	})
}
