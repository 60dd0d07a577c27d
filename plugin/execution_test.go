package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// executing is a plugin whose one driver runs commands as a function does.
func executing(o plugin.ExecutionLogOptions, run func(context.Context, plugin.EnvironmentExecution, *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error)) *plugin.Definition {
	p := plugin.Define("executing")
	plugin.Environment(p, "shed", plugin.EnvironmentHooks{Execute: run, Log: o})
	return p
}

// chunks are what a call has logged.
type chunks struct {
	mu   sync.Mutex
	list []protocol.LogChunk
}

func (c *chunks) take(item json.RawMessage) error {
	chunk, err := protocol.ReadLogChunk(item)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, chunk)
	return err
}

// of is what came of one stream, and the longest chunk.
func (c *chunks) of(stream string) (text string, longest int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, chunk := range c.list {
		if chunk.Stream == stream {
			text += string(chunk.Text)
			longest = max(longest, len(chunk.Text))
		}
	}
	return text, longest
}

// execute runs a command at a worker, whose log is followed, and returns its result.
func (h *host) execute(input string, log *chunks) (plugin.EnvironmentExecuted, error) {
	h.t.Helper()
	h.heard = func(e protocol.Effect) {
		if p, ok := e.(protocol.Progress); ok {
			require.NoError(h.t, log.take(p.Item))
		}
	}
	end := <-h.invoke("environment:shed.execute", input, true)
	var done plugin.EnvironmentExecuted
	if end.Err == nil {
		require.NoError(h.t, json.Unmarshal(end.Result, &done))
	}
	return done, end.Err
}

func TestExecutionLog_tellsWhatIsWrittenInWholeCharacters(t *testing.T) {
	p := executing(plugin.ExecutionLogOptions{Chunk: 10}, func(_ context.Context, e plugin.EnvironmentExecution, log *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
		for _, c := range []byte(e.Command) { // cut anywhere
			_, _ = log.Stdout.Write([]byte{c})
		}
		_, err := io.WriteString(log.Stderr, strings.Repeat("€", 7)+"\xe2\x82")
		return plugin.EnvironmentExecuted{}, err
	})
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{})
	h.ready()
	var log chunks
	done, err := h.execute(`{"command":"a€😀b\n"}`, &log)
	require.NoError(t, err)
	require.Equal(t, plugin.EnvironmentExecuted{Stdout: "a€😀b\n", Stderr: strings.Repeat("€", 7) + "\ufffd\ufffd"}, done, "the result has all of it")
	out, _ := log.of(protocol.LogStdout)
	require.Equal(t, "a€😀b\n", out)
	errs, longest := log.of(protocol.LogStderr)
	require.Equal(t, strings.Repeat("€", 7)+"\ufffd\ufffd", errs)
	require.Equal(t, 9, longest, "three characters, not ten bytes")
	require.NoError(t, h.stop())
}

func TestExecutionLog_isBounded(t *testing.T) {
	skipped := make(chan int64, 1)
	p := executing(plugin.ExecutionLogOptions{Kept: 8, Chunk: 4, Total: 10}, func(_ context.Context, e plugin.EnvironmentExecution, log *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
		_, _ = io.WriteString(log.Stdout, "abcdef€€")
		_, _ = io.WriteString(log.Stdout, "ghij")
		_, _ = io.WriteString(log.Stderr, "1234")
		skipped <- log.Skipped()
		return plugin.EnvironmentExecuted{Metadata: json.RawMessage(e.Command)}, nil
	})
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{})
	h.ready()
	var log chunks
	done, err := h.execute(`{"command":"{\"by\":\"me\"}"}`, &log)
	require.NoError(t, err)
	require.Equal(t, "abcdef", done.Stdout, "two more bytes are no character")
	require.Equal(t, "1234", done.Stderr)
	require.JSONEq(t, `{"by":"me","stdoutOmittedBytes":10}`, string(done.Metadata))
	out, _ := log.of(protocol.LogStdout)
	errs, _ := log.of(protocol.LogStderr)
	require.Equal(t, "abcdef€€", out, "eight units of ten, and no chunk in part")
	require.Empty(t, errs)
	require.Equal(t, int64(8), <-skipped)
	require.Contains(t, string(h.wantLog("not all that a command wrote was logged").Meta), `"bytes":8`)
	_, err = h.execute(`{"command":"7"}`, &log)
	require.EqualError(t, err, `the input's field "(the whole)": expected map[string]json.RawMessage, got number`)
	require.NoError(t, h.stop())
}

