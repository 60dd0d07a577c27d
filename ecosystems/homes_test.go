package ecosystems

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// below makes the directories of plugins below a root.
func below(root string) func(plugin string) (string, error) {
	return func(plugin string) (string, error) {
		dir := filepath.Join(root, plugin)
		return dir, os.MkdirAll(dir, 0o700)
	}
}

func always(string) bool { return true }

func TestHomes_haveAKeyForEachWorker(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "p", KeyFile)
	var signs atomic.Bool
	signs.Store(true)
	h := NewHomes(below(root), func(string) bool { return signs.Load() })
	first, err := h.enter("p")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "p"), first.dir)
	info, err := os.Lstat(file)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, hex.EncodeToString(h.Key("p")), string(text))
	require.Len(t, h.Key("p"), 32)
	require.Nil(t, h.Key("other"))
	was := h.Key("p")

	second, err := h.enter("p")
	require.NoError(t, err)
	require.NotEqual(t, was, h.Key("p"), "what was signed for one process is worth nothing for the next one")
	first.leave()
	require.NotNil(t, h.Key("p"), "the newer worker keeps its key")
	require.FileExists(t, file)
	second.leave()
	second.leave()
	require.Nil(t, h.Key("p"))
	require.NoFileExists(t, file)

	_, err = h.enter("p")
	require.NoError(t, err)
	signs.Store(false)
	_, err = h.enter("p")
	require.NoError(t, err)
	require.Nil(t, h.Key("p"), "the next start goes by the settings of then")
	require.NoFileExists(t, file)
}

func TestHomes_doNotWriteThroughWhatAPluginLeft(t *testing.T) {
	root := t.TempDir()
	mine := filepath.Join(root, "mine")
	require.NoError(t, os.WriteFile(mine, []byte("precious"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(root, "p"), 0o700))
	require.NoError(t, os.Symlink(mine, filepath.Join(root, "p", KeyFile)))
	h := NewHomes(below(root), always)
	here, err := h.enter("p")
	require.NoError(t, err)
	text, err := os.ReadFile(mine)
	require.NoError(t, err)
	require.Equal(t, "precious", string(text))
	here.leave()
	require.FileExists(t, mine)

	require.NoError(t, os.MkdirAll(filepath.Join(root, "q", KeyFile, "x"), 0o700))
	_, err = h.enter("q")
	require.ErrorContains(t, err, "plugin q: its state directory: remove ")
	require.Nil(t, h.Key("q"))
}

func TestHomes_failWhereThereIsNone(t *testing.T) {
	here, err := (*Homes)(nil).enter("p")
	require.NoError(t, err)
	require.Empty(t, here.dir)
	here.leave()
	require.Nil(t, (*Homes)(nil).Key("p"))
	_, err = NewHomes(nil, always).enter("p")
	require.ErrorContains(t, err, "plugin p: its state directory: its calls are to be signed")
	_, err = NewHomes(func(string) (string, error) { return "", fs.ErrPermission }, nil).enter("p")
	require.EqualError(t, err, "plugin p: its state directory: permission denied")
}

// A worker that checks takes what the host has signed, and nothing else is told of the key.
func TestOpen_anElizaWorkerChecksSignatures(t *testing.T) {
	root := t.TempDir()
	dir := elizaPlugin(t, "checks", `{"bun":{"run":true}}`, `{
		name: 'checks',
		models: {
			SAY: async (_r, params) => params,
			TOLD: async () => ({ argv: process.argv, env: process.env, key: readFileSync(process.env.ELIZA_REMOTE_PLUGIN_STATE_DIR + '/rpc.key', 'utf8') }),
			OTHER: async () => { console.error('a line of the log') },
		},
	}`)
	file := filepath.Join(root, "checks", KeyFile)
	h := elizaHost(t, Options{StateDir: below(root), Signs: always}, dir)
	for _, said := range []string{`{"b":[1.5,-0,1e21,{"ä":null}],"a":"ü\u2028\ud800"}`, `null`, `[]`, `"` + strings.Repeat("x", 1<<20) + `"`} {
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "model:SAY", Input: json.RawMessage(said)})
		require.NoError(t, err)
		require.JSONEq(t, said, string(got))
	}
	told, err := h.Invoke(t.Context(), protocol.Call{Key: "model:TOLD"})
	require.NoError(t, err)
	var about struct {
		Argv []string
		Env  map[string]string
		Key  string
	}
	require.NoError(t, json.Unmarshal(told, &about))
	require.Regexp(t, `^[0-9a-f]{64}$`, about.Key)
	require.NotContains(t, strings.Join(about.Argv, " "), about.Key)
	for name, value := range about.Env {
		require.NotContains(t, value, about.Key, name)
	}
	for _, one := range h.Sessions() {
		_, err = h.Stop(t.Context(), one.ID)
		require.NoError(t, err)
	}
	require.NoFileExists(t, file, "it goes with its worker")
	_, err = h.Start(t.Context(), h.Found.Manifests[0], actors.StartOptions{})
	require.NoError(t, err)
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotEqual(t, about.Key, string(again))
	wantCall(t, h, protocol.Call{Key: "model:SAY", Input: json.RawMessage(`1`)}, `1`)
}

