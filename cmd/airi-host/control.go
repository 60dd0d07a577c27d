package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/protocol"
)

// The control socket is how the command line asks a running host: a Unix socket in its
// state directory, which only its user can open.

const controlName = "control.sock"

// askTime is how long another host may take to say who it is.
const askTime = 2 * time.Second

// control is the socket of this host.
type control struct {
	*net.UnixListener
	path string
	info fs.FileInfo
}

// listenControl opens the control socket of a state directory. What a dead host has left
// there is replaced; of a live one the error tells.
func listenControl(ctx context.Context, dir string) (*control, error) {
	if err := probeControl(ctx, dir); err != nil {
		return nil, err
	}
	return makeControl(dir)
}

// makeControl puts a control socket into a directory, in place of what is there.
func makeControl(dir string) (*control, error) {
	// It is made in a directory that nobody else can enter, so that there is no moment in
	// which it can be opened by others, and then takes its place at once.
	draft, err := os.MkdirTemp(dir, ".control-") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("the control socket: %w", err)
	}
	defer func() { _ = os.RemoveAll(draft) }()
	c := &control{path: filepath.Join(dir, controlName)}
	err = within(draft, func(short string) (err error) {
		c.UnixListener, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(short, controlName)})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the control socket %s: %w", c.path, err)
	}
	c.SetUnlinkOnClose(false) // its name is another one by then
	if err := c.place(filepath.Join(draft, controlName)); err != nil {
		return nil, errors.Join(fmt.Errorf("the control socket: %w", err), c.UnixListener.Close())
	}
	return c, nil
}

// place puts the socket where it is looked for.
func (c *control) place(draft string) (err error) {
	if err = os.Chmod(draft, 0o600); err != nil {
		return err
	}
	if err = os.Rename(draft, c.path); err != nil {
		return err
	}
	c.info, err = os.Lstat(c.path)
	return err
}

// Close stops listening and removes the socket, if it is still ours.
func (c *control) Close() error {
	err := c.UnixListener.Close()
	if now, lost := os.Lstat(c.path); lost == nil && os.SameFile(now, c.info) {
		err = errors.Join(err, os.Remove(c.path))
	}
	return err
}

// probeControl fails when a live host, or something that is no socket, is in the place
// of a directory's control socket.
func probeControl(ctx context.Context, dir string) error {
	path := filepath.Join(dir, controlName)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the control socket: %w", err)
	case info.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s: expected a socket: remove what is there, or choose another directory with --state", path)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	conn, err := dialControl(ctx, dir)
	if nobodyListens(err) {
		return nil
	}
	who := "another host"
	if err == nil {
		_ = conn.Close() // it only showed that somebody is there
		if other, err := clientOf(dir).Info(ctx); err == nil {
			who = fmt.Sprintf("another host (pid %d)", other.PID)
		}
	}
	return fmt.Errorf("%s runs here, in %s: ask it with 'airi-host ps', or give this one a directory of its own with --state", who, dir)
}

// nobodyListens tells whether a connection failed since there is no host.
func nobodyListens(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOTDIR)
}

func dialControl(ctx context.Context, dir string) (conn net.Conn, err error) {
	err = within(dir, func(short string) (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(short, controlName))
		return err
	})
	return conn, err
}

// clientOf asks the host of a state directory.
func clientOf(dir string) *admin.Client {
	return admin.NewClient(func(ctx context.Context) (net.Conn, error) {
		conn, err := dialControl(ctx, dir)
		return conn, toldOfControl(err, dir)
	})
}

// toldOfControl is an error of dialControl with what to do.
func toldOfControl(err error, dir string) error {
	switch {
	case nobodyListens(err):
		return &protocol.Error{Code: protocol.CodeNotFound, Message: fmt.Sprintf(
			"no host runs here (%s): start one with 'airi-host run DIR…', or name the directory of one with --state", dir)}
	case errors.Is(err, fs.ErrPermission):
		return &protocol.Error{Code: protocol.CodeDenied, Message: fmt.Sprintf(
			"the control socket %s: permission denied: %s", filepath.Join(dir, controlName), asOwner(dir))}
	}
	return err
}

// asOwner says as whom a host can be asked: only its own user can open what is in its
// state directory.
func asOwner(dir string) string {
	for _, path := range []string{filepath.Join(dir, controlName), dir} {
		if id, ok := ownerOf(path); ok {
			name, word := userCalled(id)
			return fmt.Sprintf("it is for user %s alone: run this as the host's user, e.g. sudo -u %s airi-host ps --state %s", name, word, dir)
		}
	}
	return "run this as the host's user, e.g. sudo -u USER airi-host ps --state " + dir
}

// ownerOf is the user who owns a file, if that is to be seen.
func ownerOf(path string) (id uint32, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return stat.Uid, true
}

// userCalled is a user's name, and the word by which sudo knows him; one without a name
// goes by his number.
func userCalled(id uint32) (name, word string) {
	number := strconv.FormatUint(uint64(id), 10)
	if known, err := user.LookupId(number); err == nil {
		return known.Username, known.Username
	}
	return number, "'#" + number + "'"
}

// maxSocketPath is how long the path of a socket may be, in bytes, on the least of the
// systems (a zero byte is behind it).
const maxSocketPath = 103

// within gives a name of the directory that is short enough for a socket in it. Where
// the directory's own is not, that is a link, which is gone when use returns: a socket
// goes by what its path led to.
func within(dir string, use func(short string) error) error {
	if fits(dir) {
		return use(dir)
	}
	base := os.TempDir()
	if !fits(filepath.Join(base, "airi-host-1234567890", "d")) {
		base = "/tmp"
	}
	place, err := os.MkdirTemp(base, "airi-host-") // mode 0700
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(place) }()
	link := filepath.Join(place, "d")
	if err := os.Symlink(dir, link); err != nil {
		return err
	}
	return use(link)
}

func fits(dir string) bool { return len(dir)+1+len(controlName) <= maxSocketPath }
