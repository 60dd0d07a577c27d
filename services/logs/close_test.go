package logs

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What comes while a file is closed in vain has not been written, and is not let go of.
func TestFiles_keepWhatComesWhileAFileIsClosedInVain(t *testing.T) {
	dir, disk := t.TempDir(), &faultyDisk{stuck: make(chan struct{})}
	b := openBench(t, dir, Options{QueueBytes: 500, Retry: time.Millisecond, disk: disk})
	var closed atomic.Int32
	disk.closing = func() error {
		if closed.Add(1) > 1 {
			return nil
		}
		b.say("a", "meanwhile")
		return syscall.EDQUOT
	}
	b.say("a", "first", strings.Repeat("dropped", 100))
	close(disk.stuck)
	b.wantWritten()
	require.NoError(t, b.Close(t.Context()))
	all, err := Read(dir, "a", Query{})
	require.NoError(t, err)
	require.Contains(t, messagesOf(all), "meanwhile")
	require.EqualValues(t, 2, b.Stats().Written)
}