func TestExecutionLog_takesNothingAfterItsHandler(t *testing.T) {
	late := make(chan *plugin.ExecutionLog, 1)
	p := executing(plugin.ExecutionLogOptions{}, func(_ context.Context, _ plugin.EnvironmentExecution, log *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
		late <- log
		return plugin.EnvironmentExecuted{Stdout: "its own"}, nil
	})
	port := p.Open(&home{})
	result, err := port.Invoke(t.Context(), &protocol.Call{Key: "environment:shed.execute", Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"exitCode":null,"timedOut":false,"stdout":"its own","stderr":""}`, string(result))
	_, err = (<-late).Stdout.Write([]byte("x"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// Compiled in, a command's output goes to whoever follows the call, and one that does not
// want an item does not end the command.
func TestExecutionLog_isProgressInMemory(t *testing.T) {
	p := executing(plugin.ExecutionLogOptions{}, func(_ context.Context, _ plugin.EnvironmentExecution, log *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
		for _, text := range []string{"one", "two"} {
			if _, err := io.WriteString(log.Stdout, text); err != nil {
				return plugin.EnvironmentExecuted{}, err
			}
		}
		return plugin.EnvironmentExecuted{Signal: fmt.Sprint(log.Skipped())}, nil
	})
	port := p.Open(&home{})
	var log chunks
	take := func(item json.RawMessage) error {
		if err := log.take(item); err != nil || len(log.list) == 2 {
			return errors.New("full")
		}
		return nil
	}
	result, err := port.Invoke(t.Context(), &protocol.Call{Key: "environment:shed.execute", Input: json.RawMessage(`{}`), Progress: take})
	require.NoError(t, err)
	require.JSONEq(t, `{"exitCode":null,"signal":"3","timedOut":false,"stdout":"onetwo","stderr":""}`, string(result))
	require.Equal(t, "one", string(log.list[0].Text))
}

func TestExecution_endsAtItsTime(t *testing.T) {
	p := executing(plugin.ExecutionLogOptions{}, func(ctx context.Context, e plugin.EnvironmentExecution, log *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
		_, _ = io.WriteString(log.Stdout, "begun")
		<-ctx.Done()
		if _, err := io.WriteString(log.Stdout, "late"); err == nil {
			return plugin.EnvironmentExecuted{}, errors.New("the log goes on")
		}
		if e.Command == "fails" {
			return plugin.EnvironmentExecuted{}, errors.New("not killed")
		}
		return plugin.EnvironmentExecuted{}, fmt.Errorf("killed: %w", ctx.Err())
	})
	synctest.Test(t, func(t *testing.T) {
		port := p.Open(&home{})
		call := func(ctx context.Context, input string) (string, error) {
			result, err := port.Invoke(ctx, &protocol.Call{Key: "environment:shed.execute", Input: json.RawMessage(input)})
			return string(result), err
		}
		result, err := call(t.Context(), `{"timeoutMs":1500}`)
		require.NoError(t, err)
		require.JSONEq(t, `{"exitCode":null,"timedOut":true,"stdout":"begun","stderr":""}`, result)
		_, err = call(t.Context(), `{"timeoutMs":1500,"command":"fails"}`)
		require.EqualError(t, err, "not killed")
		given, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = call(given, `{"timeoutMs":1500}`)
		require.ErrorIs(t, err, context.Canceled, "that is its caller's limit, and no result")
	})
}

// A command that writes more than the host reads waits, and nothing of it is lost.
func TestExecutionLog_waitsForAHostThatIsBehind(t *testing.T) {
	const size = 1 << 20
	wrote := make(chan int, 1)
	p := executing(plugin.ExecutionLogOptions{}, func(_ context.Context, _ plugin.EnvironmentExecution, log *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
		n := 0
		for range size >> 16 {
			k, err := log.Stdout.Write(make([]byte, 1<<16))
			if n += k; err != nil {
				return plugin.EnvironmentExecuted{}, err
			}
		}
		wrote <- n
		return plugin.EnvironmentExecuted{Stdout: "-"}, nil
	})
	synctest.Test(t, func(t *testing.T) {
		l, served := newLines(t.Context(), t, p, plugin.PaperclipOptions{QueueBytes: 1 << 17})
		l.out.Buffer(nil, 8<<20)
		l.send(`{"jsonrpc":"2.0","id":1,"method":"environmentExecute","params":{"driverKey":"shed"},"paperclipInvocation":{"id":"i","scope":{"companyId":"c"}}}`)
		synctest.Wait()
		require.Empty(t, wrote, "nobody reads")
		total := 0
		for {
			line := l.next()
			if strings.Contains(line, `"id":1`) {
				break
			}
			require.Contains(t, line, `"paperclipInvocationId":"i"`)
			total += strings.Count(line, `\u0000`)
		}
		require.Equal(t, size, total)
		require.Equal(t, size, <-wrote)
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
	})
}
