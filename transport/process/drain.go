package process

import (
	"os"
	"sync/atomic"
	"time"
)

// logReader reads one log pipe to its end, whatever happens, so that the worker
// never waits for it.
type logReader struct {
	stream Stream
	file   *os.File
	last   atomic.Int64 // when bytes last arrived, Unix nanoseconds
}

func newLogReader(p logPipe) *logReader {
	return &logReader{stream: p.stream, file: os.NewFile(uintptr(p.fd), string(p.stream))}
}

// run hands lines to the book until the pipe ends or is given up.
func (r *logReader) run(book *logbook) {
	lines := splitter{emit: func(text string) { book.add(r.stream, text) }}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.file.Read(buf)
		lines.write(buf[:n])
		if err != nil {
			break
		}
		r.last.Store(time.Now().UnixNano())
	}
	lines.end()
	_ = r.file.Close()
}

func (r *logReader) lastRead() time.Time { return time.Unix(0, r.last.Load()) }

// interrupt makes the reader give up.
func (r *logReader) interrupt() { _ = r.file.SetReadDeadline(time.Unix(1, 0)) }

// held is like wire.held.
func (r *logReader) held(d time.Duration) bool {
	raw, err := r.file.SyscallConn()
	if err != nil {
		return false
	}
	still := false
	if err := raw.Control(func(fd uintptr) { still = held(int(fd), d) }); err != nil {
		return false // read to its end and closed
	}
	return still
}

// source is a pipe that is read after the exit.
type source interface {
	lastRead() time.Time
	interrupt()
	held(time.Duration) bool
}

// anyHeld tells whether somebody still has the worker's end of any pipe. A fork
// elsewhere in the host has copies for a moment, so that it waits a little before
// it says so.
func anyHeld(sources []source, d time.Duration) bool {
	deadline := time.Now().Add(d)
	for _, s := range sources {
		if s.held(time.Until(deadline)) {
			return true
		}
	}
	return false
}

// drain gives up pipes that a descendant holds: idle after the last byte on any
// of them, most after the exit. It returns early when nobody holds one any more.
func drain(sources []source, exit time.Time, idle, most time.Duration) {
	limit := exit.Add(most)
	for {
		until := exit
		for _, s := range sources {
			until = later(until, s.lastRead())
		}
		until = until.Add(idle)
		if until.After(limit) {
			until = limit
		}
		wait := time.Until(until)
		if wait <= 0 {
			break
		}
		if !anyHeld(sources, wait) {
			return
		}
	}
	for _, s := range sources {
		s.interrupt()
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
