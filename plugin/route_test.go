package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// far is what the host's end sees of one route.
type far struct {
	h  *host
	id protocol.RouteID

	mu     sync.Mutex
	came   bytes.Buffer
	more   sync.Cond
	told   []string
	exit   protocol.Exit
	failed error
	// room is how many bytes of writes are not taken.
	room int
}

// routes are the routes of a host, by their numbers.
type routes struct {
	h    *host
	mu   sync.Mutex
	all  map[protocol.RouteID]*far
	last protocol.RouteID
}

func (h *host) routes() *routes {
	v := &routes{h: h, all: map[protocol.RouteID]*far{}}
	h.heard = v.hear
	return v
}

func (v *routes) hear(e protocol.Effect) {
	switch e := e.(type) {
	case protocol.RouteOpened:
		v.of(e.ID).tell("opened", nil)
	case protocol.RouteRefused:
		v.of(e.ID).tell("refused", func(f *far) { f.failed = e.Err })
	case protocol.Chunk:
		v.of(e.ID).tell("", func(f *far) { f.came.Write(e.Data) })
	case protocol.RouteWritten:
		v.of(e.ID).tell("", func(f *far) { f.room -= e.Bytes })
	case protocol.RouteExited:
		v.of(e.ID).tell("exited", func(f *far) { f.exit = e.Exit })
	case protocol.RouteEnded:
		v.of(e.ID).tell("ended", func(f *far) { f.failed = e.Err })
	case protocol.RouteClosed:
		v.of(e.ID).tell("closed", nil)
	}
}

func (v *routes) of(id protocol.RouteID) *far {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.all[id]
}

// open asks for a route and does not wait.
func (v *routes) open(kind protocol.RouteKind, params string) *far {
	v.mu.Lock()
	v.last++
	f := &far{h: v.h, id: v.last}
	f.more.L = &f.mu
	v.all[f.id] = f
	v.mu.Unlock()
	v.h.step(protocol.OpenRoute{ID: f.id, Route: protocol.Route{Kind: kind, Scope: company, Params: []byte(params)}})
	return f
}

// tell notes what happened, under the lock.
func (f *far) tell(what string, do func(*far)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if what != "" {
		f.told = append(f.told, what)
	}
	if do != nil {
		do(f)
	}
	f.more.Broadcast()
}

// await waits until something holds, which is looked at under the lock.
func (f *far) await(holds func() bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !holds() {
		f.more.Wait()
	}
}

// wantTold waits until so much was told, and compares.
func (f *far) wantTold(words string) {
	f.h.t.Helper()
	want := strings.Fields(words)
	f.await(func() bool { return len(f.told) >= len(want) })
	require.Equal(f.h.t, want, f.told)
}

// wantCame waits for so many bytes, and compares.
func (f *far) wantCame(text string) {
	f.h.t.Helper()
	f.await(func() bool { return f.came.Len() >= len(text) })
	require.Equal(f.h.t, text, f.came.String())
	f.came.Reset()
}

// opened waits until it is open, and reads.
func (f *far) opened() *far {
	f.h.t.Helper()
	f.wantTold("opened")
	f.h.step(protocol.ReadRoute{ID: f.id})
	return f
}

// write writes, when there is room for it.
func (f *far) write(data []byte) {
	const room = 128 << 10
	f.await(func() bool { return f.room < room })
	f.tell("", func(f *far) { f.room += len(data) })
	f.h.step(protocol.WriteRoute{ID: f.id, Data: data})
}

func (f *far) close() { f.h.step(protocol.CloseRoute{ID: f.id}) }
func (f *far) stop()  { f.h.step(protocol.StopRoute{ID: f.id}) }

// What a host opens routes with.
const (
	placed  = `"driverKey":"shed","environmentId":"e","providerLeaseId":"l"`
	channel = `{` + placed + `,"command":["cat","-u"]}`
	login   = `{` + placed + `,"loginCommandKey":"claude","sessionHome":"/tmp/paperclip-adapter-login/0f0e0d0c-1234-4321-8888-0123456789ab"}`
	older   = `{` + placed + `,"command":"claude setup-token"}`
)

