package evaluate

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// counting is a module that notes each of its evaluations in a file of another
// directory, which it returns.
func counting(t *testing.T, dir string) (file, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "log")
	return write(t, filepath.Join(dir, "manifest.mjs"),
		`import fs from "fs"; fs.appendFileSync(`+fmt.Sprintf("%q", log)+`, "x"); export default {a: 1}`), log
}

// wantRuns compares how often the module ran.
func wantRuns(t *testing.T, log string, want int, why string) {
	t.Helper()
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Len(t, data, want, why)
}

func TestCache_keepsAnAnswerWhileNothingChanges(t *testing.T) {
	need.Node(t)
	dir := t.TempDir()
	file, log := counting(t, filepath.Join(dir, "dist"))
	n := &Node{}
	for range 3 {
		data, err := n.Evaluate(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, `{"a":1}`, string(data))
		data[0] = 'x' // the caller's own
	}
	wantRuns(t, log, 1, "nothing has changed")

	write(t, filepath.Join(dir, "package.json"), `{}`)
	wantSays(t, n, file, `{"a":1}`)
	wantRuns(t, log, 2, "package.json is new")

	sibling := write(t, filepath.Join(dir, "dist", "version.mjs"), `1`)
	wantSays(t, n, file, `{"a":1}`)
	wantRuns(t, log, 3, "a file beside it is new")

	require.NoError(t, os.Chtimes(sibling, time.Time{}, time.Now().Add(time.Hour)))
	wantSays(t, n, file, `{"a":1}`)
	wantRuns(t, log, 4, "a file beside it has changed")

	write(t, file, `export default {a: 2}`)
	wantSays(t, n, file, `{"a":2}`)
}

func TestCache_keepsNoFailure(t *testing.T) {
	need.Node(t)
	flag := filepath.Join(t.TempDir(), "flag")
	file := module(t, fmt.Sprintf(`import fs from "fs"; if (!fs.existsSync(%q)) throw 1; export default {}`, flag))
	n := &Node{}
	_, err := n.Evaluate(t.Context(), file)
	require.Error(t, err)
	write(t, flag, "")
	wantSays(t, n, file, `{}`)
}

func TestCache_isBounded(t *testing.T) {
	n := &Node{}
	var mark [sha256.Size]byte
	for i := range maxKept {
		n.keep(fmt.Sprint(i), mark, []byte("{}"))
	}
	n.keep("0", mark, []byte("[]"))
	require.Len(t, n.kept, maxKept, "the place of an older answer")
	data, ok := n.recall("0", mark)
	require.True(t, ok)
	require.Equal(t, "[]", string(data))
	n.keep("one more", mark, nil)
	require.Len(t, n.kept, 1)
}

func TestFingerprint_isUnknownWhereItWouldTakeTooMuch(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "a.mjs"), "1")
	_, known := fingerprint(file)
	require.True(t, known)

	_, known = fingerprint(filepath.Join(dir, "absent.mjs"))
	require.False(t, known)

	pipe := filepath.Join(dir, "pipe.mjs")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, known = fingerprint(pipe)
	require.False(t, known, "a pipe would block for ever")

	require.NoError(t, os.Truncate(write(t, filepath.Join(dir, "large.mjs"), ""), maxSource+1))
	_, known = fingerprint(filepath.Join(dir, "large.mjs"))
	require.False(t, known)

	for i := range maxSiblings {
		write(t, filepath.Join(dir, fmt.Sprint(i)), "")
	}
	_, known = fingerprint(file)
	require.False(t, known)
}

func TestNode_servesManyAtOnce(t *testing.T) {
	need.Node(t)
	n := &Node{}
	a, b := module(t, `export default "a"`), module(t, `export default "b"`)
	var all sync.WaitGroup
	for range 3 {
		for file, want := range map[string]string{a: `"a"`, b: `"b"`} {
			all.Go(func() {
				data, err := n.Evaluate(t.Context(), file)
				if err != nil || string(data) != want {
					t.Errorf("%s: %v", data, err)
				}
			})
		}
	}
	all.Wait()
}
