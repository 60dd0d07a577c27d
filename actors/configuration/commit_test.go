package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// within runs a test in a bubble of fake time.
func within(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newRig(t)) })
}

func TestCommit_whatThePluginRefusesNeverReachesIt(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = noBad
		r.start(t)
		phases := r.Host.Subscribe(actors.KindPhase, 0)
		defer phases.Close()
		wantFault(t, r.set(t, `{"bad":1}`), protocol.CodeConfiguration, "plugin picky refuses its configuration: this is bad")
		synctest.Wait()
		require.Empty(t, phases.C, "it stayed ready")
		r.wantIs(t, lifecycle.Ready, `{}`)
		require.NoError(t, r.set(t, `{"a":1}`))
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
		r.wantSeen(t, `null`, `{"a":1}`)
		r.wantKept(t, `{"a":1}`)
	})
}

func TestCommit_aPluginThatFailsIsGivenBackWhatItHad(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.setup = noBad
		r.start(t)
		require.ErrorContains(t, r.set(t, `{"bad":1}`), "this is bad")
		r.wantIs(t, lifecycle.Ready, `{}`)
		require.NoError(t, r.set(t, `{"a":1}`))
		require.ErrorContains(t, r.set(t, `{"bad":2}`), "this is bad")
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
		r.wantSeen(t, `null`, `{"bad":1}`, `null`, `{"a":1}`, `{"bad":2}`, `{"a":1}`)
		r.wantKept(t, `{"a":1}`)
	})
}

func TestCommit_whatCannotBeKeptIsTakenBack(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.start(t)
		require.NoError(t, r.set(t, `{"a":1}`))
		r.store.broken = errors.New("the disk is full")
		require.ErrorContains(t, r.set(t, `{"a":2}`), "the disk is full")
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
		r.wantSeen(t, `null`, `{"a":1}`, `{"a":2}`, `{"a":1}`)
	})
}

// The one who looks sees what is in force; the plugin is answered with what it tries.
func TestCommit_whatIsTriedIsInForceForThePluginAlone(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.start(t)
		require.NoError(t, r.set(t, `{"a":1}`))
		r.setup = func(context.Context, map[string]any) error {
			require.Equal(t, `{"a":2}`, string(r.Book.Value("picky", "")))
			require.Equal(t, `{"a":1}`, string(r.Book.InForce("picky", "").Value))
			return nil
		}
		require.NoError(t, r.set(t, `{"a":2}`))
		require.Equal(t, `{"a":2}`, string(r.Book.InForce("picky", "").Value))
	})
}

func TestCommit_aPluginThatHasFailedIsStartedWithIt(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.setup = noBad
		r.Book.Defaults = func(string, string) (json.RawMessage, bool) { return json.RawMessage(`{"bad":0}`), false }
		_, err := r.Host.Start(t.Context(), r.m, r.Book.Start("picky", ""))
		require.ErrorContains(t, err, "this is bad")
		require.ErrorContains(t, r.set(t, `{"bad":1}`), "this is bad")
		r.wantIs(t, lifecycle.Failed, `{"bad":0}`)
		require.NoError(t, r.set(t, `{"good":1}`))
		r.wantIs(t, lifecycle.Ready, `{"good":1}`)
	})
}

func TestCommit_namesWhatIsMissingAndGoesOnWhenItComes(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.m.Host.Configuration.Required = true
		r.m.Host.Configuration.Schema = json.RawMessage(`{"type":"object","required":["token","url"],"properties":{"url":{"type":"string"}}}`)
		r.start(t)
		r.wantIs(t, lifecycle.ConfigurationNeeded, `{}`)
		require.Regexp(t, `"?token"?.*"?url"?`, r.newest("picky").Reason)
		require.EqualError(t, r.set(t, `{"url":"x"}`), "the configuration of plugin picky: it lacks token")
		wantFault(t, r.set(t, `{"url":7,"token":"t"}`), protocol.CodeConfiguration, "/url")
		r.wantIs(t, lifecycle.ConfigurationNeeded, `{}`)
		require.NoError(t, r.set(t, `{"url":"x","token":"t"}`))
		r.wantIs(t, lifecycle.Ready, `{"url":"x","token":"t"}`)
		_, err := r.Commit(t.Context(), "picky", Change{Unset: true})
		wantFault(t, err, protocol.CodeConfiguration, "it lacks token, url; the plugin needs a configuration")
	})
}

