package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// maxPrivate is how long a file of secrets may be.
const maxPrivate = 4096

// readPrivate returns what is in a short text file, which is not for others to read.
func readPrivate(file string) (string, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", withoutPath(err)
	case !info.Mode().IsRegular() || info.Size() > maxPrivate:
		return "", errors.New("expected a short text file")
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("it can be read by others (mode %04o): chmod 600 %s", info.Mode().Perm()&fs.ModePerm, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", withoutPath(err)
	}
	return string(text), nil
}
