package watch

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/internal/logtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// bench is a watcher that looks at folders in a directory of its own.
type bench struct {
	*Watcher
	t    *testing.T
	root string
	told chan string // "folder: file", of whatever was told
	log  logtest.Buffer
	// watches are those of look, by the folders' names.
	watches map[string]*Watch
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	b := &bench{t: t, root: root, told: make(chan string, 100), watches: map[string]*Watch{}}
	if o.Debounce == 0 {
		o.Debounce = 20 * time.Millisecond
	}
	o.Log = slog.New(slog.NewTextHandler(&b.log, nil))
	b.Watcher, err = New(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.root, filepath.FromSlash(name)) }

// look looks at a folder, and at a second one that tells when all is heard.
func (b *bench) look(name string, shallow bool) {
	b.lookAt(Folder{Name: name, Shallow: shallow, Changed: b.tell(name)})
}

func (b *bench) lookAt(f Folder) {
	if b.watches["sentinel"] == nil {
		b.mkdir("sentinel")
		b.watches["sentinel"] = b.Add(Folder{Path: b.path("sentinel"), Passive: true, Changed: b.tell("sentinel")})
	}
	f.Path = b.path(f.Name)
	b.watches[f.Name] = b.Add(f)
}

func (b *bench) tell(name string) func(context.Context, string) {
	return func(_ context.Context, file string) {
		rel, err := filepath.Rel(b.root, file)
		if err != nil {
			rel = file
		}
		b.told <- name + ": " + filepath.ToSlash(rel)
	}
}

func (b *bench) mkdir(name string) {
	b.t.Helper()
	require.NoError(b.t, os.MkdirAll(b.path(name), 0o755))
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	b.mkdir(filepath.Dir(name))
	require.NoError(b.t, os.WriteFile(b.path(name), []byte(text), 0o644))
}

func (b *bench) remove(name string) {
	b.t.Helper()
	require.NoError(b.t, os.RemoveAll(b.path(name)))
}

func (b *bench) rename(from, to string) {
	b.t.Helper()
	require.NoError(b.t, os.Rename(b.path(from), b.path(to)))
}

func (b *bench) link(to, name string) {
	b.t.Helper()
	require.NoError(b.t, os.Symlink(to, b.path(name)))
}

// wantTold waits until a change of a folder is told.
func (b *bench) wantTold(want string) {
	b.t.Helper()
	late := time.After(patience)
	for {
		select {
		case got := <-b.told:
			if got == want {
				return
			}
		case <-late:
			require.FailNow(b.t, "it was not told", "%s\n%s", want, b.log.String())
		}
	}
}

// settle returns when all that has changed so far was heard and told. It tells how
// often a folder was.
func (b *bench) settle(name string) (times int) {
	b.t.Helper()
	b.write("sentinel/x", time.Now().String())
	late := time.After(patience)
	heard := false
	for {
		if heard {
			busy := false
			b.do(func() {
				t := b.watches[name].tree
				busy = !t.pace.first.IsZero() || t.pace.running
			})
			if !busy && len(b.told) == 0 {
				return times
			}
		}
		again := time.NewTimer(5 * time.Millisecond)
		select {
		case got := <-b.told:
			if filepath.ToSlash(got) == "sentinel: sentinel/x" {
				heard = true
			} else {
				times++
			}
		case <-again.C:
		case <-late:
			require.FailNow(b.t, "it is not quiet")
		}
		again.Stop()
	}
}
