package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"

	"github.com/airi-host/airi-host/internal/need"
)

// spooledTo is an output with a spool of so many bytes.
func spooledTo(w io.Writer, most int) (o *output, end func()) {
	o = newOutput(w)
	room := queues{bytes: most, patience: readerPatience}
	return o, o.spooled(room, lastWords, func(n int) string { return lostLine(n, false, "") })
}

func TestSpool_writesBeforeItReturnsWhileItsReaderReads(t *testing.T) {
	var w bytes.Buffer
	o, end := spooledTo(&w, maxBacklog)
	for i := range 100 {
		fmt.Fprintf(o, "%d\n", i)
		require.True(t, strings.HasSuffix(w.String(), fmt.Sprintf("%d\n", i)), "a crash would lose it")
	}
	end()
	end()
	fmt.Fprintln(o, "late")
	require.True(t, strings.HasSuffix(w.String(), "99\nlate\n"))
}

func TestSpool_letsNobodyWaitForAStuckReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		o, end := spooledTo(w, 20)
		began := time.Now()
		fmt.Fprintln(o, "one") // is on its way
		require.Equal(t, readerPatience, time.Since(began))
		for range 10 {
			fmt.Fprintln(o, "more")
		}
		require.Equal(t, readerPatience, time.Since(began), "one has waited, nobody else does")
		got := make(chan string)
		go func() {
			all, _ := io.ReadAll(r)
			got <- string(all)
		}()
		synctest.Wait()
		fmt.Fprintln(o, "again")
		end()
		require.NoError(t, w.Close())
		require.Equal(t, "one\nmore\nmore\nmore\nmore\n… 6 lines were lost: nobody read on\nagain\n", <-got)
		require.NoError(t, o.failure())
	})
}

func TestSpool_endsInTime(t *testing.T) {
	for _, c := range []struct {
		name string
		// each is how long the reader takes for each read.
		each, want time.Duration
		err        error
	}{
		{"stuck", time.Hour, stuckAfter, errStuck},
		{"slow", 600 * time.Millisecond, lastWords + stuckAfter, errStuck},
		{"slow but soon done", time.Millisecond, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				go func() {
					for piece := make([]byte, 2*spoolPiece); ; {
						time.Sleep(c.each)
						if _, err := r.Read(piece); err != nil {
							return
						}
					}
				}()
				o, end := spooledTo(w, maxBacklog)
				for range 20 {
					fmt.Fprintln(o, strings.Repeat("x", spoolPiece))
				}
				began := time.Now()
				end()
				require.LessOrEqual(t, time.Since(began), max(c.want, readerPatience))
				require.ErrorIs(t, o.failure(), c.err)
				fmt.Fprintln(o, "after that nothing waits")
				require.NoError(t, w.Close())
				require.NoError(t, r.Close())
				time.Sleep(c.each) // the reader ends
			})
		})
	}
}

func TestLostLine_isJSONAmongJSON(t *testing.T) {
	require.Equal(t, `{"event":"gap","missed":7}`, lostLine(7, true, `{"event":"gap","missed":%d}`))
}

// stuckPipe is the end to write to of a pipe that is full, and that nobody reads.
func stuckPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, r.Close())
		require.NoError(t, w.Close())
	})
	require.NoError(t, w.SetWriteDeadline(time.Now().Add(10*time.Millisecond)))
	_, err = io.Copy(w, noEnd{})
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	return w
}

// noEnd is a text without an end.
type noEnd struct{}

func (noEnd) Read(p []byte) (int, error) { return len(p), nil }

// Whoever reads a host's output may hang. The host goes on, and stops in time.
func TestRun_goesOnWhereNobodyReadsWhatItSays(t *testing.T) {
	need.Node(t)
	for _, args := range [][]string{{}, {"--output", "json"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			chatty := writePlugin(t, "chatty", `
				import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
				export const setupModules = ({ channels }) => {
					defineInvokeHandler(channels.host, defineInvokeEventa('tool:chatty'), () => {
						for (let i = 0; i < 50; i++) console.log('words '.repeat(100))
						return { content: 'done' }
					})
				}`)
			cmd := exec.Command("airi-host", append(unheard([]string{"run", "--state", state, "--log-level", "debug", chatty}), args...)...)
			cmd.Env = append(os.Environ(), "GORACE="+quickExit)
			pipe := stuckPipe(t)
			cmd.Stdout, cmd.Stderr = pipe, pipe
			require.NoError(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			t.Cleanup(func() { _ = cmd.Process.Kill() })

			host := clientOf(state)
			wantPhases(t, host, map[string]lifecycle.State{"chatty": lifecycle.Ready})
			for range 10 {
				require.NoError(t, <-callTool(t, host, "chatty", 0))
			}
			_, err := host.Command(t.Context(), "reload", "chatty")
			require.NoError(t, err)
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			began := time.Now()
			select {
			case err := <-ended:
				require.ErrorContains(t, err, "exit status 1", "not all was written")
			case <-time.After(patience):
				require.FailNow(t, "it does not stop")
			}
			require.Less(t, time.Since(began), 15*time.Second)
		})
	}
}

// A host that is told to tell how it stands does so, whatever stands before its log.
func TestRun_crashesAloud(t *testing.T) {
	c := startHost(t, "run", plugins+"/greeter")
	c.wantLine(t, "serving 1 plugin")
	c.signal(t, syscall.SIGQUIT)
	c.rest()
	_ = c.cmd.Wait()
	require.Contains(t, c.err.String(), "goroutine ")
}
