package main

import (
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
	"golang.org/x/sys/unix"
)

// keys reads single keys from a terminal. Nothing of it is there for what is no
// terminal, or belongs to another job.
type keys struct {
	tty *os.File
	// old is how the terminal was; nil while nobody listens.
	old    *term.State
	reader cancelreader.CancelReader
	done   chan struct{}
}

func newKeys(in any) *keys {
	if !isTerminal(in) {
		return &keys{}
	}
	return &keys{tty: in.(*os.File)}
}

// listen reads keys until restore. The terminal shows them no more, and does not wait
// for the end of a line; Ctrl-C and Ctrl-Z remain signals.
func (k *keys) listen() {
	if k.tty == nil || k.old != nil || !inForeground(k.tty) {
		return
	}
	old, err := term.GetState(k.tty.Fd())
	if err != nil {
		return
	}
	quiet := *old
	quiet.Lflag &^= unix.ECHO | unix.ICANON
	quiet.Cc[unix.VMIN], quiet.Cc[unix.VTIME] = 1, 0
	reader, err := cancelreader.NewReader(k.tty)
	if err != nil {
		return
	}
	if err := term.SetState(k.tty.Fd(), &quiet); err != nil {
		_ = reader.Close()
		return
	}
	k.old, k.reader, k.done = old, reader, make(chan struct{})
	go k.read()
}

// read makes of a "q" what Ctrl-C is. It ends with restore, or with the terminal.
func (k *keys) read() {
	defer close(k.done)
	pressed := make([]byte, 64)
	for {
		n, err := k.reader.Read(pressed)
		if err != nil {
			return
		}
		for _, key := range pressed[:n] {
			if key == 'q' || key == 'Q' {
				_ = unix.Kill(os.Getpid(), unix.SIGINT)
			}
		}
	}
}

// restore ends listen.
func (k *keys) restore() {
	if k.old == nil {
		return
	}
	if k.reader.Cancel() {
		<-k.done
	}
	_ = k.reader.Close()
	_ = term.SetState(k.tty.Fd(), k.old) // a terminal that is gone needs nothing
	k.old = nil
}

// inForeground tells whether this process may use a terminal: no shell has put it into
// the background. A terminal that controls nobody is anybody's.
func inForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
