package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// channelParams ask the porter for a channel to a command.
func channelParams(t *testing.T, command ...string) json.RawMessage {
	t.Helper()
	words, err := json.Marshal(command)
	require.NoError(t, err)
	return json.RawMessage(fmt.Sprintf(`{"driverKey":"shed","environmentId":"e","providerLeaseId":"l","command":%s}`, words))
}

// opens opens a channel of the porter's.
func (h *home) opens(t *testing.T, command ...string) *actors.Route {
	t.Helper()
	r, err := h.OpenDuplex(t.Context(), actors.RouteRequest{Plugin: "porter", Scope: "acme", Params: channelParams(t, command...)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestHost_opensChannels(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip916, "", nil)
	h.start(t, "porter", Changes{})
	for name, run := range map[string]func(*testing.T, *home){
		"to a program": pipesThroughAProgram, "that pours": poursIntoAChannel, "that ends early": endsEarly, "that is refused": refusesChannels,
		"whose program is lost": losesAProgram,
	} {
		t.Run(name, func(t *testing.T) { run(t, h) })
	}
	require.Equal(t, 0, h.routes.Open())
}

func pipesThroughAProgram(t *testing.T, h *home) {
	t.Helper()
	r := h.opens(t, "cat")
	sent := bytes.Repeat([]byte("\x00\xff\r\n\u2028é"), 100_000) // more than may be on its way
	wrote := make(chan error, 1)
	go func() {
		_, err := r.Write(sent)
		wrote <- err
	}()
	got := make([]byte, len(sent))
	_, err := io.ReadFull(r, got)
	require.NoError(t, err)
	require.NoError(t, <-wrote)
	require.True(t, bytes.Equal(sent, got))
	r.Stop()
	wantRouteExit(t, r, protocol.Exit{Code: 143, HasCode: true})
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Empty(t, rest)
}

func poursIntoAChannel(t *testing.T, h *home) {
	t.Helper()
	r := h.opens(t, "@pour", "500", "65536")
	got, err := io.Copy(io.Discard, r)
	require.NoError(t, err)
	require.EqualValues(t, 500*65536, got)
	wantRouteExit(t, r, protocol.Exit{HasCode: true})
}

// What comes before the open is answered is not lost.
func endsEarly(t *testing.T, h *home) {
	t.Helper()
	r := h.opens(t, "@early")
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "early", string(got))
	wantRouteExit(t, r, protocol.Exit{Code: 7, HasCode: true})
}

func losesAProgram(t *testing.T, h *home) {
	t.Helper()
	wantRouteExit(t, h.opens(t, "@lost"), protocol.Exit{Lost: true})
}

func refusesChannels(t *testing.T, h *home) {
	t.Helper()
	_, err := h.OpenDuplex(t.Context(), actors.RouteRequest{Plugin: "porter", Scope: "acme", Params: channelParams(t, "@refuse")})
	wantPeerError(t, err, "7", "there is no such door")
	_, err = h.OpenDuplex(t.Context(), actors.RouteRequest{Plugin: "porter", Params: channelParams(t, "cat")})
	require.ErrorContains(t, err, "needs a company")
	_, err = h.OpenDuplex(t.Context(), actors.RouteRequest{Plugin: "porter", Scope: "acme", Params: json.RawMessage(`{"command":["cat"]}`)})
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
	require.ErrorContains(t, err, "driverKey")
}

// wantRouteExit waits for how a program ends.
func wantRouteExit(t *testing.T, r *actors.Route, want protocol.Exit) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := r.Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// A worker that cannot be trusted with its channels is ended, and stays so.
func TestHost_retiresWorkers(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{
		"@forge": "duplexChannel.data came for a channel that is not its own",
		"@keep":  "duplexChannelClose of duplex-route-1 was not confirmed",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openHome(t, Paperclip916, "", nil)
			h.start(t, "porter", Changes{})
			r := h.opens(t, name)
			if name == "@keep" {
				require.NoError(t, r.Close())
			}
			_, err := r.Wait(t.Context())
			require.Error(t, err)
			eventually(t, func() bool { return h.session(t, "porter").Phase == lifecycle.Failed }, h.journal)
			is := h.session(t, "porter")
			require.Contains(t, is.Reason, why)
			require.Zero(t, is.Worker.Crashes)
			require.Zero(t, h.routes.Open())
			_, err = h.OpenDuplex(t.Context(), actors.RouteRequest{Plugin: "porter", Scope: "acme", Params: channelParams(t, "cat")})
			require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err))
		})
	}
}

