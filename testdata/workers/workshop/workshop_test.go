package main

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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/transport/process"
)

// binary is the workshop, built once.
var binary string

func TestMain(m *testing.M) { goleak.VerifyTestMain(built{m}) }

type built struct{ *testing.M }

func (m built) Run() int {
	dir, err := os.MkdirTemp("", "airi-host-workshop-")
	if err == nil {
		binary = filepath.Join(dir, "workshop")
		err = exec.Command("go", "build", "-o", binary, ".").Run()
	}
	code := 1
	if err == nil {
		code = m.M.Run()
	}
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// rig is a workshop that runs, and the host's end of its wire.
type rig struct {
	t      *testing.T
	worker *process.Process
	driver protocol.Driver
	codec  protocol.Codec
	lease  string
	// ended is closed when the worker's wire has.
	ended chan struct{}

	mu     sync.Mutex
	more   sync.Cond
	last   protocol.CallID
	done   map[protocol.CallID]protocol.Complete
	isOver bool
	log    map[string]*bytes.Buffer
	route  far
}

// far is what came of the one route that a test has.
type far struct {
	told   []string
	came   []byte
	exit   protocol.Exit
	failed error
	unread int
}

// open starts a workshop and takes a lease.
func open(t *testing.T) *rig {
	t.Helper()
	d := paperclip.Dialect{Plugin: func(protocol.Settings) paperclip.Plugin { return paperclip.Plugin{Company: "acme"} }}
	r := &rig{
		t: t, driver: d.NewDriver(protocol.Settings{Plugin: "workshop"}), codec: d.Codec(), ended: make(chan struct{}),
		done: map[protocol.CallID]protocol.Complete{}, log: map[string]*bytes.Buffer{"stdout": {}, "stderr": {}},
	}
	r.more.L = &r.mu
	var err error
	r.worker, err = process.Start(process.Spec{
		Plugin: "workshop", Path: binary, Env: process.Environment(map[string]string{"TMPDIR": t.TempDir()}, nil), MaxRecord: 128 << 20,
		Log: func(l process.LogLine) { t.Log(l.Text) },
	})
	require.NoError(t, err)
	go r.read()
	t.Cleanup(func() {
		_, err := r.worker.Stop(context.Background(), process.Ladder{})
		require.NoError(t, err)
		<-r.ended
		<-r.worker.Logged()
	})
	r.step(protocol.Run{Step: protocol.StepSetup, Params: json.RawMessage(`{"manifest":{"id":"workshop","environmentDrivers":[{"driverKey":"workshop"}]},"config":{}}`)})
	var lease plugin.EnvironmentLease
	r.calls("acquireLease", `{"runId":"r"}`, &lease)
	r.lease = string(lease.ProviderLeaseID)
	return r
}

func (r *rig) read() {
	defer close(r.ended)
	for {
		record, err := r.worker.Recv()
		if err != nil {
			r.step(protocol.Closed{Err: err})
			r.mu.Lock()
			r.isOver = true
			r.more.Broadcast()
			r.mu.Unlock()
			return
		}
		messages, _ := r.codec.Decode(record)
		for _, m := range messages {
			r.step(protocol.Received{Message: m})
		}
	}
}

// step runs the driver and keeps what comes of it.
func (r *rig) step(in protocol.Input) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.driver.Step(time.Now(), in, nil) {
		if s, ok := e.(protocol.Send); ok {
			frame, err := r.codec.Encode(nil, s.Message)
			if err == nil {
				err = r.worker.Send(frame)
			}
			_ = err // the worker may be gone
			continue
		}
		r.take(e)
	}
	r.more.Broadcast()
}

func (r *rig) take(e protocol.Effect) {
	v := &r.route
	switch e := e.(type) {
	case protocol.Complete:
		r.done[e.ID] = e
	case protocol.Progress:
		if c, err := protocol.ReadLogChunk(e.Item); err == nil {
			r.log[c.Stream].Write(c.Text)
		}
	case protocol.RouteOpened:
		v.told = append(v.told, "opened")
	case protocol.RouteRefused:
		v.told, v.failed = append(v.told, "refused"), e.Err
	case protocol.Chunk:
		v.came = append(v.came, e.Data...)
	case protocol.RouteWritten:
		v.unread -= e.Bytes
	case protocol.RouteExited:
		v.told, v.exit = append(v.told, "exited"), e.Exit
	case protocol.RouteEnded:
		v.told, v.failed = append(v.told, "ended"), e.Err
	case protocol.RouteClosed:
		v.told = append(v.told, "closed")
	}
}

