package plugin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// company is the tenant of all calls in the tests.
const company = "company-1"

// manifest declares what the tests' plugins offer.
const manifest = `{"id":"tested","tools":[{"name":"greet"},{"name":"late"}],"jobs":[{"jobKey":"sync"}],` +
	`"webhooks":[{"endpointKey":"hook"}],"apiRoutes":[{"routeKey":"item","method":"POST","path":"/items/:id"}]}`

// host is the host's end of one worker's wire: the real driver and codec, and what a
// test looks at.
type host struct {
	t      *testing.T
	driver protocol.Driver
	codec  protocol.Codec
	// services answers what the worker asks; absent ones are not found.
	services map[string]func(protocol.Call) (json.RawMessage, error)
	// streams are what is said before an answer, where it is followed.
	streams map[string][]string

	mu      sync.Mutex
	stdin   io.WriteCloser
	last    protocol.CallID
	waiting map[protocol.CallID]chan protocol.Complete
	ran     chan protocol.Ran
	logs    chan protocol.Logged
	dropped chan protocol.Dropped
	// heard takes what comes of routes, of event streams and of calls on the way; nil drops it.
	heard func(protocol.Effect)
	// served is the end of ServePaperclip, gone that of the worker's output.
	served chan error
	gone   chan struct{}
}

// newHost returns a host of a plugin whose worker is not there yet.
func newHost(t *testing.T) *host {
	t.Helper()
	decided := paperclip.Plugin{
		Company:   company,
		Grants:    []string{"plugin.state.read", "plugin.state.write", "events.subscribe"},
		Proactive: func(string) bool { return true },
	}
	d := paperclip.Dialect{Plugin: func(protocol.Settings) paperclip.Plugin { return decided }}
	h := &host{
		t: t, driver: d.NewDriver(protocol.Settings{Plugin: "tested"}), codec: d.Codec(),
		services: map[string]func(protocol.Call) (json.RawMessage, error){
			"events.subscribe": func(protocol.Call) (json.RawMessage, error) { return nil, nil },
		},
		waiting: map[protocol.CallID]chan protocol.Complete{},
		ran:     make(chan protocol.Ran, 8),
		logs:    make(chan protocol.Logged, 1024),
		dropped: make(chan protocol.Dropped, 1024),
		served:  make(chan error, 1),
		gone:    make(chan struct{}),
	}
	return h
}

// serve runs the plugin at the other end, in this process.
func (h *host) serve(ctx context.Context, d *plugin.Definition, o plugin.PaperclipOptions) *host {
	h.t.Helper()
	in, toWorker := io.Pipe()
	fromWorker, out := io.Pipe()
	o.In, o.Out = in, out
	go func() { h.served <- plugin.ServePaperclip(ctx, d, o) }()
	h.join(toWorker, fromWorker)
	h.t.Cleanup(func() {
		_ = toWorker.Close()
		<-h.gone
	})
	return h
}

// join gives the host the worker's ends of the wire.
func (h *host) join(toWorker io.WriteCloser, fromWorker io.Reader) {
	h.stdin = toWorker
	go h.read(fromWorker)
}

func (h *host) read(fromWorker io.Reader) {
	defer close(h.gone)
	lines := bufio.NewReader(fromWorker)
	for {
		line, err := lines.ReadBytes('\n')
		messages, _ := h.codec.Decode(line)
		for _, m := range messages {
			h.step(protocol.Received{Message: m})
		}
		if err != nil {
			h.step(protocol.Closed{Err: err})
			return
		}
	}
}

// step runs the driver and carries out what comes of it, as a host does.
func (h *host) step(in protocol.Input) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.driver.Step(time.Now(), in, nil) {
		switch e := e.(type) {
		case protocol.Send:
			frame, err := h.codec.Encode(nil, e.Message)
			if err == nil {
				_, err = h.stdin.Write(append(frame, '\n'))
			}
			_ = err // the worker may be gone
		case protocol.Complete:
			h.waiting[e.ID] <- e
			delete(h.waiting, e.ID)
		case protocol.Serve:
			go h.answer(e)
		case protocol.Ran:
			h.ran <- e
		case protocol.Logged:
			h.logs <- e
		case protocol.Dropped:
			h.dropped <- e
		default:
			if h.heard != nil {
				h.heard(e)
			}
		}
	}
}

