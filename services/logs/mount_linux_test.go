package logs

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// mountSmall mounts a small disk, or skips the test where that is not permitted: the
// faults of a disk are tried without one, too.
func mountSmall(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
}