// await waits until something holds, which is looked at under the lock, or the worker is
// gone.
func (r *rig) await(holds func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !holds() && !r.isOver {
		r.more.Wait()
	}
}

// begin calls a hook and returns what waits for its end.
func (r *rig) begin(hook, input string) func() protocol.Complete {
	r.mu.Lock()
	r.last++
	id := r.last
	r.mu.Unlock()
	r.step(protocol.Invoke{ID: id, Follows: hook == "execute", Call: protocol.Call{Key: "environment:workshop." + hook, Input: json.RawMessage(input)}})
	return func() protocol.Complete {
		r.await(func() bool { _, ok := r.done[id]; return ok })
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.done[id]
	}
}

// calls calls a hook, which has to succeed.
func (r *rig) calls(hook, input string, result any) {
	r.t.Helper()
	end := r.begin(hook, input)()
	require.NoError(r.t, end.Err)
	require.NoError(r.t, json.Unmarshal(end.Result, result))
}

// sh begins a shell's script; more are other members of the execution.
func (r *rig) sh(script, more string) func() protocol.Complete {
	quoted, _ := json.Marshal(script)
	return r.begin("execute", fmt.Sprintf(`{"lease":{"providerLeaseId":%q},"command":"sh","args":["-c",%s]%s}`, r.lease, quoted, more))
}

// wantRun runs a script and compares its result.
func (r *rig) wantRun(script, more, want string) {
	r.t.Helper()
	end := r.sh(script, more)()
	require.NoError(r.t, end.Err)
	require.JSONEq(r.t, want, string(end.Result))
}

// opens opens a route.
func (r *rig) opens(kind protocol.RouteKind, more string) {
	r.t.Helper()
	params := fmt.Sprintf(`{"driverKey":"workshop","environmentId":"e","providerLeaseId":%q,%s}`, r.lease, more)
	r.step(protocol.OpenRoute{ID: 1, Route: protocol.Route{Kind: kind, Params: json.RawMessage(params)}})
	r.wantTold("opened")
	r.step(protocol.ReadRoute{ID: 1})
}

// wantTold waits until so much was told of the route, and compares.
func (r *rig) wantTold(words string) {
	r.t.Helper()
	want := strings.Fields(words)
	r.await(func() bool { return len(r.route.told) >= len(want) })
	require.Equal(r.t, want, r.route.told, "%v", r.route.failed)
}

// wantCame waits until the route has said something, and forgets all up to there.
func (r *rig) wantCame(text string) {
	r.t.Helper()
	at := -1
	r.await(func() bool { at = bytes.Index(r.route.came, []byte(text)); return at >= 0 })
	require.GreaterOrEqual(r.t, at, 0, "the worker has ended")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.route.came = r.route.came[at+len(text):]
}

// write writes when there is room.
func (r *rig) write(data []byte) {
	r.await(func() bool { return r.route.unread < 128<<10 })
	r.mu.Lock()
	r.route.unread += len(data)
	r.mu.Unlock()
	r.step(protocol.WriteRoute{ID: 1, Data: data})
}

// family is a grandchild, which has left its session and lost its parent, and writes its
// name when it is there. gone waits for its death, and that of all that hold the same pipe.
func family(t *testing.T) (script string, there, gone func()) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "family")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	script = fmt.Sprintf(`exec 9<>%s; (setsid sh -c 'echo there >&9; trap "" TERM INT HUP; sleep 1000' &) ; `, pipe)
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // not to wait for it here
	require.NoError(t, err)
	lines := bufio.NewReader(f)
	there = func() {
		t.Helper()
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "there\n", line)
	}
	gone = func() {
		t.Helper()
		only, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		_, err = io.Copy(io.Discard, only)
		require.NoError(t, errors.Join(err, only.Close()), "until nobody holds it")
	}
	return script, there, gone
}

