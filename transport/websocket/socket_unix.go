//go:build unix

package websocket

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// raw is the descriptor of a bare socket, or nil.
func raw(socket net.Conn) syscall.RawConn {
	var bare syscall.RawConn
	switch s := socket.(type) {
	case *net.TCPConn:
		bare, _ = s.SyscallConn()
	case *net.UnixConn:
		bare, _ = s.SyscallConn()
	}
	return bare
}

func newTry(socket net.Conn) *try {
	bare := raw(socket)
	if bare == nil {
		return nil
	}
	t := &try{raw: bare}
	t.do = t.once
	return t
}

// write returns how many bytes were taken. One goroutine at a time calls it.
func (t *try) write(data []byte) (int, error) {
	t.data, t.n, t.err = data, 0, nil
	if err := t.raw.Write(t.do); err != nil {
		return 0, err
	}
	t.data = nil
	return t.n, t.err
}

// once is called with the descriptor, which does not block, and is never told to wait.
func (t *try) once(fd uintptr) bool {
	for {
		n, err := syscall.Write(int(fd), t.data)
		switch {
		case err == nil:
			t.n = n
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EAGAIN):
			t.err = os.NewSyscallError("write", err)
		}
		return true
	}
}

func newPeek(socket net.Conn) *peek {
	bare := raw(socket)
	if bare == nil {
		return nil
	}
	p := &peek{raw: bare}
	p.do = p.once
	return p
}

// read returns a shared buffer and how much is in it.
func (p *peek) read() (*[bufferSize]byte, int, error) {
	p.into, p.n, p.err = nil, 0, nil
	if err := p.raw.Read(p.do); err != nil {
		return nil, 0, err
	}
	return p.into, p.n, p.err
}

// once is called with the descriptor, and again whenever there may be something.
func (p *peek) once(fd uintptr) bool {
	into := buffers.Get().(*[bufferSize]byte)
	for {
		n, err := syscall.Read(int(fd), into[:])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case n > 0:
			p.into, p.n = into, n
			return true
		}
		buffers.Put(into)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return false
		case err == nil:
			p.err = io.EOF
		default:
			p.err = os.NewSyscallError("read", err)
		}
		return true
	}
}
