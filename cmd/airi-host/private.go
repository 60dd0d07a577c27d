package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/airi-host/airi-host/internal/regular"
)

// maxPrivate is how long a file of secrets may be.
const maxPrivate = 4096

// readPrivate returns what is in a short text file, which is not for others to read.
func readPrivate(file string) (string, error) {
	text, info, err := regular.Read(file, maxPrivate)
	switch {
	case errors.Is(err, regular.ErrIrregular), errors.Is(err, regular.ErrTooLong):
		return "", errors.New("expected a short text file")
	case err != nil:
		return "", withoutPath(err)
	}
	return string(text), ownersAlone(file, info)
}

// ownersAlone refuses a file that others can read.
func ownersAlone(file string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("it can be read by others (mode %04o): chmod 600 %s", info.Mode().Perm()&fs.ModePerm, file)
	}
	return nil
}