// A schema that does not take an empty configuration asks for one.
func TestStart_withoutWhatTheSchemaRequiresWaitsForIt(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.m.Host.Configuration.Schema = json.RawMessage(`{"required":["token"]}`)
		r.start(t)
		r.wantIs(t, lifecycle.ConfigurationNeeded, `{}`)
		require.Contains(t, r.newest("picky").Reason, "token")
		require.NoError(t, r.set(t, `{"token":"t"}`))
		r.wantIs(t, lifecycle.Ready, `{"token":"t"}`)
	})
}

func TestCommit_aStoppedPluginIsCheckedByItsSchemaAndTakesItAtItsStart(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.m.Host.Configuration.Schema = json.RawMessage(`{"properties":{"a":{"type":"integer"}}}`)
		wantFault(t, r.set(t, `{"a":"x"}`), protocol.CodeConfiguration, "/a")
		v, err := r.Validate(t.Context(), "picky", Change{Value: json.RawMessage(`{"a":1}`)})
		require.NoError(t, err)
		require.Equal(t, Validation{Status: Valid, Validation: protocol.Validation{Note: "it is stopped, and looks at it when it starts"}}, v)
		require.NoError(t, r.set(t, `{"a":1}`))
		r.start(t)
		r.wantSeen(t, `{"a":1}`)
	})
}

func TestCommit_whatIsForOthersIsAskedAboutAndNotGiven(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = noBad
		r.start(t)
		commit := func(value string) error {
			done, err := r.Commit(t.Context(), "picky", Change{Company: "globex", Value: json.RawMessage(value)})
			if err == nil {
				require.Equal(t, []string{alone}, done.Warnings)
			}
			return err
		}
		wantFault(t, commit(`{"bad":1}`), protocol.CodeConfiguration, "this is bad")
		require.NoError(t, commit(`{"a":1}`))
		require.Equal(t, `{"a":1}`, string(r.Book.Value("picky", "globex")))
		require.Nil(t, r.Book.Value("picky", ""))
		r.wantSeen(t, `null`)
	})
}

func TestCommit_unsetGoesBackToTheDefaults(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.Book.Defaults = func(string, string) (json.RawMessage, bool) { return json.RawMessage(`{"a":0}`), false }
		r.start(t)
		unset := func() (Configuration, error) { return r.Commit(t.Context(), "picky", Change{Unset: true}) }
		_, err := unset()
		wantFault(t, err, protocol.CodeInvalid, "plugin picky has no configuration that was kept")
		require.NoError(t, r.set(t, `{"a":1}`))
		now, err := unset()
		require.NoError(t, err)
		require.Equal(t, Configuration{Plugin: "picky", Revision: 2, Source: FromDefaults, Value: json.RawMessage(`{"a":0}`)}, now)
		r.wantIs(t, lifecycle.Ready, `{"a":0}`)
		_, err = unset()
		require.Error(t, err, "once is enough")
		require.NoError(t, r.set(t, `{"a":3}`))
		r.wantSeen(t, `{"a":0}`, `{"a":1}`, `{"a":0}`, `{"a":3}`)
		r.wantKept(t, `{"a":1}`, `null`, `{"a":3}`)
	})
}