func TestExecute_runsCommands(t *testing.T) {
	r := open(t)
	r.wantRun(`cat; echo "$GREETING" >&2; pwd | sed 's|.*/||'; exit 3`, `,"stdin":"fed\n","env":{"GREETING":"Moin €"}`,
		`{"exitCode":3,"timedOut":false,"stdout":"fed\n`+r.lease+`\n","stderr":"Moin €\n"}`)
	require.Equal(t, "fed\n"+r.lease+"\n", r.log["stdout"].String())
	require.Equal(t, "Moin €\n", r.log["stderr"].String())
	r.wantRun(`kill -KILL $$`, ``, `{"exitCode":null,"signal":"SIGKILL","timedOut":false,"stdout":"","stderr":""}`)

	end := r.begin("execute", `{"lease":{"providerLeaseId":"`+r.lease+`"},"command":"no-such-program"}`)()
	require.ErrorContains(t, end.Err, `command: exec: "no-such-program": executable file not found`)
	end = r.begin("execute", `{"lease":{"providerLeaseId":"`+r.lease+`"}}`)()
	require.EqualError(t, end.Err, `command: expected a program`)
	end = r.begin("execute", `{"lease":{"providerLeaseId":"/etc"},"command":"true"}`)()
	require.EqualError(t, end.Err, `providerLeaseId: expected a lease of the workshop's, got "/etc"`)

	var gone plugin.EnvironmentEnded
	r.calls("destroyLease", `{"providerLeaseId":"`+r.lease+`"}`, &gone)
	require.Equal(t, "destroyed", gone.State)
	require.ErrorContains(t, r.sh("true", "")().Err, "is over: acquire another one")
}

func TestExecute_logsAllOfALot(t *testing.T) {
	r := open(t)
	end := r.sh(`head -c 12000000 /dev/zero | tr '\0' x; head -c 1000000 /dev/zero | tr '\0' y >&2`, ``)()
	require.NoError(t, end.Err)
	require.Equal(t, 12_000_000, strings.Count(r.log["stdout"].String(), "x"))
	require.Equal(t, 1_000_000, strings.Count(r.log["stderr"].String(), "y"))
	var is plugin.EnvironmentExecuted
	require.NoError(t, json.Unmarshal(end.Result, &is))
	require.Len(t, is.Stdout, 8<<20)
	require.JSONEq(t, fmt.Sprintf(`{"stdoutOmittedBytes":%d}`, 12_000_000-8<<20), string(is.Metadata))
}

// slow is a writer that takes nothing before it is let.
type slow struct{ let chan struct{} }

func (s slow) Write(p []byte) (int, error) {
	<-s.let
	return len(p), nil
}

// A result that lacks what nobody took is none.
func TestKept_tellsOfOutputThatNobodyTook(t *testing.T) {
	k, err := newKept(t.Context(), onPipes, t.TempDir(), nil, "echo", "hello")
	require.NoError(t, err)
	out := slow{make(chan struct{})}
	k.Path, k.WaitDelay, k.Stdout = binary, 10*time.Millisecond, out
	require.NoError(t, k.start())
	_, err = k.wait()
	close(out.let)
	require.EqualError(t, err, "not all that echo wrote was taken within 10ms of its end: "+exec.ErrWaitDelay.Error())
}

// Whatever ends a command ends all that it has started.
func TestExecute_leavesNobodyBehind(t *testing.T) {
	for name, end := range map[string]func(*rig, func() protocol.Complete, func()){
		"itsEnd": func(r *rig, done func() protocol.Complete, _ func()) { require.NoError(r.t, done().Err) },
		"itsLimit": func(r *rig, done func() protocol.Complete, _ func()) {
			require.JSONEq(r.t, `{"exitCode":null,"timedOut":true,"stdout":"","stderr":""}`, string(done().Result))
		},
		"theEndOfTheWorker": func(r *rig, done func() protocol.Complete, there func()) {
			there()
			_, err := r.worker.Stop(r.t.Context(), process.Ladder{})
			require.NoError(r.t, err)
			done()
		},
		"theDeathOfTheWorker": func(r *rig, done func() protocol.Complete, there func()) {
			there()
			require.NoError(r.t, syscall.Kill(r.worker.Pid(), syscall.SIGKILL))
			require.Error(r.t, done().Err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t)
			script, there, gone := family(t)
			more := ``
			switch name {
			case "itsLimit":
				script += "sleep 1000"
				more = `,"timeoutMs":300`
			case "itsEnd":
				script += "true"
			default:
				script += "sleep 1000"
			}
			end(r, r.sh(script, more), there)
			gone()
		})
	}
}

