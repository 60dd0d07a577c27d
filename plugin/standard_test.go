package plugin_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// processPlugin is served by Main when the test binary runs as a worker.
func processPlugin() *plugin.Definition {
	p := plugin.Define("process")
	prints := func(context.Context, any) (string, error) {
		fmt.Println("a stray print")
		early.Print("a stray log")
		input, err := io.ReadAll(os.Stdin)
		return string(input), err
	}
	plugin.Data(p, "print", prints)
	plugin.Model(p, "PRINT", prints)
	holds := func(ctx context.Context, _ any) (any, error) {
		fmt.Fprintln(os.Stderr, "holding")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "let go")
		return nil, ctx.Err()
	}
	plugin.Data(p, "hold", holds)
	plugin.Model(p, "HOLD", holds)
	plugin.Data(p, "echo", func(_ context.Context, in echoed) (echoed, error) { return in, nil })
	return p
}

// process is a worker that runs as a process of its own.
type process struct {
	*exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr *bufio.Scanner
}

// start starts a program as a worker; without one it is the test binary itself.
func start(t testing.TB, program string) *process {
	t.Helper()
	p := prepare(t, program)
	require.NoError(t, p.Start())
	return p
}

// prepare is start but for the start itself.
func prepare(t testing.TB, program string) *process {
	t.Helper()
	if program == "" {
		program = os.Args[0]
	}
	p := &process{Cmd: exec.Command(program)}
	p.Env = append(os.Environ(), "PLUGIN_TEST_WORKER=1")
	var err error
	p.in, err = p.StdinPipe()
	require.NoError(t, err)
	p.out, err = p.StdoutPipe()
	require.NoError(t, err)
	said, err := p.StderrPipe()
	require.NoError(t, err)
	p.stderr = bufio.NewScanner(said)
	t.Cleanup(func() {
		if p.Process != nil {
			_ = p.Process.Kill()
		}
	})
	return p
}

// wantSaid reads standard error up to a line with a text.
func (p *process) wantSaid(t *testing.T, text string) {
	t.Helper()
	for p.stderr.Scan() {
		if strings.Contains(p.stderr.Text(), text) {
			return
		}
	}
	require.Fail(t, "the worker did not say: "+text)
}

// wantExit reads standard error to its end and compares how the process ends.
func (p *process) wantExit(t *testing.T, code int) {
	t.Helper()
	for p.stderr.Scan() {
	}
	err := p.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		require.Equal(t, code, exit.ExitCode(), "%v", exit)
		return
	}
	require.NoError(t, err)
	require.Zero(t, code)
}

func TestMain_keepsStandardOutputForTheHost(t *testing.T) {
	p := start(t, "")
	h := newHost(t)
	h.join(p.in, p.out)
	h.ready()
	h.want("data:print", `{}`, `""`)
	p.wantSaid(t, "a stray print")
	p.wantSaid(t, "a stray log")
	h.step(protocol.Run{Step: protocol.StepStop})
	require.NoError(t, (<-h.ran).Err)
	<-h.gone
	p.wantExit(t, 0)
	require.Empty(t, h.dropped)
}

func TestMain_endsWithItsInput(t *testing.T) {
	p := start(t, "")
	_, err := io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"hold"}}`+"\n")
	require.NoError(t, err)
	p.wantSaid(t, "holding")
	require.NoError(t, p.in.Close())
	p.wantSaid(t, "let go")
	p.wantExit(t, 0)
}

func TestMain_takesSIGTERMForTheEndOfItsInput(t *testing.T) {
	p := start(t, "")
	_, err := io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"hold"}}`+"\n")
	require.NoError(t, err)
	p.wantSaid(t, "holding")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.wantSaid(t, "let go")
	p.wantExit(t, 0)
}

func TestMain_failsWhenTheHostIsGone(t *testing.T) {
	p := start(t, "")
	p.wantSaid(t, "worker runs")
	require.NoError(t, p.out.Close())
	_, err := io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"health"}`+"\n")
	require.NoError(t, err)
	p.wantSaid(t, "process: writing to the host: write /dev/stdout: broken pipe")
	p.wantExit(t, 1)
}

func TestMain_tellsPeopleWhatItIs(t *testing.T) {
	cmd := exec.Command(os.Args[0]) // its input is the null device, as a terminal would be
	cmd.Env = append(os.Environ(), "PLUGIN_TEST_WORKER=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	require.NoError(t, cmd.Run())
	require.Contains(t, said.String(), "process is a plugin: a host starts it and talks to it on standard input\n")
}

// The ledger is built and run as a real plugin is.
func TestMain_runsTheLedger(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ledger")
	built, err := exec.Command("go", "build", "-o", program, "../testdata/plugins/ledger").CombinedOutput()
	require.NoError(t, err, "%s", built)
	p := start(t, program)
	h := newHost(t)
	state := json.RawMessage(nil)
	h.services["state.get"] = func(protocol.Call) (json.RawMessage, error) { return state, nil }
	h.services["state.set"] = func(c protocol.Call) (json.RawMessage, error) {
		var set struct {
			ScopeID string
			Value   json.RawMessage
		}
		err := json.Unmarshal(c.Input, &set)
		require.Equal(t, c.Scope, set.ScopeID)
		state = set.Value
		return nil, err
	}
	h.services["state.delete"] = func(protocol.Call) (json.RawMessage, error) {
		state = nil
		return nil, nil
	}
	h.join(p.in, p.out)
	require.NoError(t, h.start(`{"manifest":{"id":"ledger","tools":[{"name":"ledger-add"},{"name":"ledger-pay"}],"jobs":[{"jobKey":"tally"}]}}`))

	h.want("data:entries", `{}`, `{"entries":[],"balance":0}`)
	h.want("tool:ledger-add", `{"text":"tea","amount":-350}`,
		`{"content":"tea: the balance is -350 cents","data":{"entries":[{"text":"tea","amount":-350}],"balance":-350}}`)
	h.wantFailure("tool:ledger-add", `{"amount":1}`, "what is the entry for? give a text", "-32002")
	require.NoError(t, (<-h.begin("event:payment.received", `{"text":"Ada","amount":1000}`)).Err)
	h.wantLog("added")
	h.wantLog("added")
	h.want("data:entries", `{}`, `{"entries":[{"text":"tea","amount":-350},{"text":"Ada","amount":1000}],"balance":650}`)
	h.want("job:tally", `{}`, `null`)
	require.JSONEq(t, `{"added":2,"trigger":"manual"}`, string(h.wantLog("tally").Meta))
	h.want("action:ledger-clear", `{}`, `null`)
	h.want("data:entries", `{}`, `{"entries":[],"balance":0}`)

	h.step(protocol.Run{Step: protocol.StepStop})
	require.NoError(t, (<-h.ran).Err)
	<-h.gone
	p.wantExit(t, 0)
}
