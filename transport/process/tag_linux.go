package process

import (
	"crypto/sha256"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// tag is a marker that cannot be lost: a number that the kernel keeps for a process,
// passes on over fork and exec, and still shows of a zombie. The environment does
// none of the last: a program may start another one without it, or write over it,
// and it is gone with the process's memory.
//
// The place is the soft value of RLIMIT_LOCKS, a limit that Linux has kept and passed
// on since 2.4.25 without ever looking at it; besides, the number is far beyond any
// number of locks. Reading it is one system call, a twentieth of what a file of /proc
// costs. The hard value stays as it is: what a host has lowered, a host below it, as
// a worker may be one, could not raise again.
type tag uint64

// tagOf draws the tag of a marker from it, so that who has the one has the other.
func tagOf(m marker) tag {
	sum := sha256.Sum256([]byte(m.String()))
	return tag(1<<62 | binary.BigEndian.Uint64(sum[:])>>2) // below "unlimited"
}

// put tags a process.
func (t tag) put(pid int) error {
	var l unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &l); err != nil {
		return err
	}
	l.Cur = uint64(t)
	return unix.Prlimit(pid, unix.RLIMIT_LOCKS, &l, nil)
}

// readTag reads what a process, which may be a zombie, has in the tag's place.
func readTag(pid int) (tag, bool) {
	var l unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &l)
	return tag(l.Cur), err == nil
}

// on tells whether a process has the tag.
func (t tag) on(pid int) bool {
	found, ok := readTag(pid)
	return ok && found == t
}
