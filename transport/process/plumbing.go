package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// pipeSize is what the pipes that carry records are enlarged to, in bytes, as far
// as the system allows. Ten times as much would meet the per-user limit of Linux
// at a handful of workers.
const pipeSize = 256 << 10

// logPipe is the host's end of a pipe that carries log text.
type logPipe struct {
	stream Stream
	fd     int
}

// plumbing is all descriptors of one worker, on both sides. They are plain
// numbers, made here and not by os/exec, so that reading a pipe and waiting for
// the process are independent of each other.
type plumbing struct {
	worker []int // by number in the worker
	host   []int // everything that is the host's

	input    int // records to the worker
	output   int // records from the worker
	stdin    int // Own: the pipe whose end tells the worker to go, else -1
	logs     []logPipe
	wakeRead int // see wire
	wakeEnd  int
}

// openPlumbing makes the pipes for a worker on the given wire.
func openPlumbing(kind Wire) (*plumbing, error) {
	p := &plumbing{stdin: -1}
	var errs []error
	to := func() int { return p.pipe(&errs, false) }
	from := func() int { return p.pipe(&errs, true) }
	switch kind {
	case Stdio:
		p.input, p.output = to(), from()
		p.logs = []logPipe{{Stderr, from()}}
	case Own:
		p.stdin = to()
		p.logs = []logPipe{{Stdout, from()}, {Stderr, from()}}
		p.input, p.output = to(), from()
	}
	p.wakeRead, p.wakeEnd = p.ownPipe(&errs)
	if err := errors.Join(errs...); err != nil {
		p.closeAll()
		return nil, fmt.Errorf("pipes: %w", errs[0])
	}
	enlarge(p.input)
	enlarge(p.output)
	return p, nil
}

// pipe makes the pipe for the worker's next descriptor and returns the host's end
// of it, which never blocks.
func (p *plumbing) pipe(errs *[]error, fromWorker bool) int {
	r, w, err := newPipe()
	if err != nil {
		*errs = append(*errs, err)
		return -1
	}
	host, worker := w, r
	if fromWorker {
		host, worker = r, w
	}
	p.host = append(p.host, host)
	p.worker = append(p.worker, worker)
	if err := syscall.SetNonblock(host, true); err != nil {
		*errs = append(*errs, os.NewSyscallError("fcntl", err))
	}
	return host
}

// ownPipe makes a pipe of which the worker gets no end.
func (p *plumbing) ownPipe(errs *[]error) (r, w int) {
	r, w, err := newPipe()
	if err != nil {
		*errs = append(*errs, err)
		return -1, -1
	}
	p.host = append(p.host, r, w)
	return r, w
}

// closeWorker closes the worker's ends, of which it has its own copies now. Only
// then can the host's ends see an end.
func (p *plumbing) closeWorker() {
	for _, fd := range p.worker {
		_ = syscall.Close(fd)
	}
	p.worker = nil
}

// closeAll takes everything back.
func (p *plumbing) closeAll() {
	p.closeWorker()
	for _, fd := range p.host {
		_ = syscall.Close(fd)
	}
	p.host = nil
}

// files returns the worker's ends in the order of their numbers there.
func (p *plumbing) files() []uintptr {
	files := make([]uintptr, len(p.worker))
	for i, fd := range p.worker {
		files[i] = uintptr(fd)
	}
	return files
}

// inputFile is the host's writing end of a pipe. It offers the short way of
// ndjson.Writer.
type inputFile struct {
	*os.File
	raw syscall.RawConn

	// The attempt under way; ndjson.Writer makes one at a time. Kept here
	// because a closure would be allocated for every record.
	attempt func(fd uintptr) bool
	p       []byte
	n       int
	err     error
}

func newInputFile(fd int, name string) *inputFile {
	f := &inputFile{File: os.NewFile(uintptr(fd), name)}
	f.raw, _ = f.SyscallConn() // fails for a nil File only
	f.attempt = f.write
	return f
}

// TryWrite writes what the pipe takes at once.
func (f *inputFile) TryWrite(p []byte) (int, error) {
	f.p, f.n, f.err = p, 0, nil
	if f.raw.Write(f.attempt) != nil {
		f.err = os.ErrClosed // it has no other reason
	}
	f.p = nil
	return f.n, f.err
}

// write makes one system call. It always returns true: do not wait.
func (f *inputFile) write(fd uintptr) bool {
	for {
		n, err := syscall.Write(int(fd), f.p)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return true
		}
		f.n, f.err = max(n, 0), err
		return true
	}
}
