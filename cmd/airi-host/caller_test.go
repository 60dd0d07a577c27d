package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

func manifests(list ...*manifest.Manifest) []*manifest.Manifest { return list }

// ofProgram is the manifest of a plugin that is compiled into a test's host.
func ofProgram(name string) *manifest.Manifest {
	m := greeterCalled(name)
	m.Entrypoints.Go = new("builtin:" + name)
	return m
}

// say defines a plugin that offers tool:say, and whose init waits for a channel.
func say(name string, initial <-chan struct{}) *plugin.Definition {
	p := plugin.Define(name)
	plugin.Tool(p, "say", func(context.Context, any) (plugin.Result, error) { return plugin.Text(name), nil })
	p.OnInit(func(ctx context.Context, _ *plugin.Session) error {
		select {
		case <-initial:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return p
}

// callerOn makes a caller on a host with two plugins: quick is ready at once, slow
// when the channel is closed.
func callerOn(t *testing.T, call protocol.Call) (*caller, chan struct{}) {
	t.Helper()
	now, later := make(chan struct{}), make(chan struct{})
	close(now)
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{
		"quick": say("quick", now), "slow": say("slow", later),
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Shutdown(context.Background())) })
	return &caller{
		host: host, list: manifests(ofProgram("slow"), ofProgram("quick")), call: call,
		journal: follow(host, eventQueue, func(actors.Event) {}),
	}, later
}

func TestCaller_callsAsSoonAsTheKeyIsReady(t *testing.T) {
	k, later := callerOn(t, protocol.Call{Key: "tool:say"})
	defer close(later)
	result, err := k.run(context.Background())
	require.NoError(t, err)
	require.JSONEq(t, `{"content":"quick"}`, string(result))
	require.Nil(t, k.outcomes, "it waited for the other plugin")
}

// TestCaller_followsTheCall sees the command line's own lines.
func TestCaller_followsTheCall(t *testing.T) {
	p := plugin.Define("counts")
	plugin.Stream(p, "model:COUNT", func(ctx context.Context, _ any, emit func(any) error) error {
		if err := errors.Join(emit(1), emit(map[string]string{"two": "<2>"})); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	synctest.Test(t, func(t *testing.T) {
		afterHosts(t)
		host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"counts": p}})
		require.NoError(t, err)
		defer func() { require.NoError(t, host.Shutdown(context.Background())) }()
		var out bytes.Buffer
		c := &cli{out: newOutput(&out), output: outputText}
		k := &caller{
			host: host, list: manifests(ofProgram("counts")), journal: follow(host, eventQueue, func(actors.Event) {}),
			call: protocol.Call{Key: "model:COUNT", Progress: c.printItem, Idle: 100 * time.Millisecond},
		}
		_, err = k.run(context.Background())
		require.EqualError(t, err, "model:COUNT of plugin counts made no progress for 100ms (the call's own idle limit)")
		require.Equal(t, `{"event":"progress","item":1}`+"\n"+`{"event":"progress","item":{"two":"\u003c2\u003e"}}`+"\n", out.String())
	})
}

func TestCaller_waitsForThePluginThatIsNamed(t *testing.T) {
	k, later := callerOn(t, protocol.Call{Key: "tool:say", Plugin: "slow"})
	phases := k.host.Subscribe(actors.KindPhase, 0)
	defer phases.Close()
	go func() {
		for e := range phases.C {
			if e := e.(actors.PhaseChanged); e.Plugin == "quick" && e.To == lifecycle.Ready {
				close(later)
				return
			}
		}
	}()
	result, err := k.run(context.Background())
	require.NoError(t, err)
	require.JSONEq(t, `{"content":"slow"}`, string(result))
}

func TestCaller_endsAtTheDeadline(t *testing.T) {
	const limit = 500 * time.Millisecond
	for plugin, want := range map[string]string{
		"":     "tool:other was not ready before the deadline (--timeout 500ms)",
		"slow": "is not ready: preparing before the deadline",
	} {
		synctest.Test(t, func(t *testing.T) {
			afterHosts(t)
			k, later := callerOn(t, protocol.Call{Key: "tool:other", Plugin: plugin, Deadline: time.Now().Add(limit)})
			k.timeout = limit
			_, err := k.run(context.Background())
			require.ErrorContains(t, err, want)
			require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err))
			culprits := k.culprits(err)
			require.Len(t, culprits, 1)
			require.Equal(t, "slow", culprits[0].Plugin)
			close(later)
		})
	}
}

// afterHosts lets what hosts in fake time leave behind come to its end.
func afterHosts(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { time.Sleep(2 * time.Second) }) // the actor library's dead letters
}

func TestCaller_listsWhatThereIs(t *testing.T) {
	k, later := callerOn(t, protocol.Call{Key: "tool:other"})
	close(later)
	_, err := k.run(context.Background())
	require.EqualError(t, err, "nobody offers tool:other; there are: tool:say")
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
	require.Empty(t, k.culprits(err), "all are ready")
}

