//go:build !linux

package logs

import (
	"testing"

	"github.com/airi-host/airi-host/internal/need"
)

func mountSmall(t *testing.T, _ string) {
	t.Helper()
	need.That(t, false, "a small disk is mounted on Linux only")
}