// Both builds have terminals for logins: one at a time in 2026.824, several since.
func TestHost_opensTerminals(t *testing.T) {
	t.Parallel()
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			h := openHome(t, release, "", nil)
			h.start(t, "porter", Changes{})
			for _, row := range []struct {
				keys, last string
				code       int
			}{{"abc\r", "abc\r\ngot abc\r\n", 0}, {"wrong\r", "wrong\r\ngot wrong\r\n", 1}, {"a\x03", "a^C\r\n", 130}} {
				r := h.logsIn(t)
				_, err := io.ReadFull(r, make([]byte, len("code: ")))
				require.NoError(t, err)
				_, err = r.Write([]byte(row.keys))
				require.NoError(t, err)
				got, err := io.ReadAll(r)
				require.NoError(t, err)
				require.Equal(t, row.last, string(got))
				wantRouteExit(t, r, protocol.Exit{Code: row.code, HasCode: true})
				require.NoError(t, r.Close())
			}
			first := h.logsIn(t)
			_, err := h.OpenPTY(t.Context(), loginRequest())
			if release == Paperclip {
				require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err))
			} else {
				require.NoError(t, err)
			}
			first.Stop()
			wantRouteExit(t, first, protocol.Exit{Code: 143, HasCode: true})
		})
	}
}

func loginRequest() actors.RouteRequest {
	return actors.RouteRequest{Plugin: "porter", Scope: "acme", Params: json.RawMessage(
		`{"driverKey":"shed","environmentId":"e","providerLeaseId":"l","loginCommandKey":"claude"}`)}
}

// logsIn opens a login; one that is still being closed is waited for.
func (h *home) logsIn(t *testing.T) *actors.Route {
	t.Helper()
	var r *actors.Route
	eventually(t, func() bool {
		var err error
		if r, err = h.OpenPTY(t.Context(), loginRequest()); protocol.CodeOf(err) == protocol.CodeOverloaded {
			return false
		}
		require.NoError(t, err)
		return true
	}, h.journal)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// A command's log comes before its result, from workers of both builds.
func TestHost_executesCommands(t *testing.T) {
	t.Parallel()
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			h := openHome(t, release, "", nil)
			h.start(t, "porter", Changes{})
			execute := func(sink func(protocol.LogChunk) error, rest string) (actors.Executed, error) {
				return h.Execute(t.Context(), actors.ExecuteRequest{Driver: "shed", Scope: "acme", Params: json.RawMessage(
					`{"environmentId":"e","config":{},"lease":{"providerLeaseId":"l"},` + rest + `}`)}, sink)
			}
			var stdout, stderr strings.Builder
			into := func(c protocol.LogChunk) error {
				if c.Stream == protocol.LogStdout {
					stdout.Write(c.Text)
				} else {
					stderr.Write(c.Text)
				}
				return nil
			}
			got, err := execute(into, `"command":"sh","args":["-c","cat; echo oops >&2; exit 3"],"stdin":"é\u2028\ud83d\ude00\n"`)
			require.NoError(t, err)
			require.Equal(t, 3, *got.ExitCode)
			require.Equal(t, "é\u2028😀\n", got.Stdout)
			require.Equal(t, got.Stdout, stdout.String())
			require.Equal(t, "oops\n", stderr.String())

			stdout.Reset()
			_, err = execute(into, `"command":"@log","args":["1000","16384"]`)
			require.NoError(t, err)
			require.Equal(t, 1000*16384, stdout.Len(), "%v", h.session(t, "porter").Dropped)

			got, err = execute(nil, `"command":"true"`)
			require.NoError(t, err)
			require.Equal(t, 0, *got.ExitCode)
		})
	}
}

