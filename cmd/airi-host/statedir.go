package main

import (
	"fmt"
	"log/slog"
	"os"
)

// checkStateDir looks whether a state directory that is there is its user's alone, as one
// is that the host makes. One that everybody can write to is refused: whoever puts
// settings or a socket into it commands the host. One that others can look into, or that
// a group can write to, is told of: the host's own files in it are nobody else's.
func checkStateDir(dir string, log *slog.Logger) error {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil // it is made, or what is wrong is told when it is used
	}
	mode := info.Mode().Perm()
	switch {
	case mode&0o002 != 0:
		return fmt.Errorf("the state directory %s can be written by everybody (mode %04o): chmod 700 %s, or choose another one with --state", dir, mode, dir)
	case mode&0o077 != 0:
		log.Warn("the state directory is open to others", "directory", dir, "mode", fmt.Sprintf("%04o", mode), "remedy", "chmod 700 "+dir)
	}
	return nil
}
