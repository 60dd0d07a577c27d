package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/logtest"
	"github.com/airi-host/airi-host/internal/need"
)

func TestRun_stopsInOrderAtASignal(t *testing.T) {
	need.Node(t)
	t.Parallel()
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			c := startHost(t, "run", plugins)
			c.wantLine(t, `^serving 6 plugins; Ctrl-C stops them$`)
			c.signal(t, s)
			rest := c.rest()
			c.wantExit(t, exitDone)
			require.Regexp(t, `(?s)guest +ready +→ stopped.*greeter +ready +→ stopped`, rest)
			require.Regexp(t, `(?s)guest +ready +→ stopped.*echo +ready +→ stopped`, rest)
			require.Regexp(t, `notes +ready +→ stopped`, rest)
			require.NotContains(t, c.err.String(), "was killed")
		})
	}
}

// A wrapper may send one signal twice: to the process and to its group. How far apart
// they arrive is up to the machine.
func TestCountSignals_takesAnEchoForTheSameSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals, told := make(chan os.Signal, 2), 0
		ctx, second := context.WithCancel(t.Context())
		go countSignals(ctx, signals, func() { told++ }, second)
		synctest.Wait()
		require.Zero(t, told)
		signals <- syscall.SIGTERM
		signals <- os.Interrupt
		synctest.Wait()
		require.Equal(t, 1, told)
		time.Sleep(echo)
		signals <- syscall.SIGTERM
		synctest.Wait()
		require.NoError(t, ctx.Err())
		time.Sleep(time.Nanosecond)
		signals <- syscall.SIGTERM
		synctest.Wait()
		require.Error(t, ctx.Err())
		require.Equal(t, 1, told)
	})
}

// The reader of standard output keeps its end open and reads nothing, as a terminal
// does at Ctrl-S.
func TestRun_stopsThoughNobodyReads(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	var errOut logtest.Buffer
	code := make(chan int, 1)
	go func() { code <- Main(ctx, []string{"run", filepath.Join(plugins, "greeter")}, nil, w, &errOut) }()
	_, err := r.Read(make([]byte, 1)) // the rest of the line is stuck
	require.NoError(t, err)
	cancel()
	select {
	case got := <-code:
		require.Equal(t, exitFailed, got)
		require.Contains(t, errOut.String(), "not all of the output was written: its reader takes nothing")
	case <-time.After(patience):
		require.FailNow(t, "it waits for the reader")
	}
	require.NoError(t, r.Close())
}

// stubborn is a plugin that only SIGKILL ends: it does not listen, and does not come
// round to noticing that it should go. Whoever waits for it waits for a minute, which is
// longer than a test's patience.
func stubborn(t *testing.T) string {
	t.Helper()
	dir := writePlugin(t, "stubborn", `
		import { writeSync } from 'node:fs'
		process.on('SIGTERM', () => {})
		export const setupModules = () => {
			setTimeout(() => {
				writeSync(2, 'stuck\n')
				for (;;);
			}, 50)
		}
	`)
	file := filepath.Join(dir, "plugin.json")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	patient := strings.Replace(string(text), "{", `{"airi-host": {"timeouts": {"stop": "1m"}}, `, 1)
	require.NoError(t, os.WriteFile(file, []byte(patient), 0o644))
	return dir
}

func TestRun_killsAtTheSecondSignal(t *testing.T) {
	need.Node(t)
	t.Parallel()
	c := startHost(t, "run", stubborn(t), filepath.Join(plugins, "greeter"), "--drain", "1m")
	c.wantLine(t, `^serving 2 plugins`)
	c.wantLogged(t, "stuck")
	c.signal(t, os.Interrupt)
	c.wantLine(t, `greeter +ready +→ stopped$`)
	time.Sleep(2 * echo) // sooner it is an echo
	c.signal(t, os.Interrupt)
	c.wantExit(t, exitDone)
	require.Contains(t, c.err.String(), "what did not stop in time was killed")
}

func TestRun_killsWhenTheDrainTimeIsOver(t *testing.T) {
	need.Node(t)
	t.Parallel()
	c := startHost(t, "run", stubborn(t), "--drain", "300ms")
	c.wantLine(t, `^serving 1 plugin; Ctrl-C stops it$`)
	c.wantLogged(t, "stuck")
	c.signal(t, os.Interrupt)
	c.wantExit(t, exitDone)
	require.Contains(t, c.err.String(), "what did not stop in time was killed")
}

func TestRun_stopsDuringTheStart(t *testing.T) {
	need.Node(t)
	t.Parallel()
	for _, mode := range []struct {
		args []string
		code int
	}{{nil, exitDone}, {[]string{"--once"}, exitFailed}} {
		t.Run(filepath.Join(mode.args...), func(t *testing.T) {
			t.Parallel()
			c := startHost(t, append([]string{"run", "--output", "text"}, append(mode.args, filepath.Join(broken, "silent"), filepath.Join(plugins, "greeter"))...)...)
			c.wantLine(t, `silent +announced +→ preparing$`)
			c.signal(t, os.Interrupt)
			rest := c.rest()
			c.wantExit(t, mode.code)
			require.Regexp(t, `silent +preparing +→ stopped`, rest)
			require.NotContains(t, rest, "plugins ready", "that is not known")
			if mode.code != exitDone {
				require.Contains(t, c.err.String(), "airi-host: interrupted before the plugins had started\n")
			}
		})
	}
}

// A reader that goes away must not take the plugins with it.
func TestRun_outlivesItsReader(t *testing.T) {
	need.Node(t)
	t.Parallel()
	c := startHost(t, "run", filepath.Join(plugins, "greeter"), filepath.Join(plugins, "notes"))
	require.NoError(t, c.out.Close())
	c.wantLogged(t, "the host has")
	c.signal(t, os.Interrupt)
	c.wantExit(t, exitDone)
}

func TestInterrupted_ends(t *testing.T) {
	first, second, release := interrupted(context.Background(), true)
	require.NoError(t, first.Err())
	require.NoError(t, second.Err())
	release()
	<-first.Done()
	<-second.Done()
}

// Whoever interrupts a call knows that it had no answer.
func TestCall_saysThatItWasInterrupted(t *testing.T) {
	need.Node(t)
	t.Parallel()
	c := startHost(t, "call", "model:WAIT", "--dir", writePlugin(t, "waits", `
		import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
		export const setupModules = ({ channels: { host } }) => {
			defineInvokeHandler(host, defineInvokeEventa('model:WAIT'), () => {
				console.log('asked')
				return new Promise(() => {})
			})
		}
	`))
	c.wantLogged(t, "asked")
	c.signal(t, os.Interrupt)
	c.wantExit(t, exitFailed)
	require.Contains(t, c.err.String(), "airi-host: interrupted\n")
}
