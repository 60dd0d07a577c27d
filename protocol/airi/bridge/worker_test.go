package bridge_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/bridge"

	"github.com/airi-host/airi-host/internal/need"
)

// patience is how long a test waits for what has to come. It is generous: it ends
// a test that hangs, and no test depends on it.
const patience = 30 * time.Second

// worker is a module behind the bridge, in a real Node.js, and the host's end of
// its connection: what a session's peer does, in the smallest way that works.
type worker struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdin          io.Closer
	stdout, stderr *output
	// in is written by the host; read ends when the module's end is closed.
	in   *os.File
	read chan struct{}
	// effects are what the driver asked for, save for frames and, unless it is
	// open, services.
	effects chan protocol.Effect
	// open leaves the module's calls to the test.
	open bool

	mu       sync.Mutex
	driver   protocol.Driver
	lastCall protocol.CallID
}

// services answer what modules call in these tests.
var services = map[string]func(input string) (string, error){
	airi.ServiceCapabilityWait: func(input string) (string, error) {
		if strings.Contains(input, "cap:never") {
			return "", &protocol.Error{Code: protocol.CodeTimeout, Message: "Capability `cap:never` is not ready after 15ms."}
		}
		return `{"state":"ready","asked":` + input + `}`, nil
	},
	airi.ServiceCapabilitySnapshot: func(string) (string, error) { return `[{"key":"cap:x","state":"ready"}]`, nil },
	airi.ServiceListProviders:      func(string) (string, error) { return `[{"name":"provider1"}]`, nil },
	"clock.fail":                   func(string) (string, error) { return "", errors.New("resolver exploded") },
}

// node finds Node.js, without which there is nothing to test.
func node(t *testing.T) string {
	t.Helper()
	return tool(t, "node")
}

func tool(t *testing.T, name string) string {
	t.Helper()
	return need.Program(t, name, name+" is not installed")
}

// plugin writes the files of a plugin, by name, and returns its directory.
func plugin(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// start starts the module whose text is given, as main.mjs.
func start(t *testing.T, text string) *worker {
	t.Helper()
	return startIn(t, plugin(t, map[string]string{"main.mjs": text}), "main.mjs")
}

func startIn(t *testing.T, dir, entry string) *worker {
	t.Helper()
	main, err := bridge.Install(t.TempDir())
	require.NoError(t, err)
	cmd := exec.Command(node(t), bridge.Args(main, entry)...)
	cmd.Dir = dir
	w := &worker{
		t: t, cmd: cmd, stdout: &output{}, stderr: &output{},
		read:    make(chan struct{}),
		effects: make(chan protocol.Effect, 10_000),
		driver:  airi.Dialect{}.NewDriver(protocol.Settings{Plugin: "lab-plugin"}),
	}
	cmd.Stdout, cmd.Stderr = w.stdout, w.stderr
	w.stdin, err = cmd.StdinPipe()
	require.NoError(t, err)
	theirIn, ourIn, err := os.Pipe()
	require.NoError(t, err)
	ourOut, theirOut, err := os.Pipe()
	require.NoError(t, err)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	require.NoError(t, cmd.Start())
	require.NoError(t, theirIn.Close())
	require.NoError(t, theirOut.Close())
	w.in = ourIn
	go w.receive(ourOut)
	t.Cleanup(w.end)
	return w
}

// end stops the module and collects what there is of it.
func (w *worker) end() {
	_ = w.stdin.Close() // the test may have closed it
	kill := time.AfterFunc(patience, func() { _ = w.cmd.Process.Kill() })
	defer kill.Stop()
	<-w.read
	if w.cmd.ProcessState == nil {
		_ = w.cmd.Wait() // a test that minds how it ends asks for it
	}
	_ = w.in.Close()
}

// receive takes the module's records until its end closes.
func (w *worker) receive(from *os.File) {
	defer close(w.read)
	defer func() { _ = from.Close() }()
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		messages, bad := airi.Dialect{}.Codec().Decode(line)
		if bad != nil {
			w.effects <- protocol.Dropped{What: "unreadable", Detail: bad.Error()}
		}
		for _, m := range messages {
			w.step(protocol.Received{Message: m})
		}
		if err != nil {
			w.step(protocol.Closed{Err: err})
			return
		}
	}
}

