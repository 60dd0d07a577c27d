package peers

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"
)

func TestUnpack_makesACopyOfItsOwn(t *testing.T) {
	modules, dir := t.TempDir(), t.TempDir()
	require.NoError(t, Unpack(dir, modules, "echo", Changes{ID: "echo-7", Host: map[string]any{"priority": 2}, Record: true}))
	text, err := os.ReadFile(filepath.Join(dir, changesFile))
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"echo-7","airi-host":{"priority":2},"entrypoints":{"worker":"./record.mjs"}}`, string(text))
	require.FileExists(t, filepath.Join(dir, recorderFile))
	link, err := os.Readlink(filepath.Join(dir, "node_modules"))
	require.NoError(t, err)
	require.Equal(t, modules, link)
}

func TestUnpack_saysWhatIsWrong(t *testing.T) {
	require.EqualError(t, Unpack(t.TempDir(), "", "pantry", Changes{}),
		`there is no fixture "pantry": expected a folder of peers/testdata/paperclip`)
	require.ErrorContains(t, Unpack(t.TempDir(), "/", "echo", Changes{Host: map[string]any{"x": func() {}}}), "the changes of ")
}

// What a recorded worker is sent is the same with the recorder and without, and the
// bytes on file are those of the wire.
func recordingChangesNothing(t *testing.T, m lab) {
	t.Helper()
	long := strings.Repeat("ö", 100_000)
	for _, record := range []bool{false, true} {
		plugin, dir := m.start(t, "echo", Changes{Record: record}, nil)
		require.JSONEq(t, `{"text":"`+long+`"}`, m.call(t, plugin, "getData", map[string]any{"key": "echo", "params": map[string]string{"text": long}}))
		require.Contains(t, m.call(t, plugin, "performAction", map[string]any{"key": "fan", "params": map[string]int{"calls": 50, "flight": 8}}), `"calls":50`)
		m.stop(t, plugin)
		if !record {
			require.NoFileExists(t, filepath.Join(dir, Received))
			continue
		}
		received := frames(t, dir, Received)
		require.Len(t, received, 1+1+1+50+1)
		require.JSONEq(t, `{"key":"echo","params":{"text":"`+long+`"}}`, string(received[1].Params))
		require.Len(t, frames(t, dir, Sent), 1+1+50+1+1)
	}
}

// rogue calls a deed of a rogue. What is to hang is not waited for for long.
func (m lab) rogue(t *testing.T, plugin, deed, params string, hangs bool, result any) error {
	t.Helper()
	timeout := 30 * time.Second
	if hangs {
		timeout = 300 * time.Millisecond
	}
	return m.Try(t, "call", map[string]any{
		"plugin": plugin, "method": "getData", "timeoutMs": timeout.Milliseconds(),
		"params": map[string]any{"key": deed, "params": json.RawMessage(cmp.Or(params, "{}"))},
	}, result)
}

// process is that of a worker.
func (m lab) process(t *testing.T, plugin string) *os.Process {
	t.Helper()
	var is struct{ PID int }
	m.Do(t, "status", map[string]any{"plugin": plugin}, &is)
	process, err := os.FindProcess(is.PID)
	require.NoError(t, err)
	return process
}

// kill ends a worker by force, so that its stop need not wait.
func (m lab) kill(t *testing.T, plugin string) {
	t.Helper()
	require.NoError(t, m.process(t, plugin).Kill())
}

// Each deed of the rogue shows what it is there for under the real manager.
func TestRogue_misbehaves(t *testing.T) {
	t.Parallel()
	modules := Install(t, Paperclip916) // the older one dies of a worker that closes its input
	exits := &ends{seen: map[string]chan struct{}{}}
	m := lab{StartManager(t, modules, exits.note), modules}
	for deed, row := range map[string]struct {
		params, fails string
		// exits tells that the worker ends, then how the next call fails.
		exits bool
		then  string
	}{
		"throw":             {params: `{"message":"no","code":7}`, fails: "no"},
		"throw-value":       {params: `{"value":"text"}`, fails: "text"},
		"throw-later":       {exits: true},
		"reject-later":      {},
		"exit":              {params: `{"code":3}`, fails: "(code=3, signal=null)", exits: true},
		"exit-after-answer": {params: `{"code":4}`, exits: true},
		"kill":              {fails: "(code=null, signal=SIGKILL)", exits: true},
		"hang":              {fails: "timed out after 300ms"},
		"late":              {params: `{"ms":20}`},
		"held":              {fails: "timed out after 300ms"},
		"release":           {},
		"spin":              {params: `{"ms":20}`},
		"stdout":            {params: `{"bytes":100000}`},
		"stderr":            {params: `{"bytes":100000}`},
		"notify":            {params: `{"count":100}`},
		"say":               {params: `{"text":"hello\n"}`},
		"long-line":         {params: `{"bytes":100000,"end":true}`},
		"deaf":              {params: `{"ms":20}`},
		"close-stdin":       {then: "is not running"},
		"close-stdout":      {then: "timed out after 300ms"},
	} {
		t.Run(deed, func(t *testing.T) {
			t.Parallel()
			plugin, _ := m.start(t, "rogue", Changes{}, nil)
			err := m.rogue(t, plugin, deed, row.params, strings.HasPrefix(row.fails, "timed out"), nil)
			if row.fails == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.fails)
			}
			if row.then != "" {
				for range 10 { // the manager may have to write to notice
					if err = m.rogue(t, plugin, "echo", "", true, nil); err == nil || strings.Contains(err.Error(), row.then) {
						break
					}
				}
				require.ErrorContains(t, err, row.then)
				m.kill(t, plugin)
			}
			if row.exits {
				exits.wait(t, plugin)
			}
		})
	}
}

// A rogue that is told to stays, and so does its grandchild.
func TestRogue_stays(t *testing.T) {
	t.Parallel()
	modules := Install(t, Paperclip)
	m := lab{StartManager(t, modules, nil), modules}
	plugin, _ := m.start(t, "rogue", Changes{}, nil)
	require.NoError(t, m.rogue(t, plugin, "ignore-term", "", false, nil))
	require.NoError(t, m.rogue(t, plugin, "ignore-shutdown", "", false, nil))
	require.NoError(t, m.process(t, plugin).Signal(syscall.SIGTERM))
	var grandchild struct{ PID, Parent int }
	require.NoError(t, m.rogue(t, plugin, "fork", `{"ms":60000,"hold":false}`, false, &grandchild))
	require.Equal(t, m.process(t, plugin).Pid, grandchild.Parent)
	m.kill(t, plugin)
	orphan, err := os.FindProcess(grandchild.PID)
	require.NoError(t, err)
	require.NoError(t, orphan.Kill(), "it outlives the worker")
}

// ends are the workers that have exited.
type ends struct {
	mu   sync.Mutex
	seen map[string]chan struct{}
}

// of is closed when the plugin's worker has exited.
func (e *ends) of(plugin string) chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen[plugin] == nil {
		e.seen[plugin] = make(chan struct{})
	}
	return e.seen[plugin]
}

func (e *ends) note(event json.RawMessage) {
	var is struct{ Event, Plugin string }
	if json.Unmarshal(event, &is) == nil && is.Event == "exit" {
		close(e.of(is.Plugin))
	}
}

func (e *ends) wait(t *testing.T, plugin string) {
	t.Helper()
	select {
	case <-e.of(plugin):
	case <-time.After(30 * time.Second):
		t.Fatal("the worker has not exited within 30 s")
	}
}

func tellsThatASetupFailed(t *testing.T, m lab) {
	t.Helper()
	dir := Fixture(t, m.modules, "rogue", Changes{})
	err := m.Try(t, "start", map[string]any{"dir": dir, "env": map[string]string{"ROGUE": `throw {"message":"not today"}`}}, nil)
	var failed *load.Failure
	require.ErrorAs(t, err, &failed)
	require.Contains(t, failed.Message, "not today")
}
