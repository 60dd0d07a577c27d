package regular

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(path("file"), []byte("12345"), 0o640))
	require.NoError(t, os.Symlink("file", path("link")))
	require.NoError(t, os.Mkdir(path("folder"), 0o700))
	require.NoError(t, syscall.Mkfifo(path("pipe"), 0o600)) // to open it would wait for a writer
	l, err := net.Listen("unix", path("socket"))
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	for name, test := range map[string]struct {
		most int64
		err  error
	}{
		"file": {5, nil}, "link": {5, nil}, "file ": {5, fs.ErrNotExist}, "folder": {5, ErrIrregular},
		"pipe": {5, ErrIrregular}, "socket": {5, ErrIrregular}, "./file": {4, ErrTooLong},
	} {
		text, info, err := Read(dir+"/"+name, test.most)
		if test.err != nil {
			require.ErrorIs(t, err, test.err, name)
			require.Nil(t, text)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, "12345", string(text))
		require.Equal(t, fs.FileMode(0o640), info.Mode())
	}
	_, _, err = Read("/dev/zero", 5)
	require.ErrorIs(t, err, ErrIrregular)
}