// step gives the driver an input and does what it asks for.
func (w *worker) step(in protocol.Input) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.driver.Step(time.Now(), in, nil)
	for i := 0; i < len(out); i++ {
		switch e := out[i].(type) {
		case protocol.Send:
			w.write(e.Message)
		case protocol.Serve:
			if w.open {
				w.effects <- e
				continue
			}
			out = w.driver.Step(time.Now(), serve(e), out)
		default:
			w.effects <- e
		}
	}
}

func serve(e protocol.Serve) protocol.Reply {
	service, ok := services[e.Call.Key]
	if !ok {
		return protocol.Reply{ID: e.ID, Err: &protocol.Error{Code: protocol.CodeNotFound, Message: "nobody offers " + e.Call.Key}}
	}
	result, err := service(string(e.Call.Input))
	return protocol.Reply{ID: e.ID, Result: json.RawMessage(result), Err: err}
}

// write puts a frame on the wire. A module that has ended takes none.
func (w *worker) write(m protocol.Message) {
	record, err := airi.Dialect{}.Codec().Encode(nil, m)
	if err != nil {
		w.effects <- protocol.Fail{Err: err}
		return
	}
	_, _ = w.in.Write(append(record, '\n'))
}

// next waits for the next effect of a kind and passes all others by.
func next[E protocol.Effect](w *worker) E {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e := <-w.effects:
			if found, ok := e.(E); ok {
				return found
			}
		case <-deadline:
			require.FailNow(w.t, "nothing came", "wanted %T; stderr: %s", *new(E), w.stderr)
		}
	}
}

// run passes through steps that have to succeed.
func (w *worker) run(steps ...protocol.Step) {
	w.t.Helper()
	for _, s := range steps {
		require.NoError(w.t, w.tryRun(s))
	}
}

func (w *worker) tryRun(s protocol.Step) error {
	w.t.Helper()
	w.step(protocol.Run{Step: s})
	return next[protocol.Ran](w).Err
}

// ready brings the module to where all of its hooks have run.
func (w *worker) ready() {
	w.t.Helper()
	w.run(protocol.StepLoad, protocol.StepInit, protocol.StepSetup)
}

func (w *worker) call(key, input string) (string, error) {
	w.t.Helper()
	w.send(key, input)
	done := next[protocol.Complete](w)
	return string(done.Result), done.Err
}

// send makes a call without waiting for it.
func (w *worker) send(key, input string) {
	w.lastCall++
	call := protocol.Call{Key: key}
	if input != "" {
		call.Input = json.RawMessage(input)
	}
	w.step(protocol.Invoke{ID: w.lastCall, Call: call})
}

func (w *worker) wantCall(key, input, result string) {
	w.t.Helper()
	got, err := w.call(key, input)
	require.NoError(w.t, err)
	require.Equal(w.t, result, got)
}

// wantEvent waits for an event of the module and wants its payload.
func (w *worker) wantEvent(name, payload string) {
	w.t.Helper()
	e := next[protocol.Emitted](w)
	require.Equal(w.t, name, e.Event.Name)
	got, err := e.Event.JSON()
	require.NoError(w.t, err)
	require.Equal(w.t, payload, string(got))
}

func (w *worker) wantOffer(key string) {
	w.t.Helper()
	require.Equal(w.t, protocol.Offer{Key: key, Invocable: true}, next[protocol.Offered](w).Offer)
}

// wantExit waits until the process has ended by itself, and wants its code.
func (w *worker) wantExit(code int) {
	w.t.Helper()
	kill := time.AfterFunc(patience, func() { _ = w.cmd.Process.Kill() })
	defer kill.Stop()
	<-w.read
	_ = w.cmd.Wait() // says no more than the state
	require.Equal(w.t, code, w.cmd.ProcessState.ExitCode(), "stderr: %s", w.stderr)
}

// output collects what a process prints, up to 16 MiB.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() < 16<<20 {
		o.buf.Write(p)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
