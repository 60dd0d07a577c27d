package main

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
)

// A state directory that the host makes is its user's alone. One that was there keeps its
// mode.

// checkStateDir refuses a state directory that everybody can write to: whoever puts
// settings or a socket into it commands the host.
func checkStateDir(dir string) error {
	mode, ok := modeOf(dir)
	if !ok || mode&0o002 == 0 {
		return nil
	}
	return fmt.Errorf("the state directory %s can be written by everybody (mode %04o): chmod 700 %s, or choose another one with --state", dir, mode, dir)
}

// tellOpen warns of a state directory that others can look into, or that a group can
// write to. The host's own files in it are nobody else's in any case.
func (s *state) tellOpen(log *slog.Logger) {
	if s.temporary {
		return
	}
	if mode, ok := modeOf(s.dir); ok && mode&0o077 != 0 {
		log.Warn("the state directory is open to others", "directory", s.dir, "mode", fmt.Sprintf("%04o", mode), "remedy", "chmod 700 "+s.dir)
	}
}

// modeOf is the mode of a directory that is there. What is wrong with one that cannot be
// seen is told when it is used.
func modeOf(dir string) (fs.FileMode, bool) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return 0, false
	}
	return info.Mode().Perm(), true
}
