package plugin

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// takeStandard returns the standard input and output of the process and puts an
// empty file and standard error in their places. The files themselves are changed,
// since whoever took them before, as a logger, holds a pointer to them.
func takeStandard() (in io.Reader, out io.Writer) {
	// A host that is gone is an error of a write, not a death by SIGPIPE.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	stdin, stdout := *os.Stdin, *os.Stdout
	if empty, err := os.Open(os.DevNull); err == nil {
		*os.Stdin = *empty
	}
	*os.Stdout = *os.Stderr
	if sameFile(&stdin, &stdout) {
		return &stdin, &stdout // what is done to the one is done to the other
	}
	return pollable(&stdin), &stdout
}

func sameFile(a, b *os.File) bool {
	one, err := a.Stat()
	if err != nil {
		return false
	}
	other, err := b.Stat()
	return err == nil && os.SameFile(one, other)
}
