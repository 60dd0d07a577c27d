package main

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStateDir_isItsUsersAlone(t *testing.T) {
	for mode, want := range map[fs.FileMode]struct{ refused, told string }{
		0o700: {},
		0o755: {told: "mode=0755 remedy=\"chmod 700 "},
		0o770: {told: "mode=0770"},
		0o711: {told: "mode=0711"},
		0o777: {refused: "can be written by everybody (mode 0777): chmod 700 "},
		0o702: {refused: "can be written by everybody (mode 0702)"},
	} {
		dir := filepath.Join(t.TempDir(), "state")
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chmod(dir, mode))
		var said bytes.Buffer
		err := checkStateDir(dir)
		if want.refused != "" {
			require.ErrorContains(t, err, "the state directory "+dir+" "+want.refused)
			continue
		}
		require.NoError(t, err)
		(&state{dir: dir}).tellOpen(slog.New(slog.NewTextHandler(&said, nil)))
		if want.told == "" {
			require.Empty(t, said.String())
		} else {
			require.Contains(t, said.String(), "level=WARN msg=\"the state directory is open to others\" directory="+dir)
			require.Contains(t, said.String(), want.told)
		}
	}
	require.NoError(t, checkStateDir(filepath.Join(t.TempDir(), "away")), "it is made")
}
