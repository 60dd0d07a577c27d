package logs

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// mountSmall mounts a small disk.
func mountSmall(t *testing.T, dir string) {
	t.Helper()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k")
	need.That(t, err == nil, fmt.Sprintf("no disk can be mounted here: %v", err))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
}