// serving is a worker whose driver serves routes, with a host.
func serving(t *testing.T, o plugin.PaperclipOptions, hooks plugin.EnvironmentHooks) (*host, *routes) {
	t.Helper()
	p := plugin.Define("serving")
	plugin.Environment(p, "shed", hooks)
	h := newHost(t).serve(t.Context(), p, o)
	v := h.routes()
	require.NoError(t, h.start(`{"manifest":{"id":"serving","environmentDrivers":[{"driverKey":"shed"}]},"config":{}}`))
	return h, v
}

// echo gives all back that it gets, until the route is over.
func echo(_ context.Context, _ plugin.ChannelRequest, r *plugin.Route) (plugin.Exit, error) {
	if err := r.Accept(); err != nil {
		return plugin.Exit{}, err
	}
	_, err := io.Copy(r, r)
	return plugin.Exited(0), err
}

func TestRoute_carriesBytesBothWays(t *testing.T) {
	h, v := serving(t, plugin.PaperclipOptions{}, plugin.EnvironmentHooks{Channel: func(ctx context.Context, in plugin.ChannelRequest, r *plugin.Route) (plugin.Exit, error) {
		require.Equal(t, plugin.ChannelRequest{DriverKey: "shed", CompanyID: company, EnvironmentID: "e", ProviderLeaseID: "l", Command: []string{"cat", "-u"}}, in)
		require.Equal(t, company, plugin.Scope(ctx))
		require.NotNil(t, plugin.From(ctx))
		return echo(ctx, in, r)
	}})
	require.Subset(t, h.supported(), []string{"duplexChannelOpen", "duplexChannelClose"})
	require.NotContains(t, h.supported(), "loginPtyOpen")
	f := v.open(protocol.RouteDuplex, channel).opened()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	f.write(all)
	f.wantCame(string(all))
	long := bytes.Repeat(all, 4<<10) // 1 MiB
	go func() {
		for part := range chunked(long, 40_000) {
			f.write(part)
		}
	}()
	f.wantCame(string(long))
	f.close()
	f.wantTold("opened ended closed")
	require.NoError(t, f.failed)
	require.NoError(t, h.stop())
}

// chunked cuts data.
func chunked(data []byte, n int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(data) > 0 {
			k := min(n, len(data))
			if !yield(data[:k]) {
				return
			}
			data = data[k:]
		}
	}
}

func TestRoute_terminalsHaveTheWordsOfBothReleases(t *testing.T) {
	requests := make(chan plugin.TerminalRequest, 2)
	h, v := serving(t, plugin.PaperclipOptions{}, plugin.EnvironmentHooks{Terminal: func(_ context.Context, in plugin.TerminalRequest, r *plugin.Route) (plugin.Exit, error) {
		requests <- in
		if err := r.Accept(); err != nil {
			return plugin.Exit{}, err
		}
		for _, c := range []byte("who? €\r\n") {
			if _, err := r.Write([]byte{c}); err != nil {
				return plugin.Exit{}, err
			}
		}
		answer := make([]byte, 4)
		_, err := io.ReadFull(r, answer)
		if err == nil {
			_, err = r.Write(append(answer, "\xff"...))
		}
		return plugin.Exited(7), err
	}})
	require.Subset(t, h.supported(), []string{"loginPtyOpen", "setupTokenPtyOpen"})
	for _, params := range []string{login, older} {
		f := v.open(protocol.RoutePTY, params).opened()
		f.wantCame("who? €\r\n")
		f.write([]byte("Ad"))
		f.write([]byte("a\r"))
		f.wantTold("opened exited")
		require.Equal(t, protocol.Exit{Code: 7, HasCode: true}, f.exit)
		f.wantCame("Ada\r\ufffd")
		f.close()
		f.wantTold("opened exited ended closed")
		require.Equal(t, "claude", (<-requests).LoginCommandKey)
	}
	require.NoError(t, h.stop())
}

