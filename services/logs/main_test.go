package logs

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/internal/logtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is files under test.
type bench struct {
	*Files
	t    *testing.T
	told logtest.Buffer // what the host's log says
	n    int
}

// openBench opens the files of a directory; they are closed when the test ends.
func openBench(t *testing.T, dir string, o Options) *bench {
	t.Helper()
	b := &bench{t: t}
	o.Log = slog.New(slog.NewTextHandler(&b.told, nil))
	b.Files = Open(dir, o)
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// say adds records of a plugin, a second apart.
func (b *bench) say(plugin string, messages ...string) {
	for _, m := range messages {
		b.Add(Record{Time: epoch.Add(time.Duration(b.n) * time.Second), Plugin: plugin, Session: "s", Stream: "log", Message: m})
		b.n++
	}
}

// wantWritten waits until nothing waits.
func (b *bench) wantWritten() {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return b.Stats().Waiting == 0 }, 10*time.Second, time.Millisecond)
}

// wantRead compares the messages that are read.
func wantRead(t *testing.T, dir, plugin string, q Query, want ...string) {
	t.Helper()
	all, err := Read(dir, plugin, q)
	require.NoError(t, err)
	require.Equal(t, want, messagesOf(all))
}

func messagesOf(all []Record) (messages []string) {
	for _, r := range all {
		messages = append(messages, r.Message)
	}
	return messages
}

// namesIn lists a directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func numbered(n int) (messages []string) {
	for i := range n {
		messages = append(messages, fmt.Sprint("message ", i))
	}
	return messages
}

// faultyDisk fails, or is stuck, while it is told to.
type faultyDisk struct {
	mu  sync.Mutex
	err error
	// torn is how much of a write that fails is written all the same.
	torn int
	// stuck holds up what is opened.
	stuck chan struct{}
	// closing is called when a file is closed, and may have that fail; nil for nothing.
	closing func() error
}

func (d *faultyDisk) fail(err error, torn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.torn = err, torn
}

func (d *faultyDisk) open(path string) (file, error) {
	d.mu.Lock()
	stuck := d.stuck
	d.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	f, err := realDisk{}.open(path)
	if err != nil {
		return nil, err
	}
	return &faultyFile{f, d}, nil
}

type faultyFile struct {
	file
	disk *faultyDisk
}

func (f *faultyFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	err, torn := f.disk.err, f.disk.torn
	f.disk.mu.Unlock()
	if err == nil {
		return f.file.Write(p)
	}
	n, _ := f.file.Write(p[:min(torn, len(p))])
	return n, &fs.PathError{Op: "write", Path: "x", Err: err}
}

// Close fails where the disk has it, as that of a network does which is full.
func (f *faultyFile) Close() error {
	f.disk.mu.Lock()
	closing := f.disk.closing
	f.disk.mu.Unlock()
	err := f.file.Close()
	if closing != nil {
		return closing()
	}
	return err
}

// Truncate fails as well: what is torn stays.
func (f *faultyFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.err != nil {
		return f.disk.err
	}
	return f.file.Truncate(size)
}

// sizeOf is what the files of a directory have.
func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	for _, name := range namesIn(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		size += info.Size()
	}
	return size
}

// countIn is how often the host's log has said something.
func (b *bench) countIn(text string) int { return strings.Count(b.told.String(), text) }