// Of two who save at once both are heard in turn, and the last one is in force; one that is
// refused in between is in force for nobody.
func TestCommit_theLastSaveWins(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = noBad
		r.setup = func(context.Context, map[string]any) error {
			time.Sleep(time.Second) // of the bubble
			return nil
		}
		r.start(t)
		var all sync.WaitGroup
		for i, value := range []string{`{"n":1}`, `{"bad":1}`, `{"n":2}`} {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				err := r.set(t, value)
				require.Equal(t, value == `{"bad":1}`, err != nil, err)
			})
		}
		all.Wait()
		r.wantIs(t, lifecycle.Ready, `{"n":2}`)
		r.wantKept(t, `{"n":1}`, `{"n":2}`)
		r.wantSeen(t, `null`, `{"n":1}`, `{"n":2}`)
	})
}

func TestCommit_onlyOneOfTwoBasesHolds(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.start(t)
		base := int64(0)
		commit := func(value string) error {
			_, err := r.Commit(t.Context(), "picky", Change{Value: json.RawMessage(value), Base: &base})
			return err
		}
		require.NoError(t, commit(`{"a":1}`))
		wantFault(t, commit(`{"a":2}`), protocol.CodeConflict, "expected revision 0 as the base, found 1 in force")
	})
}

func TestCommit_aPluginThatHangsInItsValidationIsNamed(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = func(ctx context.Context, _ map[string]any) error { <-ctx.Done(); time.Sleep(time.Hour); return nil }
		r.start(t)
		began := time.Now()
		wantFault(t, r.set(t, `{"a":1}`), protocol.CodeTimeout,
			"plugin picky did not say whether it takes a configuration before the deadline (the host's limit timeouts.call)")
		require.Equal(t, 30*time.Second, time.Since(began))
		r.wantIs(t, lifecycle.Ready, `{}`)
		require.EqualValues(t, 1, r.newest("picky").Busy, "it is at it still")
		time.Sleep(2 * time.Hour)
		require.Zero(t, r.newest("picky").Busy)
	})
}

func TestCommit_aPluginThatHangsInItsSetupIsGivenBackWhatItHad(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.m.Host.Timeouts = manifest.Timeouts{Setup: time.Second}
		r.setup = func(ctx context.Context, config map[string]any) error {
			if config["slow"] != nil {
				<-ctx.Done()
			}
			return nil
		}
		r.start(t)
		require.ErrorContains(t, r.set(t, `{"slow":1}`), "setup of plugin picky did not finish within 1s: mend its hook, or raise airi-host.timeouts.setup")
		r.wantIs(t, lifecycle.Ready, `{}`)
	})
}

func TestCommit_aPluginThatPanicsInItsValidationSaysSo(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = func(context.Context, map[string]any) error { panic("oh") }
		r.start(t)
		require.ErrorContains(t, r.set(t, `{"a":1}`), "oh")
		r.wantIs(t, lifecycle.Ready, `{}`)
	})
}

func TestCommit_aPluginOnItsWayIsLeftAlone(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.m.Host.Requires = nil
		hold := make(chan struct{})
		r.setup = func(context.Context, map[string]any) error { <-hold; return nil }
		go func() { _, _ = r.Host.Start(context.Background(), r.m, actors.StartOptions{}) }()
		synctest.Wait()
		p, err := r.Plan(t.Context(), "picky", Change{Value: json.RawMessage(`{"a":1}`)})
		require.NoError(t, err)
		require.Contains(t, p.Warnings, "plugin picky is configured: it takes none before it is ready")
		wantFault(t, r.set(t, `{"a":1}`), protocol.CodeNotReady, "plugin picky is configured: change its configuration when it is ready")
		close(hold)
		synctest.Wait()
		r.wantIs(t, lifecycle.Ready, `{}`)
	})
}

func TestCommit_whoWaitsForItsTurnMayGiveUp(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		leave, err := r.Idle(t.Context(), "picky")
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = r.Commit(ctx, "picky", Change{Value: json.RawMessage(`{}`)})
		require.ErrorIs(t, err, context.Canceled)
		leave()
		require.NoError(t, r.set(t, `{"a":1}`))
	})
}