// A worker that has another key refuses what the host signs, which is told.
func TestOpen_anElizaWorkerWithAnotherKey(t *testing.T) {
	var denied atomic.Pointer[eliza.Denial]
	other := strings.Repeat("ab", 32)
	for name, key := range map[string][]byte{"the host has another one": []byte("another"), "the host signs nothing": nil} {
		t.Run(name, func(t *testing.T) {
			dir := elizaPlugin(t, "strict", `{}`, `{ name: 'strict', models: { SAY: async () => 1 } }, { rpcKey: '`+other+`' }`)
			o := Options{Policy: Policy{
				Key:    func(string) []byte { return key },
				Denied: func(d eliza.Denial) { denied.Store(&d) },
			}}
			h := elizaHost(t, o, dir)
			_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:SAY"})
			require.ErrorContains(t, err, "Worker RPC message MAC missing or invalid")
			require.Equal(t, eliza.Denial{
				Plugin: "strict", Surface: "model", Target: "model:SAY:1",
				Reason: "the worker of plugin strict refused the signature of a call: Worker RPC message MAC missing or invalid",
			}, *denied.Load())
		})
	}
}

// checking is a worker that checks, run by hand: a test that writes to it what no host would.
type checking struct {
	t   *testing.T
	key []byte
	in  *json.Encoder
	out *bufio.Scanner
}

func startChecking(t *testing.T) *checking {
	t.Helper()
	need.Node(t)
	dir := elizaPlugin(t, "checks", `{}`, `{ name: 'checks', models: { SAY: async (_r, params) => params } }`)
	home, err := NewHomes(below(t.TempDir()), always).enter("checks")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(home.dir, KeyFile))
	require.NoError(t, err)
	key, err := hex.DecodeString(string(text))
	require.NoError(t, err)
	cmd := exec.Command("node", filepath.Join(dir, "worker.mjs"))
	cmd.Env = append(os.Environ(), "ELIZA_REMOTE_PLUGIN_STATE_DIR="+home.dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, errors.Join(in.Close(), cmd.Wait()))
	})
	w := &checking{t: t, key: key, in: json.NewEncoder(in), out: bufio.NewScanner(out)}
	for w.out.Scan() && !strings.Contains(w.out.Text(), "init-complete") {
		continue
	}
	return w
}

// call is a call of its model, signed with a key.
func (w *checking) call(key []byte, id int, args string) map[string]any {
	w.t.Helper()
	r := eliza.RPC{
		RequestID: json.RawMessage(strconv.Itoa(id)), Surface: json.RawMessage(`"model"`), Target: json.RawMessage(`"model:SAY:1"`),
		Args: json.RawMessage(args),
	}
	mac, err := eliza.Sign(key, r)
	require.NoError(w.t, err)
	return map[string]any{"type": "worker-rpc", "requestId": r.RequestID, "surface": r.Surface, "target": r.Target, "args": r.Args, "mac": mac}
}

// answer writes a frame, and tells whether the worker does what it says: else it refuses it.
func (w *checking) answer(frame map[string]any) bool {
	w.t.Helper()
	require.NoError(w.t, w.in.Encode(frame))
	require.True(w.t, w.out.Scan())
	var said struct {
		OK    bool
		Error struct{ Name, Code string }
	}
	require.NoError(w.t, json.Unmarshal(w.out.Bytes(), &said))
	if !said.OK {
		require.Equal(w.t, "RpcAuthError RPC_AUTH_FAILED", said.Error.Name+" "+said.Error.Code)
	}
	return said.OK
}

func TestWorker_refusesWhatTheHostHasNotSigned(t *testing.T) {
	w := startChecking(t)
	const args = `{"params":{"z":1,"a":[null,"\u2028"]}}`
	first := w.call(w.key, 1, args)
	require.True(t, w.answer(first))
	require.False(t, w.answer(first), "a replay")
	for name, change := range map[string]func(frame map[string]any){
		"no signature":        func(f map[string]any) { delete(f, "mac") },
		"an empty one":        func(f map[string]any) { f["mac"] = "" },
		"no hexadecimal one":  func(f map[string]any) { f["mac"] = strings.Repeat("zz", 32) },
		"one and more":        func(f map[string]any) { f["mac"] = strings.Trim(string(f["mac"].(json.RawMessage)), `"`) + "z" },
		"a part of one":       func(f map[string]any) { f["mac"] = string(f["mac"].(json.RawMessage)[1:9]) },
		"a number":            func(f map[string]any) { f["mac"] = 7 },
		"other args":          func(f map[string]any) { f["args"] = json.RawMessage(`{"params":{"z":2}}`) },
		"no args":             func(f map[string]any) { delete(f, "args") },
		"another number":      func(f map[string]any) { f["requestId"] = 900 },
		"its number as text":  func(f map[string]any) { f["requestId"] = "7" },
		"its number in a row": func(f map[string]any) { f["requestId"] = []int{7} },
		"another target":      func(f map[string]any) { f["target"] = "model:OTHER:2" },
		"an endless number":   func(f map[string]any) { f["args"] = json.RawMessage(`{"params":1e400}`) },
		"depth": func(f map[string]any) {
			f["args"] = json.RawMessage(strings.Repeat("[", 9000) + strings.Repeat("]", 9000))
		},
	} {
		frame := w.call(w.key, 7, args)
		change(frame)
		require.False(t, w.answer(frame), name)
	}
	require.False(t, w.answer(w.call([]byte("another key"), 7, args)))
	require.True(t, w.answer(w.call(w.key, 7, args)), "what was refused has used up no number")
	require.False(t, w.answer(w.call(w.key, 6, args)), "an older one")
}