func (h *host) answer(s protocol.Serve) {
	serve, ok := h.services[s.Call.Key]
	if !ok {
		h.step(protocol.Reply{ID: s.ID, Err: &protocol.Error{Code: protocol.CodeNotFound, Message: "none"}})
		return
	}
	result, err := serve(s.Call)
	for _, item := range h.streams[s.Call.Key] {
		if s.Follows {
			h.step(protocol.Report{ID: s.ID, Item: json.RawMessage(item)})
		}
	}
	h.step(protocol.Reply{ID: s.ID, Result: result, Err: err})
}

// start passes through a step and returns its error.
func (h *host) start(params string) error {
	h.t.Helper()
	h.step(protocol.Run{Step: protocol.StepSetup, Params: json.RawMessage(params)})
	return (<-h.ran).Err
}

// ready initializes the worker with the tests' manifest and a configuration.
func (h *host) ready() *host {
	h.t.Helper()
	require.NoError(h.t, h.start(`{"manifest":`+manifest+`,"config":{"greeting":"Hello"},"instanceInfo":{},"apiVersion":1,"databaseNamespace":null}`))
	return h
}

// begin makes a call and returns where it ends.
func (h *host) begin(key, input string) <-chan protocol.Complete { return h.invoke(key, input, false) }

func (h *host) invoke(key, input string, follows bool) <-chan protocol.Complete {
	done := make(chan protocol.Complete, 1)
	h.mu.Lock()
	h.last++
	id := h.last
	h.waiting[id] = done
	h.mu.Unlock()
	h.step(protocol.Invoke{ID: id, Call: protocol.Call{Key: key, Input: json.RawMessage(input), Scope: company}, Follows: follows})
	return done
}

// call makes a call and returns its result and its error's text.
func (h *host) call(key, input string) (result, failure string) {
	h.t.Helper()
	end := <-h.begin(key, input)
	if end.Err != nil {
		failure = end.Err.Error()
	}
	return string(end.Result), failure
}

// want makes a call and compares its result.
func (h *host) want(key, input, result string) {
	h.t.Helper()
	got, failure := h.call(key, input)
	require.Empty(h.t, failure)
	require.JSONEq(h.t, result, got)
}

// wantFailure makes a call that fails with a text and a code of the wire.
func (h *host) wantFailure(key, input, text, code string) {
	h.t.Helper()
	end := <-h.begin(key, input)
	require.EqualError(h.t, end.Err, text)
	peer, ok := errors.AsType[*protocol.PeerError](end.Err)
	require.True(h.t, ok)
	require.Equal(h.t, code, string(peer.Code))
}

// wantLog takes lines of the worker's log until one has this text.
func (h *host) wantLog(text string) protocol.Logged {
	h.t.Helper()
	for {
		line := <-h.logs
		if strings.Contains(line.Message, text) {
			return line
		}
	}
}

// stop shuts the worker down and returns how its serving ended.
func (h *host) stop() error {
	h.t.Helper()
	h.step(protocol.Run{Step: protocol.StepStop})
	require.NoError(h.t, (<-h.ran).Err)
	return <-h.served
}

// supported is what the worker reported.
func (h *host) supported() []string {
	return slices.Clone(h.driver.(interface{ SupportedMethods() []string }).SupportedMethods())
}

// lines is the worker's wire as lines of text, for what a driver would not say.
type lines struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
	// close ends the host's reading.
	close func()
}

func newLines(ctx context.Context, t *testing.T, d *plugin.Definition, o plugin.PaperclipOptions) (*lines, <-chan error) {
	t.Helper()
	return linesOf(t, func(in io.Reader, out io.Writer) error {
		o.In, o.Out = in, out
		return plugin.ServePaperclip(ctx, d, o)
	})
}

func linesOf(t *testing.T, serve func(io.Reader, io.Writer) error) (*lines, <-chan error) {
	t.Helper()
	in, toWorker := io.Pipe()
	fromWorker, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve(in, out) }()
	t.Cleanup(func() {
		_ = toWorker.Close()
		_ = fromWorker.Close()
	})
	scan := bufio.NewScanner(fromWorker)
	scan.Buffer(nil, 1<<20)
	return &lines{t: t, in: toWorker, out: scan, close: func() { _ = fromWorker.Close() }}, served
}

func (l *lines) send(text string) {
	l.t.Helper()
	_, err := io.WriteString(l.in, text+"\n")
	require.NoError(l.t, err)
}

func (l *lines) next() string {
	l.t.Helper()
	require.True(l.t, l.out.Scan(), "the worker's output has ended")
	return l.out.Text()
}