func TestTerminal_isOne(t *testing.T) {
	r := open(t)
	r.opens(protocol.RoutePTY, `"loginCommandKey":"codex"`)
	r.write([]byte("stty size; tty; echo \"key is $LOGIN\"\r"))
	r.wantCame("30 100\r\n")
	r.wantCame("/dev/pts/")
	r.wantCame("key is codex\r\n$ ") // else its prompt may come between what follows
	r.write([]byte("cat\r"))
	r.wantCame("cat\r\n")
	r.write([]byte("hello\r"))
	r.wantCame("hello\r\nhello\r\n") // the terminal's echo, and what cat says
	r.write([]byte{3})               // Ctrl-C
	r.wantCame("^C\r\n$ ")
	r.write([]byte("echo status $?\r"))
	r.wantCame("status 130\r\n")
	script, there, gone := family(t)
	r.write([]byte(script + "\r"))
	there()
	r.write([]byte("exit 7\r"))
	r.wantTold("opened exited")
	require.Equal(t, protocol.Exit{Code: 7, HasCode: true}, r.route.exit)
	gone()
	r.step(protocol.CloseRoute{ID: 1})
	r.wantTold("opened exited ended closed")
}

func TestTerminal_isStopped(t *testing.T) {
	r := open(t)
	r.opens(protocol.RoutePTY, `"loginCommandKey":"claude"`)
	script, there, gone := family(t)
	r.write([]byte(script + "\r"))
	there()
	r.step(protocol.StopRoute{ID: 1})
	r.wantTold("opened exited")
	require.Equal(t, protocol.Exit{}, r.route.exit, "by a signal")
	gone()
}

func TestChannel_carriesBytes(t *testing.T) {
	r := open(t)
	r.opens(protocol.RouteDuplex, `"command":["cat","-u"]`)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	long := bytes.Repeat(all, 8<<10) // 2 MiB
	go func() {
		for rest := long; len(rest) > 0; {
			n := min(len(rest), 64<<10-1)
			r.write(rest[:n])
			rest = rest[n:]
		}
	}()
	r.await(func() bool { return len(r.route.came) == len(long) })
	require.True(t, bytes.Equal(long, r.route.came))
	r.step(protocol.CloseRoute{ID: 1})
	r.wantTold("opened ended closed")
	require.NoError(t, r.route.failed)
}

func TestChannel_isClosedInTheMiddle(t *testing.T) {
	r := open(t)
	script, there, gone := family(t)
	command, err := json.Marshal([]string{"sh", "-c", script + "cat /dev/zero"})
	require.NoError(t, err)
	r.opens(protocol.RouteDuplex, `"command":`+string(command))
	there()
	r.await(func() bool { return len(r.route.came) > 1<<20 })
	r.step(protocol.CloseRoute{ID: 1})
	r.wantTold("opened ended closed")
	gone()
}

func TestChannel_tellsOfItsProgram(t *testing.T) {
	r := open(t)
	r.opens(protocol.RouteDuplex, `"command":["sh","-c","echo out; echo err >&2; exit 9"]`)
	r.wantTold("opened exited")
	require.Equal(t, "out\n", string(r.route.came))
	require.Equal(t, protocol.Exit{Code: 9, HasCode: true}, r.route.exit)
	r.step(protocol.CloseRoute{ID: 1})
	r.wantTold("opened exited ended closed")

	r.route = far{}
	r.step(protocol.OpenRoute{ID: 2, Route: protocol.Route{Kind: protocol.RouteDuplex, Params: json.RawMessage(
		`{"driverKey":"workshop","environmentId":"e","providerLeaseId":"` + r.lease + `","command":["no-such-program"]}`)}})
	r.wantTold("refused closed")
	require.ErrorContains(t, r.route.failed, "executable file not found")
}

func TestConfiguration_isLookedAt(t *testing.T) {
	r := open(t)
	for config, want := range map[string]string{
		`{}`:                        `{"ok":true,"normalizedConfig":{"shell":"sh"}}`,
		`{"shell":7}`:               `{"ok":false,"errors":["shell: expected a string"]}`,
		`{"shell":"no-such-shell"}`: `{"ok":false,"errors":["shell: exec: \"no-such-shell\": executable file not found in $PATH"]}`,
	} {
		var got json.RawMessage
		r.calls("validateConfig", `{"config":`+config+`}`, &got)
		require.JSONEq(t, want, string(got))
	}
	require.EqualError(t, r.begin("acquireLease", `{"config":{"shell":7}}`)().Err, "shell: expected a string")
	var probed plugin.EnvironmentProbed
	r.calls("probe", `{}`, &probed)
	require.True(t, probed.OK)
}