func TestRoute_tellsWhyItIsNotOpen(t *testing.T) {
	h, v := serving(t, plugin.PaperclipOptions{}, plugin.EnvironmentHooks{Channel: func(_ context.Context, in plugin.ChannelRequest, r *plugin.Route) (plugin.Exit, error) {
		_, err := r.Write([]byte("x"))
		require.ErrorIs(t, err, io.ErrClosedPipe, "it was not accepted")
		switch in.Command[0] {
		case "fails":
			return plugin.Exit{}, errors.New("no such program")
		case "panics":
			panic("oh")
		}
		return plugin.Exited(0), nil
	}})
	for command, want := range map[string]string{
		"fails":   "no such program",
		"panics":  "plugin serving: the handler of a duplex panicked: oh",
		"forgets": "plugin serving: the handler has returned and not accepted the route",
	} {
		f := v.open(protocol.RouteDuplex, strings.Replace(channel, "cat", command, 1))
		f.wantTold("refused closed")
		require.EqualError(t, f.failed, want)
	}
	for params, want := range map[string]string{
		strings.Replace(channel, "shed", "barn", 1): `no environment driver "barn" in plugin serving: it has shed`,
	} {
		f := v.open(protocol.RouteDuplex, params)
		f.wantTold("refused closed")
		require.EqualError(t, f.failed, want)
	}
	f := v.open(protocol.RoutePTY, login)
	f.wantTold("refused closed")
	require.EqualError(t, f.failed, "loginPtyOpen is not implemented by this plugin")
	require.NoError(t, h.stop())
}

func TestRoute_handlerLearnsHowItEnds(t *testing.T) {
	causes := make(chan error, 1)
	h, v := serving(t, plugin.PaperclipOptions{}, plugin.EnvironmentHooks{Channel: func(ctx context.Context, in plugin.ChannelRequest, r *plugin.Route) (plugin.Exit, error) {
		if err := r.Accept(); err != nil {
			return plugin.Exit{}, err
		}
		if _, err := r.Write([]byte("hi")); err != nil {
			return plugin.Exit{}, err
		}
		<-ctx.Done()
		_, err := r.Write([]byte("bye"))
		causes <- errors.Join(context.Cause(ctx), err)
		if in.Command[0] == "fails" {
			return plugin.Exit{}, errors.New("not killed")
		}
		return plugin.Exited(143), nil
	}})
	f := v.open(protocol.RouteDuplex, channel).opened()
	f.wantCame("hi")
	f.stop()
	require.Equal(t, plugin.ErrRouteStopped.Error(), (<-causes).Error(), "what it still says is heard")
	f.wantTold("opened exited")
	require.Equal(t, protocol.Exit{Code: 143, HasCode: true}, f.exit)
	f.wantCame("bye")
	f.close()
	f.wantTold("opened exited ended closed")

	f = v.open(protocol.RouteDuplex, channel).opened()
	f.wantCame("hi")
	f.close()
	cause := <-causes
	require.ErrorIs(t, cause, plugin.ErrRouteClosed)
	require.ErrorIs(t, cause, io.ErrClosedPipe)
	f.wantTold("opened ended closed")

	f = v.open(protocol.RouteDuplex, strings.Replace(channel, "cat", "fails", 1)).opened()
	f.wantCame("hi")
	f.stop()
	require.ErrorIs(t, <-causes, plugin.ErrRouteStopped)
	f.wantTold("opened exited")
	require.Equal(t, protocol.Exit{Lost: true}, f.exit)
	require.Contains(t, string(h.wantLog("the program of a route failed").Meta), "not killed")

	v.open(protocol.RouteDuplex, channel).opened().wantCame("hi")
	require.NoError(t, h.stdin.Close())
	require.ErrorIs(t, <-causes, context.Canceled, "with the host")
	require.NoError(t, <-h.served)
}

