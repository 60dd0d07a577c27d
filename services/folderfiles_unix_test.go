//go:build unix

package services

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestFolders_aPipeIsRefused(t *testing.T) {
	d := newDesk(t, Folders{})
	require.NoError(t, syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o600))
	for _, method := range byPath {
		d.wantRefused(protocol.CodeInvalid, method, at("pipe", `"contents":"x"`), `"pipe" is no file`)
	}
	require.NotContains(t, d.call("localFolders.list", `{"folderKey":"notes"}`), "pipe")
}

// What was a file when it was looked at may be a pipe when it is opened.
func TestFolders_openingNeverWaits(t *testing.T) {
	d := newDesk(t, Folders{})
	require.NoError(t, syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o600))
	root, err := os.OpenRoot(d.dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	a := &asked{params: &params{}}
	_, err = a.content(root, "pipe", 10)
	wantFault(t, err, protocol.CodeInvalid, `"pipe" is no file`)
}