func TestCaller_blamesNobodyForAPluginThatIsNotThere(t *testing.T) {
	k, later := callerOn(t, protocol.Call{Key: "tool:say", Plugin: "nobody"})
	defer close(later)
	_, err := k.run(context.Background())
	require.EqualError(t, err, "--plugin nobody: there is no such plugin; there are: slow, quick")
	require.Empty(t, k.culprits(err), "none of them was started")
}

func TestCaller_endsWhenItIsInterrupted(t *testing.T) {
	k, later := callerOn(t, protocol.Call{Key: "tool:other"})
	defer close(later)
	stop, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := k.run(stop)
	require.ErrorIs(t, err, errInterrupted)
}

func TestCaller_knowsAllOwnersWhereThatMatters(t *testing.T) {
	for name, row := range map[string]struct {
		key      string
		priority int
		want     string
	}{
		"one owner at a time": {"data:d", 0, "data:d is offered by several plugins (quick, slow)"},
		"a higher priority":   {"tool:t", 1, `"slow"`},
	} {
		t.Run(name, func(t *testing.T) {
			later := make(chan struct{})
			owner := func(name string, initial <-chan struct{}) protocol.Program {
				p := say(name, initial)
				plugin.Data(p, "d", func(context.Context, any) (string, error) { return name, nil })
				plugin.Tool(p, "t", func(context.Context, any) (plugin.Result, error) { return plugin.Result{Data: name}, nil })
				return p
			}
			now := make(chan struct{})
			close(now)
			host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"quick": owner("quick", now), "slow": owner("slow", later)}})
			require.NoError(t, err)
			defer func() { require.NoError(t, host.Shutdown(context.Background())) }()
			slow := ofProgram("slow")
			slow.Host.Priority = row.priority
			phases := host.Subscribe(actors.KindPhase, 0)
			defer phases.Close()
			go func() {
				for e := range phases.C {
					if e := e.(actors.PhaseChanged); e.Plugin == "quick" && e.To == lifecycle.Ready {
						time.AfterFunc(50*time.Millisecond, func() { close(later) })
						return
					}
				}
			}()
			k := &caller{
				host: host, list: manifests(slow, ofProgram("quick")), call: protocol.Call{Key: row.key},
				journal: follow(host, eventQueue, func(actors.Event) {}),
			}
			result, err := k.run(context.Background())
			require.Contains(t, string(result)+fmt.Sprint(err), row.want)
		})
	}
}

func TestCaller_endsACallThatIsInterrupted(t *testing.T) {
	stop, cancel := context.WithCancel(context.Background())
	p := plugin.Define("counts")
	plugin.Model(p, "HANG", func(ctx context.Context, _ any) (any, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"counts": p}})
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Shutdown(context.Background())) }()
	k := &caller{
		host: host, list: manifests(ofProgram("counts")), call: protocol.Call{Key: "model:HANG"},
		journal: follow(host, eventQueue, func(actors.Event) {}),
	}
	_, err = k.run(stop)
	require.ErrorIs(t, err, errGaveUp)
}

// What is offered and not ready is no help, and patterns hear what they are for.
func TestUnheardEvent(t *testing.T) {
	offers := []capability.Offer{
		{Key: "event:issue.*", Invocable: true, State: lifecycle.CapReady},
		{Key: "event:late", Invocable: true, State: lifecycle.CapDegraded},
		{Key: "event:awaited", State: lifecycle.CapReady},
		{Key: "tool:x", Invocable: true, State: lifecycle.CapReady},
	}
	for key, want := range map[string]string{
		"event:issue.made": "",
		"event:other.made": "nobody hears event:other.made; heard are: event:issue.*",
		"event:late":       "nobody hears event:late; heard are: event:issue.*",
		"event:awaited":    "nobody hears event:awaited; heard are: event:issue.*",
	} {
		require.Equal(t, want, unheardEvent(key, offers))
	}
	require.Equal(t, "nobody hears event:e", unheardEvent("event:e", nil))
	require.Equal(t, []string{"event:issue.*", "tool:x"}, invocable(offers))
}

func TestCaller_boundsTheListOfKeys(t *testing.T) {
	p := plugin.Define("many")
	for i := range 2 * maxKeys {
		plugin.Tool(p, fmt.Sprintf("%02d", i), func(context.Context, any) (plugin.Result, error) { return plugin.Text(""), nil })
	}
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"many": p}})
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Shutdown(context.Background())) }()
	_, err = host.Start(context.Background(), ofProgram("many"), actors.StartOptions{})
	require.NoError(t, err)

	keys := invocable((&caller{host: host}).offers())
	require.Len(t, keys, 2*maxKeys)
	require.Regexp(t, `^tool:00, .*, tool:19, …$`, listed(keys))
	require.Len(t, keys, 2*maxKeys, "it is left as it was")
}
