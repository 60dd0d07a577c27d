package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// controlLook is how often a host looks for its control socket.
const controlLook = 2 * time.Second

// steadyControl is the control socket of a directory, which is made anew when somebody has removed
// it: nobody could command the host any more. It is a net.Listener, for one who accepts.
type steadyControl struct {
	dir string
	log *slog.Logger

	// over ends the looking, looked closes when it has ended.
	over   context.Context
	end    context.CancelFunc
	looked chan struct{}

	mu  sync.Mutex
	now *control
	// told is what is wrong, as it was told last; "" for nothing.
	told string
}

var _ net.Listener = (*steadyControl)(nil)

// keepControl looks after a control socket every so often. Its Close must follow.
func keepControl(dir string, socket *control, every time.Duration, log *slog.Logger) *steadyControl {
	l := &steadyControl{dir: dir, log: log, now: socket, looked: make(chan struct{})}
	l.over, l.end = context.WithCancel(context.Background())
	go l.look(every)
	return l
}

func (l *steadyControl) look(every time.Duration) {
	defer close(l.looked)
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-l.over.Done():
			return
		case <-ticks.C:
			l.mend()
		}
	}
}

// mend makes the socket anew if it is gone, and tells what is wrong, once.
func (l *steadyControl) mend() {
	lost, err := l.current().isLost()
	if lost {
		err = l.replace()
	}
	said := ""
	if err != nil {
		said = err.Error()
	}
	switch {
	case err != nil && said != l.told:
		l.log.Warn("nobody can command this host through its control socket", "socket", filepath.Join(l.dir, controlName), "error", said)
	case err == nil && (lost || l.told != ""):
		l.log.Warn("the control socket was gone, and is there again", "socket", filepath.Join(l.dir, controlName))
	}
	l.told = said
}

// isLost tells whether nothing is where the socket was put; something else there is an error.
func (c *control) isLost() (bool, error) {
	switch now, err := os.Lstat(c.path); {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case !os.SameFile(now, c.info):
		return false, fmt.Errorf("%s is not the one that the host has made: remove it, and it is made anew", c.path)
	}
	return false, nil
}

func (l *steadyControl) replace() error {
	made, err := makeControl(l.dir)
	if err != nil {
		return err
	}
	l.mu.Lock()
	was := l.now
	l.now = made
	l.mu.Unlock()
	return was.Close() // whoever accepts goes on with the other
}

func (l *steadyControl) current() *control {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// Accept waits for the next connection.
func (l *steadyControl) Accept() (net.Conn, error) {
	for {
		now := l.current()
		conn, err := now.Accept()
		if err == nil || now == l.current() {
			return conn, err
		}
	}
}

// Addr is where the socket was made.
func (l *steadyControl) Addr() net.Addr { return l.current().Addr() }

// Close stops listening and removes the socket, if it is still ours. It may be called again.
func (l *steadyControl) Close() error {
	l.end()
	<-l.looked
	return l.current().Close()
}
