package peers

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The limits of what is unpacked, in bytes.
const (
	maxArchive = 256 << 20
	maxFile    = 16 << 20
)

// take downloads an archive into dir and puts the files of it that are wanted into
// modules.
func (a archive) take(ctx context.Context, dir, modules string) error {
	scratch, err := os.MkdirTemp(dir, "archive-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if err := npm(ctx, dir, "pack", a.Name+"@"+a.Version, "--pack-destination", scratch); err != nil {
		return err
	}
	packed, err := filepath.Glob(filepath.Join(scratch, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return fmt.Errorf("%s: npm pack left %d archives, expected one", a.Name, len(packed))
	}
	file, err := os.Open(packed[0])
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := a.unpack(io.LimitReader(file, maxArchive), filepath.Join(modules, filepath.FromSlash(a.Name))); err != nil {
		return fmt.Errorf("%s@%s: %w", a.Name, a.Version, err)
	}
	return nil
}

// unpack reads an archive and writes the files that are wanted below dir. It writes
// nothing unless the archive is the one that was meant.
func (a archive) unpack(from io.Reader, dir string) error {
	h := sha512.New()
	from = io.TeeReader(from, h)
	found, err := a.wanted(from)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, from); err != nil { // what follows the last entry
		return err
	}
	if got := "sha512-" + base64.StdEncoding.EncodeToString(h.Sum(nil)); got != a.Integrity {
		return fmt.Errorf("expected the archive with %s, found %s", a.Integrity, got)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if err := write(filepath.Join(dir, filepath.FromSlash(name)), found[name]); err != nil {
			return err
		}
	}
	return nil
}

// wanted reads the files that are wanted; all of them are to be there.
func (a archive) wanted(from io.Reader) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	entries := tar.NewReader(unzipped)
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		// Every file of a published package is below one folder.
		_, name, _ := strings.Cut(path.Clean(entry.Name), "/")
		if entry.Typeflag != tar.TypeReg || !slices.Contains(a.Files, name) {
			continue
		}
		var text bytes.Buffer
		if _, err := io.Copy(&text, io.LimitReader(entries, maxFile)); err != nil {
			return nil, err
		}
		found[name] = text.Bytes()
	}
	for _, name := range a.Files {
		if found[name] == nil {
			return nil, fmt.Errorf("the archive has no file %s", name)
		}
	}
	return found, nil
}

func write(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