func TestCommit_tellsHowFarItIs(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = noBad
		r.start(t)
		events := r.Host.Subscribe(actors.KindConfiguration, 0)
		defer events.Close()
		var told []string
		follow := func(e actors.ConfigurationStatus) { told = append(told, string(e.Step)+" "+string(e.State)) }
		_, err := r.Commit(t.Context(), "picky", Change{Value: json.RawMessage(`{"secret":"s3cret"}`), Follow: follow})
		require.NoError(t, err)
		_, err = r.Commit(t.Context(), "picky", Change{Value: json.RawMessage(`{"bad":1}`), Follow: follow})
		require.Error(t, err)
		want := []string{
			"validate working", "validate working", "validate done", "plan working", "plan done",
			"commit working", "commit working", "commit working", "commit done",
			"validate working", "validate working", "validate failed",
		}
		require.Equal(t, want, told)
		for _, w := range want {
			e := (<-events.C).(actors.ConfigurationStatus)
			require.Equal(t, w, string(e.Step)+" "+string(e.State))
			require.Equal(t, "picky", e.Plugin)
			text, err := actors.EncodeEvent(e)
			require.NoError(t, err)
			require.NotContains(t, string(text), "s3cret")
		}
	})
}

// Who was configured while it was stopped is asked when it starts.
func TestStart_thePluginIsAskedAboutWhatItIsStartedWith(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = noBad
		require.NoError(t, r.set(t, `{"bad":1}`), "nobody could be asked")
		r.start(t)
		require.Equal(t, lifecycle.ConfigurationNeeded, r.newest("picky").Phase)
		require.Equal(t, "plugin picky refuses its configuration: this is bad", r.newest("picky").Reason)
		r.wantSeen(t)
		require.NoError(t, r.set(t, `{"a":1}`))
		r.wantIs(t, lifecycle.Ready, `{"a":1}`)
	})
}

func TestStart_whatIsGivenWhileThePluginIsAskedGoesFirst(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		asked := make(chan struct{})
		r.validate = func(context.Context, map[string]any) error { <-asked; return errors.New("too late") }
		require.NoError(t, r.set(t, `{"a":1}`))
		go func() { _, _ = r.Host.Start(context.Background(), r.m, r.Book.Start("picky", "")) }()
		synctest.Wait()
		now := r.newest("picky")
		require.Equal(t, lifecycle.Prepared, now.Phase)
		go func() {
			_, _ = r.Host.ApplyConfiguration(context.Background(), now.ID, protocol.Config{Full: json.RawMessage(`{"a":2}`)})
		}()
		synctest.Wait()
		close(asked)
		synctest.Wait()
		require.Equal(t, lifecycle.Ready, r.newest("picky").Phase)
		r.wantSeen(t, `{"a":2}`)
	})
}

func TestStart_aPluginThatDoesNotAnswerFails(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = func(ctx context.Context, _ map[string]any) error { <-ctx.Done(); return ctx.Err() }
		require.NoError(t, r.set(t, `{"a":1}`))
		_, err := r.Host.Start(t.Context(), r.m, r.Book.Start("picky", ""))
		wantFault(t, err, protocol.CodeTimeout, "the host's limit timeouts.call")
		require.Equal(t, lifecycle.Failed, r.newest("picky").Phase)
	})
}

func TestStart_aPluginIsStoppedWhileItIsAsked(t *testing.T) {
	within(t, func(r *rig) {
		t := r.t
		r.validate = func(ctx context.Context, _ map[string]any) error { <-ctx.Done(); return ctx.Err() }
		require.NoError(t, r.set(t, `{"a":1}`))
		go func() { _, _ = r.Host.Start(context.Background(), r.m, r.Book.Start("picky", "")) }()
		synctest.Wait()
		_, err := r.Host.Stop(t.Context(), r.newest("picky").ID)
		require.NoError(t, err)
		require.Empty(t, r.Host.Sessions())
	})
}
