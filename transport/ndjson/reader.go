package ndjson

import (
	"bytes"
	"errors"
	"io"

	"github.com/airi-host/airi-host/transport"
)

const (
	// smallBuffer is the size of a new buffer: as much as a pipe holds by default.
	smallBuffer = 64 << 10
	// keptBuffer is the largest buffer that is kept for the next record.
	keptBuffer = 1 << 20
	// maxEmptyReads bounds how often a source may return neither bytes nor an error.
	maxEmptyReads = 100
)

// ReaderOptions sets the limits of a [Reader]. The zero value works.
type ReaderOptions struct {
	// MaxRecord is the largest record in bytes, its line end not counted. Zero
	// or less means [transport.DefaultMaxRecord].
	MaxRecord int
}

// Reader cuts a stream of bytes into lines. One goroutine uses it.
type Reader struct {
	src io.Reader
	max int

	// buf[start:end] has arrived and was not returned yet; buf[start:scanned] of
	// it holds no line end.
	buf                 []byte
	start, scanned, end int

	err error // why nothing more can be read, once that is so
}

// NewReader returns a Reader of src. It reads ahead.
func NewReader(src io.Reader, opts ReaderOptions) *Reader {
	return &Reader{src: src, max: maxRecord(opts.MaxRecord)}
}

// maxRecord puts the default in the place of an unset limit.
func maxRecord(n int) int {
	if n <= 0 {
		return transport.DefaultMaxRecord
	}
	return n
}

// Read returns the next line without its end. The slice is valid until the next
// Read.
//
// After the last whole line it returns io.EOF. A last line that has no end is
// returned like any other, and the Read after it returns io.ErrUnexpectedEOF: who
// cares whether the peer stopped in the middle of a record looks there. Another
// error of the source comes as it is, after all that arrived before it. A line
// above the limit gives a *transport.TooLongError, and nothing of it is kept.
// Every error is final.
func (r *Reader) Read() ([]byte, error) {
	for {
		if i := bytes.IndexByte(r.buf[r.scanned:r.end], '\n'); i >= 0 {
			return r.whole(r.scanned + i)
		}
		r.scanned = r.end
		if r.pending() > r.max {
			return r.tooLong()
		}
		if r.err != nil {
			return r.rest()
		}
		r.fill()
	}
}

// Ready tells whether Read would return without reading from its source: a line is
// there, or an error.
func (r *Reader) Ready() bool {
	if i := bytes.IndexByte(r.buf[r.scanned:r.end], '\n'); i >= 0 {
		r.scanned += i // Read finds it at once
		return true
	}
	r.scanned = r.end
	return r.err != nil || r.pending() > r.max
}

// Fill reads once from the source, unless a line is there already.
func (r *Reader) Fill() {
	if !r.Ready() {
		r.fill()
	}
}

// whole returns the line that ends at index newline.
func (r *Reader) whole(newline int) ([]byte, error) {
	line := bytes.TrimSuffix(r.buf[r.start:newline], []byte{'\r'})
	if len(line) > r.max {
		return r.tooLong()
	}
	r.start, r.scanned = newline+1, newline+1
	return line, nil
}

// pending is the length that the unfinished line has for certain: a 0x0D at its
// end may yet turn out to be part of the line end.
func (r *Reader) pending() int {
	return len(bytes.TrimSuffix(r.buf[r.start:r.end], []byte{'\r'}))
}

// rest returns the line that the source left unfinished, and then its error.
func (r *Reader) rest() ([]byte, error) {
	line := r.buf[r.start:r.end]
	if len(line) == 0 {
		r.buf, r.start, r.scanned, r.end = nil, 0, 0, 0
		return nil, r.err
	}
	if len(line) > r.max {
		return r.tooLong()
	}
	r.start = r.end
	if errors.Is(r.err, io.EOF) {
		r.err = io.ErrUnexpectedEOF
	}
	return line, nil
}

// tooLong ends the reader and lets go of everything.
func (r *Reader) tooLong() ([]byte, error) {
	r.err = &transport.TooLongError{Limit: r.max}
	r.buf, r.start, r.scanned, r.end = nil, 0, 0, 0
	return nil, r.err
}

// fill reads once from the source.
func (r *Reader) fill() {
	r.makeRoom()
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// makeRoom gives the buffer at least one free byte. It doubles the buffer only
// when the unfinished line needs it, so that a peer's promise of a long line
// costs nothing, and lets a large one go when it is hardly used.
func (r *Reader) makeRoom() {
	pending, size := r.end-r.start, len(r.buf)
	switch {
	case size == 0, size > keptBuffer && pending < smallBuffer/2:
		size = smallBuffer
	case pending == 0:
	case r.end < size:
		return
	case pending > size/2:
		// The largest line that may pass, with both bytes of its end.
		size = min(2*size, max(r.max+2, smallBuffer))
	}
	r.move(pending, size)
}

// move puts what is pending at the front of a buffer of the given size.
func (r *Reader) move(pending, size int) {
	old := r.buf[r.start:r.end]
	if size != len(r.buf) {
		r.buf = make([]byte, size)
	}
	copy(r.buf, old)
	r.start, r.scanned, r.end = 0, pending, pending
}