// Streams are told as they come, and those that a worker leaves open are closed by its end.
func TestHost_tellsOfStreams(t *testing.T) {
	t.Parallel()
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			h := openHome(t, release, "", nil)
			h.start(t, "porter", Changes{})
			sub := h.Subscribe(actors.KindStream, 0)
			defer sub.Close()
			h.wantActs(t, `null`, "porter", "streams", "acme", `{"channel":"news","companyId":"acme","events":[{"n":1},null]}`)
			h.wantActs(t, `null`, "porter", "streams", "acme", `{"channel":"others","company":"globex","events":[1]}`)
			h.wantActs(t, `null`, "porter", "streams", "globex", `{"channel":"left","companyId":"globex","open":true}`)
			_, err := h.acts(t, "porter", "die", "acme", `{}`)
			require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err))
			var got []string
			for range 6 {
				select {
				case e := <-sub.C:
					s := e.(actors.Streamed)
					got = append(got, fmt.Sprint(s.What, " ", s.Channel, " ", s.Scope, " ", string(s.Item), " ", s.Lost))
				case <-time.After(patience):
					require.FailNow(t, "it has not come", got)
				}
			}
			require.Equal(t, []string{
				"open news acme  false", `item news acme {"n":1} false`, "item news acme null false", "close news acme  false",
				"open left globex  false", "close left globex  true",
			}, got)
		})
	}
}

// Routes by the hundred, over workers that are killed meanwhile: none is left, none of the
// ceiling is lost, and memory comes back.
func TestHost_holdsToTheCeilingWhateverDies(t *testing.T) {
	t.Parallel()
	const workers, many, most = 10, 500, 64
	routes := paperclip.NewRoutes(most)
	h := openHome(t, Paperclip916, "", func(o *actors.Options) {
		o.Restart = actors.RestartPolicy{First: 50 * time.Millisecond, Jitter: -1, MaxInARow: 1000}
		o.Dialects[1] = paperclip.Dialect{Plugin: o.Dialects[1].(paperclip.Dialect).Plugin, Shared: routes}
	})
	h.routes = routes
	for i := range workers {
		h.start(t, "porter", Changes{ID: fmt.Sprintf("porter-%d", i)})
	}
	before := heapInUse()
	var opened, refused atomic.Int64
	var all sync.WaitGroup
	done := make(chan struct{})
	go func() { // kills go on until all routes have had their time
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-time.After(150 * time.Millisecond):
				killWorker(h, fmt.Sprintf("porter-%d", rand.IntN(workers)))
			}
		}
	}()
	for i := range many {
		all.Go(func() {
			if h.echoes(t, fmt.Sprintf("porter-%d", i%workers), most) {
				opened.Add(1)
			} else {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	close(done)
	t.Logf("%d routes were open, %d were not opened or were lost", opened.Load(), refused.Load())
	require.Positive(t, opened.Load())
	eventually(t, func() bool { return h.routes.Open() == 0 }, "routes")
	eventually(t, func() bool { return h.Routes()[protocol.RouteDuplex].Open == 0 }, "routes that are counted as open")
	require.Less(t, heapInUse(), before+64<<20)
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// killWorker kills a worker's process, if it has one.
func killWorker(h *home, plugin string) {
	if is, err := h.Inspect(plugin); err == nil && is.Process != nil {
		if p, err := os.FindProcess(is.Process.PID); err == nil {
			_ = p.Kill()
		}
	}
}

// echoes opens a route as soon as there is one, has it give back what it gets, and tells
// whether it did: it may be killed, or refused while its worker is down.
func (h *home) echoes(t *testing.T, plugin string, most int) bool {
	t.Helper()
	for range 1000 {
		if n := h.routes.Open(); n > most {
			t.Errorf("%d routes are open, more than %d", n, most)
			return false
		}
		r, err := h.OpenDuplex(t.Context(), actors.RouteRequest{Plugin: plugin, Scope: "acme", Params: channelParams(t, "@echo")})
		switch {
		case protocol.CodeOf(err) == protocol.CodeOverloaded:
			time.Sleep(5 * time.Millisecond)
			continue
		case err != nil:
			return false
		}
		defer func() { _ = r.Close() }() // it always succeeds
		sent := bytes.Repeat([]byte(plugin), 4096)
		if _, err := r.Write(sent); err != nil {
			return false
		}
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(r, got); err != nil {
			return false
		}
		if !bytes.Equal(sent, got) {
			t.Errorf("route of %s: what came back is not what was sent", plugin)
		}
		return true
	}
	return false
}
