package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// everything is a plugin with all that a Paperclip host can call.
func everything() *plugin.Definition {
	p := plugin.Define("everything")
	plugin.Tool(p, "greet", func(ctx context.Context, in person) (plugin.Result, error) {
		if in.Name == "" {
			return plugin.Result{Error: "whom? give a name"}, nil
		}
		var config struct{ Greeting string }
		if err := plugin.From(ctx).Config(&config); err != nil {
			return plugin.Result{}, err
		}
		return plugin.Text(config.Greeting + ", " + in.Name + "! " + plugin.Scope(ctx)), nil
	})
	plugin.Action(p, "wave", func(ctx context.Context, in plugin.Invocation[person]) (any, error) {
		var sent struct{ ActorContext struct{ Type string } }
		err := json.Unmarshal(plugin.Request(ctx), &sent)
		return []string{in.Params.Name, sent.ActorContext.Type}, err
	})
	plugin.Data(p, "double", func(_ context.Context, in map[string]int) (int, error) { return 2 * in["n"], nil })
	plugin.Job(p, "sync", func(_ context.Context, r plugin.Run) error {
		if r.Trigger != "retry" || r.ID == "" || r.ScheduledAt.IsZero() {
			return errors.New("a run has a trigger, an id and a time")
		}
		return nil
	})
	plugin.Webhook(p, "hook", func(_ context.Context, d plugin.Delivery) error {
		return errors.New(d.Headers.Get("X-Sig") + d.Headers["many"][1] + d.RawBody + string(d.ParsedBody))
	})
	plugin.HTTP(p, "POST /items/:id", func(_ context.Context, r plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		return plugin.HTTPResponse{
			Status: 201, Headers: map[string]string{"x-id": r.Params["id"]}, Body: r.Query.Get("q") + string(r.Body),
		}, nil
	})
	return p
}

func TestServePaperclip_servesEveryKind(t *testing.T) {
	h := newHost(t).serve(t.Context(), everything(), plugin.PaperclipOptions{}).ready()
	require.Equal(t, []string{"configChanged", "handleApiRequest"}, h.supported())

	h.want("tool:greet", `{"name":"Ada"}`, `{"content":"Hello, Ada! company-1"}`)
	h.want("tool:greet", `{}`, `{"error":"whom? give a name"}`)
	h.want("action:wave", `{"params":{"name":"Ada"}}`, `["Ada","system"]`)
	h.want("data:double", `{"n":21}`, `42`)
	h.want("job:sync", `{"trigger":"retry"}`, `null`)
	h.want("http:POST /items/:id", `{"params":{"id":"7"},"query":{"q":["a","b"]},"body":{"n":1}}`,
		`{"status":201,"headers":{"x-id":"7"},"body":"a{\"n\":1}"}`)
	h.wantFailure("webhook:hook", `{"headers":{"x-sig":"s","many":["a","b"]},"rawBody":"[1]","parsedBody":[1]}`, `sb[1][1]`, "-32002")
	h.want("paperclip:health", `{}`, `{"status":"ok"}`)
	require.NoError(t, h.stop())
}

func TestServePaperclip_knowsWhatItHasNot(t *testing.T) {
	h := newHost(t).serve(t.Context(), everything(), plugin.PaperclipOptions{}).ready()
	h.wantFailure("tool:none", `{}`, `No tool handler registered for "none" in plugin tested`, "-32002")
	h.wantFailure("action:none", `{}`, `No action handler registered for key "none" in plugin tested`, "-32002")
	h.wantFailure("data:none", `{}`, `No data handler registered for key "none" in plugin tested`, "-32002")
	h.wantFailure("job:none", `{}`, `No handler registered for job "none" in plugin tested`, "-32002")
	h.wantFailure("webhook:none", `{}`, `No handler registered for webhook "none" in plugin tested`, "-32002")
	h.wantFailure("paperclip:handleApiRequest", `{"routeKey":"none"}`, `No handler registered for API route "none" in plugin tested`, "-32002")
	h.wantFailure("paperclip:validateConfig", `{}`, `validateConfig is not implemented by this plugin`, "-32004")
	h.wantFailure("paperclip:getData", `{"key":7}`, `No data handler registered for key "" in plugin tested`, "-32002")
	h.wantFailure("data:double", `{"n":"x"}`, `the input's field "(the whole)": expected int, got string`, "-32002")

	h = newHost(t).serve(t.Context(), plugin.Define("bare"), plugin.PaperclipOptions{}).ready()
	h.wantFailure("webhook:hook", `{}`, `handleWebhook is not implemented by this plugin`, "-32004")
}

