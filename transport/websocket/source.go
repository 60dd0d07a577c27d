package websocket

import (
	"encoding/binary"
	"net"
	"sync"
	"syscall"
)

// bufferSize is how much is read at once.
const bufferSize = 16 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// source reads a socket ahead. Its buffer is shared: it has one only while something is
// in it. What is not a bare socket (TLS, which buffers itself) is waited for with one byte
// where a message may begin.
type source struct {
	socket net.Conn
	peek   *peek // nil where nobody can wait for a socket without a buffer
	own    [1]byte
	idle   bool // nothing has come of the next message
	shared *[bufferSize]byte
	rest   []byte // what was read and not taken; it lies in shared
}

func (s *source) open(socket net.Conn, early []byte) {
	s.socket, s.peek = socket, newPeek(socket)
	if len(early) > 0 {
		s.shared = buffers.Get().(*[bufferSize]byte)
		s.rest = s.shared[:copy(s.shared[:], early)]
	}
}

func (s *source) empty() bool { return len(s.rest) == 0 }

// has tells whether n bytes were read ahead.
func (s *source) has(n int64) bool { return int64(len(s.rest)) >= n }

// Read returns what was read ahead, or else what comes.
func (s *source) Read(p []byte) (int, error) {
	if s.empty() {
		s.release()
		if len(p) >= bufferSize {
			return s.socket.Read(p)
		}
		if err := s.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *source) release() {
	if s.shared != nil {
		buffers.Put(s.shared)
		s.shared, s.rest = nil, nil
	}
}

// more waits until there is something and reads it.
func (s *source) more() (err error) {
	n := 0
	if s.peek != nil {
		s.shared, n, err = s.peek.read()
	} else {
		n, err = s.wait()
	}
	if err != nil || n == 0 {
		return err
	}
	s.rest = s.shared[:n]
	return nil
}

// wait reads what comes. Where a message may begin it is one byte, with a buffer of its
// own, so that a shared one is not held while nothing comes; what follows that is due. An
// end that is told with the last bytes is told again.
func (s *source) wait() (int, error) {
	if s.idle {
		n, err := s.socket.Read(s.own[:])
		if n == 0 {
			return 0, err
		}
		s.idle = false
		s.shared = buffers.Get().(*[bufferSize]byte)
		return copy(s.shared[:], s.own[:n]), nil
	}
	s.shared = buffers.Get().(*[bufferSize]byte)
	n, err := s.socket.Read(s.shared[:])
	if n == 0 {
		s.release()
		return 0, err
	}
	return n, nil
}

// ready tells whether a whole record was read ahead. It may be wrong in saying no.
func (s *source) ready() bool {
	head := s.rest
	if len(head) < 2 || head[0]&0x8f != 0x81 && head[0]&0x8f != 0x82 {
		return false // no frame, or not a whole message
	}
	n, at := uint64(head[1]&0x7f), 2
	switch {
	case n == 4:
		return false // perhaps a control text
	case n == 126 && len(head) >= 4:
		n, at = uint64(binary.BigEndian.Uint16(head[2:])), 4
	case n >= 126:
		return false // longer than the buffer
	}
	if head[1]&0x80 != 0 {
		at += 4
	}
	return uint64(len(head)) >= uint64(at)+n
}

// try writes as much as a socket takes at once.
type try struct {
	raw  syscall.RawConn
	data []byte
	n    int
	err  error
	do   func(fd uintptr) bool
}

// peek waits until there is something to read, and only then takes a buffer.
type peek struct {
	raw  syscall.RawConn
	into *[bufferSize]byte
	n    int
	err  error
	do   func(fd uintptr) bool
}
