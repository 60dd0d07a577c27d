package logs

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// mountSmall mounts a small disk; false where that is not permitted.
func mountSmall(t *testing.T, dir string) bool {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		return false
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
	return true
}
