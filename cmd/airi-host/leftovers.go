package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/airi-host/airi-host/internal/regular"
	"github.com/airi-host/airi-host/transport/process"
)

// A host that is killed may leave processes behind: workers see the end of their
// input, but what they have started may not. The next host ends them. It knows them
// by a mark that all hosts of one user share, and by that their own host is dead.

// sweepTime is how long the search for leftovers may take.
const sweepTime = 10 * time.Second

// sweep ends what earlier hosts of this user have left behind, and returns the mark
// for what this one starts; "" where it cannot be kept.
func sweep(ctx context.Context, log *slog.Logger) string {
	mark, err := ownMark()
	if err != nil {
		log.Warn("what this host leaves behind when it is killed will not be ended by the next one", "error", err)
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	ended, err := process.Sweep(ctx, mark)
	for _, left := range ended {
		log.Info("ended what a killed host had left behind", "pid", left.Pid, "command", left.Command, "plugin", left.Plugin, "host", left.Host)
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		log.Warn("not all that killed hosts may have left behind was ended", "error", err)
	}
	return mark
}

// aMark is what a mark looks like.
var aMark = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// ownMark returns the mark of this user's hosts, and makes it if there is none.
func ownMark() (string, error) {
	dir, err := stateDir()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "owner")
	mark, err := readMark(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return mark, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := writeMark(file, rand.Text()); err != nil && !errors.Is(err, fs.ErrExist) { // another host was quicker
		return "", err
	}
	return readMark(file)
}

// maxMark is how long the file of a mark may be, in bytes.
const maxMark = 256

func readMark(file string) (string, error) {
	text, _, err := regular.Read(file, maxMark)
	if errors.Is(err, regular.ErrIrregular) || errors.Is(err, regular.ErrTooLong) {
		return "", fmt.Errorf("%s: expected a short text file: remove it", file)
	}
	if err != nil {
		return "", err
	}
	mark := strings.TrimSpace(string(text))
	if !aMark.MatchString(mark) {
		return "", fmt.Errorf("%s: expected 16 to 128 letters, digits, - and _: remove it", file)
	}
	return mark, nil
}

// writeMark makes the file whole at once, and never in the place of another.
func writeMark(file, mark string) error {
	draft, err := os.CreateTemp(filepath.Dir(file), ".owner-") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = draft.WriteString(mark + "\n")
	if err = errors.Join(err, draft.Close()); err != nil {
		return err
	}
	return os.Link(draft.Name(), file)
}
