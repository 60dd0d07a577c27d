package peers

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBun_runs(t *testing.T) {
	said, err := exec.Command(filepath.Join(Bun(t), "bun"), "--version").CombinedOutput()
	require.NoError(t, err, string(said))
	require.Equal(t, "1.4.5\n", string(said))
}