// A close is answered when the handler has returned, and not before.
func TestRoute_closeIsAnsweredWhenNothingIsLeft(t *testing.T) {
	left := make(chan struct{})
	h, v := serving(t, plugin.PaperclipOptions{}, plugin.EnvironmentHooks{Channel: func(ctx context.Context, in plugin.ChannelRequest, r *plugin.Route) (plugin.Exit, error) {
		if in.Command[0] == "other" {
			return echo(ctx, in, r)
		}
		if in.Command[0] != "slow" {
			if err := r.Accept(); err != nil {
				return plugin.Exit{}, err
			}
			_, err := r.Write([]byte("hi"))
			require.NoError(t, err)
		}
		<-ctx.Done()
		<-left
		if in.Command[0] == "slow" {
			require.ErrorIs(t, r.Accept(), plugin.ErrRouteClosed)
		}
		n, err := r.Read(make([]byte, 1))
		require.Zero(t, n)
		require.ErrorIs(t, err, io.EOF)
		return plugin.Exit{}, r.Close()
	}})
	slow := v.open(protocol.RouteDuplex, strings.Replace(channel, "cat", "slow", 1))
	f := v.open(protocol.RouteDuplex, channel).opened()
	f.wantCame("hi")
	f.close()
	slow.close()
	slow.wantTold("refused")
	other := v.open(protocol.RouteDuplex, strings.Replace(channel, "cat", "other", 1)).opened()
	other.write([]byte("x"))
	other.wantCame("x") // the worker has read both closes by now
	f.wantTold("opened ended")
	close(left)
	f.wantTold("opened ended closed")
	slow.wantTold("refused closed")
	other.close()
	other.wantTold("opened ended closed")
	require.NoError(t, h.stop())
}

func TestRoute_isBounded(t *testing.T) {
	begin := make(chan struct{})
	h, v := serving(t, plugin.PaperclipOptions{Routes: plugin.RouteOptions{Chunk: 8, Writes: 3, WaitingBytes: 10}},
		plugin.EnvironmentHooks{Channel: func(_ context.Context, _ plugin.ChannelRequest, r *plugin.Route) (plugin.Exit, error) {
			if err := r.Accept(); err != nil {
				return plugin.Exit{}, err
			}
			<-begin
			data := make([]byte, 32)
			n, err := r.Read(data)
			if err == nil {
				_, err = r.Write(bytes.Repeat(data[:n], 2))
			}
			return plugin.Exited(n), err
		}, Probe: func(context.Context, plugin.EnvironmentCall) (plugin.EnvironmentProbed, error) {
			return plugin.EnvironmentProbed{OK: true}, nil
		}})
	f := v.open(protocol.RouteDuplex, channel).opened()
	for _, part := range []string{"abcd", "efgh", "i", "j"} { // the last one is one too many
		h.step(protocol.WriteRoute{ID: f.id, Data: []byte(part)})
	}
	h.want("environment:shed.probe", `{}`, `{"ok":true}`) // all of them have come by now
	close(begin)
	f.wantCame("abcdefghiabcdefghi")
	f.wantTold("opened exited")
	require.Equal(t, 9, f.exit.Code)
	require.NoError(t, h.stop())
}

// What is asked of the host before a route is open is asked for its opening; after that, as
// outside of all calls.
func TestRoute_asksTheHostForItsOpening(t *testing.T) {
	h, v := serving(t, plugin.PaperclipOptions{}, plugin.EnvironmentHooks{Channel: func(ctx context.Context, _ plugin.ChannelRequest, r *plugin.Route) (plugin.Exit, error) {
		ask := func() error {
			return plugin.From(ctx).Call(ctx, "state.get", map[string]string{"scopeKind": "company", "scopeId": company, "stateKey": "k"}, nil)
		}
		err := ask()
		if err == nil {
			err = r.Accept()
		}
		if err == nil {
			err = ask()
		}
		return plugin.Exited(0), err
	}})
	h.services["state.get"] = func(c protocol.Call) (json.RawMessage, error) {
		require.Equal(t, company, c.Scope)
		return nil, nil
	}
	f := v.open(protocol.RouteDuplex, channel)
	f.wantTold("opened exited")
	require.Equal(t, protocol.Exit{HasCode: true}, f.exit)
	require.NoError(t, h.stop())
	require.Empty(t, h.logs, "nothing was refused")
}