// held is a plugin whose handler "hold" tells on entered when it runs, and waits for
// leave or the end of its context, which it tells on ended.
type held struct {
	*plugin.Definition
	entered, leave, ended chan struct{}
}

func newHeld() *held {
	h := &held{plugin.Define("held"), make(chan struct{}, 16), make(chan struct{}), make(chan struct{}, 16)}
	plugin.Data(h.Definition, "hold", func(ctx context.Context, _ any) (string, error) {
		h.entered <- struct{}{}
		select {
		case <-h.leave:
			return "left", nil
		case <-ctx.Done():
			h.ended <- struct{}{}
			return "", ctx.Err()
		}
	})
	return h
}

func TestServePaperclip_endsWithItsInput(t *testing.T) {
	p := newHeld()
	h := newHost(t).serve(t.Context(), p.Definition, plugin.PaperclipOptions{}).ready()
	call := h.begin("data:hold", `{}`)
	<-p.entered
	require.NoError(t, h.stdin.Close())
	require.NoError(t, <-h.served)
	<-p.ended
	require.EqualError(t, (<-call).Err, "context canceled", "what is answered in time is told")
}

func TestServePaperclip_endsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := newHeld()
	h := newHost(t).serve(ctx, p.Definition, plugin.PaperclipOptions{}).ready()
	call := h.begin("data:hold", `{}`)
	<-p.entered
	cancel()
	require.NoError(t, <-h.served)
	<-p.ended
	require.Error(t, (<-call).Err)
}

func TestServePaperclip_doesNotWaitForHandlersThatDoNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, stuck := plugin.Define("stuck"), make(chan struct{})
		plugin.Data(p, "hold", func(context.Context, any) (any, error) {
			<-stuck
			return nil, nil
		})
		in, toWorker := io.Pipe()
		served := make(chan error)
		go func() {
			served <- plugin.ServePaperclip(t.Context(), p, plugin.PaperclipOptions{In: in, Out: io.Discard})
		}()
		_, err := io.WriteString(toWorker, `{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"hold"}}`+"\n")
		require.NoError(t, err)
		require.NoError(t, toWorker.Close())
		require.NoError(t, <-served, "after the grace of 400 ms")
		close(stuck)
	})
}

func TestServePaperclip_answersShutdownBeforeItEnds(t *testing.T) {
	p := newHeld()
	p.OnStop(func(context.Context, *plugin.Session) error { return errors.New("could not save") })
	h := newHost(t).serve(t.Context(), p.Definition, plugin.PaperclipOptions{}).ready()
	h.step(protocol.Run{Step: protocol.StepStop})
	require.EqualError(t, (<-h.ran).Err, "could not save")
	close(p.leave)
	h.want("data:hold", `{}`, `"left"`)

	h = newHost(t).serve(t.Context(), newHeld().Definition, plugin.PaperclipOptions{}).ready()
	require.NoError(t, h.stop())
	<-h.gone
}

func TestServePaperclip_failsWhenTheHostIsGone(t *testing.T) {
	p := newHeld()
	l, served := newLines(t.Context(), t, p.Definition, plugin.PaperclipOptions{Out: nil})
	l.send(`{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"hold"}}`)
	<-p.entered
	l.close()
	close(p.leave)
	require.EqualError(t, <-served, "writing to the host: io: read/write on closed pipe")
}

func TestServePaperclip_failsAtAFrameAboveTheLimit(t *testing.T) {
	l, served := newLines(t.Context(), t, plugin.Define("p"), plugin.PaperclipOptions{MaxRecord: 1000})
	l.send(strings.Repeat("x", 1000))
	require.Contains(t, l.next(), `"code":-32700`)
	go l.send(strings.Repeat("x", 1001)) // it is not read to its end
	require.ErrorContains(t, <-served, "reading from the host: ")
}
