package plugin_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
)

func TestServePaperclip_answersTooLongAreErrors(t *testing.T) {
	p := plugin.Define("long")
	plugin.Data(p, "repeat", func(_ context.Context, in map[string]int) (string, error) { return strings.Repeat("x", in["n"]), nil })
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{MaxRecord: 2000}).ready()
	h.want("data:repeat", `{"n":1900}`, `"`+strings.Repeat("x", 1900)+`"`)
	h.wantFailure("data:repeat", `{"n":2000}`,
		"tested: the answer: a frame of 2036 bytes is above the limit of 2000: send less, or in parts", "-32002")
}

func TestServePaperclip_answersLinesThatAreNoFrames(t *testing.T) {
	l, _ := newLines(t.Context(), t, plugin.Define("p"), plugin.PaperclipOptions{})
	l.send(`what?`)
	require.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: Invalid JSON: what?"}}`, l.next())
	l.send(`{"jsonrpc":"2.0","id":"a","method":"constructor"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Unknown method: constructor"}}`, l.next())
	l.send(`{"jsonrpc":"2.0","id":77,"result":null}`)
	require.Equal(t, `{"jsonrpc":"2.0","method":"log","params":{"level":"warn","message":"something of the host's was not used",`+
		`"meta":{"detail":"77","what":"unknown-call"}}}`, l.next())
}

func TestServePaperclip_handlersWaitForAHostThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logged := 0
		p := plugin.Define("talker")
		plugin.Data(p, "talk", func(ctx context.Context, _ any) (any, error) {
			for range 100 {
				plugin.From(ctx).Log().Info("said", "text", strings.Repeat("x", 100))
				logged++
			}
			return "said", nil
		})
		l, served := newLines(t.Context(), t, p, plugin.PaperclipOptions{QueueBytes: 1000})
		l.send(`{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"talk"}}`)
		synctest.Wait()
		require.Less(t, logged, 20, "the handler waits")
		for range 100 {
			require.Contains(t, l.next(), `"method":"log"`, "and nothing of it is lost")
		}
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"said"}`, l.next())
		require.Equal(t, 100, logged)

		l.send(`{"jsonrpc":"2.0","id":2,"method":"getData","params":{"key":"talk"}}`)
		synctest.Wait()
		require.NoError(t, l.in.Close())
		require.EqualError(t, <-served, "the host did not read what was written before the end within 5s")
	})
}

// What a host asks of a worker that ends is answered as far as it goes.
func TestServePaperclip_takesCallsWhileItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p, stuck := plugin.Define("ending"), make(chan struct{})
		plugin.Data(p, "hold", func(context.Context, any) (any, error) {
			<-stuck
			return "let go", nil
		})
		plugin.Data(p, "ping", func(context.Context, any) (any, error) { return "pong", nil })
		l, served := newLines(ctx, t, p, plugin.PaperclipOptions{})
		l.send(`{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"hold"}}`)
		synctest.Wait()
		cancel()
		synctest.Wait()
		l.send(`{"jsonrpc":"2.0","id":2,"method":"getData","params":{"key":"ping"}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":"pong"}`, l.next())
		close(stuck)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"let go"}`, l.next())
		require.NoError(t, <-served)
	})
}
