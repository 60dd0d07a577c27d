package peers

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// packed is an archive as npm packs them.
func packed(t *testing.T, files map[string]string) (data []byte, integrity string) {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	entries := tar.NewWriter(zipped)
	for name, text := range files {
		require.NoError(t, entries.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, err := entries.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, entries.Close())
	require.NoError(t, zipped.Close())
	sum := sha512.Sum512(out.Bytes())
	return out.Bytes(), "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func TestArchive_takesTheFilesThatAreWanted(t *testing.T) {
	data, integrity := packed(t, map[string]string{
		"package/package.json": "{}", "package/dist/a.js": "a", "package/dist/b.js": "b", "package/../../dist/c.js": "c",
	})
	dir := t.TempDir()
	a := archive{Integrity: integrity, Files: []string{"package.json", "dist/a.js"}}
	require.NoError(t, a.unpack(bytes.NewReader(data), dir))
	text, err := os.ReadFile(filepath.Join(dir, "dist/a.js"))
	require.NoError(t, err)
	require.Equal(t, "a", string(text))
	require.NoFileExists(t, filepath.Join(dir, "dist/b.js"))
}

func TestArchive_writesNothingOfAnother(t *testing.T) {
	data, integrity := packed(t, map[string]string{"package/a.js": "a"})
	for want, a := range map[string]archive{
		"expected the archive with sha512-AAAA, found " + integrity: {Integrity: "sha512-AAAA", Files: []string{"a.js"}},
		"the archive has no file b.js":                              {Integrity: integrity, Files: []string{"a.js", "b.js"}},
	} {
		dir := t.TempDir()
		require.EqualError(t, a.unpack(bytes.NewReader(data), dir), want)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, entries)
	}
	require.Error(t, archive{}.unpack(bytes.NewReader(data[:20]), t.TempDir()))
}
