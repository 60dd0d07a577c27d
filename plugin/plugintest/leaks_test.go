package plugintest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/plugin/plugintest"
)

// leaver starts a goroutine that goes on until free is closed.
func leaver(free chan struct{}) *plugin.Definition {
	return plugin.Define("leaver").OnInit(func(context.Context, *plugin.Session) error {
		started := make(chan struct{})
		go func() {
			go func() {
				close(started)
				wait(free)
			}()
		}()
		<-started
		return nil
	})
}

func wait(free chan struct{}) { <-free }

func TestHost_aGoroutineThatIsLeftFailsTheTest(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	r := &recorder{TB: t}
	plugintest.Start(r, leaver(free), plugintest.Options{Settle: 10 * time.Millisecond})
	sound := plugintest.Start(t, plugin.Define("sound"), plugintest.Options{})
	require.NoError(t, sound.Stop(), "another one's goroutines are not its own")
	r.end()
	require.Len(t, r.said, 1)
	require.Contains(t, r.said[0], "plugin leaver: goroutines are left 10ms after it was stopped: end them with their context, or in OnStop\n")
	require.Contains(t, r.said[0], "plugintest_test.wait")
	close(free)

	other := make(chan struct{})
	r = &recorder{TB: t}
	plugintest.Start(r, leaver(other), plugintest.Options{Settle: time.Millisecond, Ignore: []string{"plugintest_test.wait"}})
	r.end()
	require.Empty(t, r.said)
	close(other)
}

func TestHost_aHandlerThatDoesNotHeedItsContextIsLeft(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	r := &recorder{TB: t}
	p := plugin.Define("deaf")
	plugin.Model(p, "M", func(context.Context, any) (any, error) { wait(free); return nil, nil })
	host := plugintest.Start(r, p, plugintest.Options{CallTime: time.Millisecond, Settle: time.Millisecond})
	require.ErrorContains(t, host.Call("model:M", nil, nil), "within 1ms")
	require.NoError(t, host.Stop())
	require.Contains(t, r.said[0], "plugin deaf: goroutines are left")
	close(free)
	r.end()
}

func TestHost_goroutinesHaveTimeToSettle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := plugintest.Start(t, plugin.Define("slow").OnInit(func(ctx context.Context, _ *plugin.Session) error {
			go func() {
				<-ctx.Done()
				time.Sleep(900 * time.Millisecond)
			}()
			return nil
		}), plugintest.Options{})
		began := time.Now()
		require.NoError(t, host.Stop())
		require.InDelta(t, 900, time.Since(began).Milliseconds(), 5)
	})
}
