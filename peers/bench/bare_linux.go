package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is how much a pipe holds, in bytes; the same as under this host.
const pipeSize = 256 << 10

// enlarge makes a pipe hold more, if the system lets it.
func enlarge(pipe *os.File) { _, _ = unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, pipeSize) }
