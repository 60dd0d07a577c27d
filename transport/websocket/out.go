package websocket

import (
	"errors"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gobwas/ws"

	"github.com/airi-host/airi-host/transport"
)

const (
	// chunkSize is what short frames share, and what is written at once.
	chunkSize = 16 << 10
	// ownChunks is how many chunks a sender writes itself; what others send meanwhile
	// a goroutine writes.
	ownChunks = 16
	// pieceSize is what has to be taken within WriteTime.
	pieceSize = 64 << 10
)

// chunk is a run of whole frames, and how many records and bytes of theirs are in it. After a write that was
// not taken whole it is the rest of one.
type chunk struct {
	data           []byte
	records, bytes int
	shared         *[chunkSize]byte // where data lies, if that is a shared buffer
}

var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// free gives a written chunk's buffer back.
func (k chunk) free() {
	if k.shared != nil {
		chunks.Put(k.shared)
	}
}

// outlet is what waits to be written. All of it belongs to Conn.mu.
type outlet struct {
	chunks []chunk
	// cut tells that the first chunk begins amid a frame, which nothing may precede.
	cut bool
	// turn tells that somebody is at writing.
	turn bool
	// records and bytes wait, those being written included.
	records, bytes int
	// pong is the answer to the peer's last ping, and ping tells that one is due.
	pong []byte
	ping bool
	// head is where the header of a frame is made.
	head  [ws.MaxHeaderSize]byte
	stats outStats
}

type outStats struct {
	records, bytes, refused uint64
}

// Send writes or queues a copy of record. It never blocks. It refuses with a
// *transport.TooLongError, and the connection goes on; it fails with transport.ErrFull when
// the peer is too slow, after which [Options.SlowPeer] decides, and with the reason once
// the connection has ended.
func (c *Conn) Send(record []byte) error {
	if err := c.push(record); err != nil {
		return err
	}
	c.kick()
	return nil
}

// Gather is Send for a record that others follow at once; see transport.Gatherer. Whoever
// sends one record to many gathers with all of them and pushes when no more has come.
func (c *Conn) Gather(record []byte) error { return c.push(record) }

// Push sends what was gathered. It never blocks.
func (c *Conn) Push() { c.kick() }

// push queues one record.
func (c *Conn) push(record []byte) error {
	err := c.admit(record)
	if errors.Is(err, transport.ErrFull) && c.o.SlowPeer == CloseSlow {
		_ = c.fault(CodePolicy, ErrSlow, "the queue is full: what was sent was not read")
	}
	return err
}

// admit lets one record into the queue, or tells why not.
func (c *Conn) admit(record []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case len(record) > c.o.MaxRecord:
		c.out.stats.refused++
		return &transport.TooLongError{Limit: c.o.MaxRecord}
	case c.out.records >= c.o.QueueRecords, c.out.bytes >= c.o.QueueBytes, !c.budget.take(len(record)):
		c.out.stats.refused++
		return transport.ErrFull
	}
	c.out.records++
	c.out.bytes += len(record)
	c.out.stats.records++
	c.out.stats.bytes += uint64(len(record))
	c.out.frame(record, c.masks)
	return nil
}

func validText(record []byte) bool { return utf8.Valid(record) }

// frame appends a record as one frame.
func (o *outlet) frame(record []byte, masked bool) {
	h := ws.Header{Fin: true, OpCode: ws.OpText, Masked: masked, Length: int64(len(record))}
	if !validText(record) {
		h.OpCode = ws.OpBinary
	}
	if masked {
		h.Mask = ws.NewMask()
	}
	last := o.room(ws.HeaderSize(h) + len(record))
	into := appender{&last.data}
	_ = ws.WriteHeaderBuffer(into, h, o.head[:])
	begin := len(last.data)
	last.data = append(last.data, record...)
	if masked {
		ws.Cipher(last.data[begin:], h.Mask, 0)
	}
	last.records++
	last.bytes += len(record)
}

// appender is an io.Writer to the end of a slice.
type appender struct{ to *[]byte }

func (a appender) Write(p []byte) (int, error) {
	*a.to = append(*a.to, p...)
	return len(p), nil
}

// room returns a chunk that takes n more bytes.
func (o *outlet) room(n int) *chunk {
	if k := len(o.chunks); k > 0 {
		if last := &o.chunks[k-1]; cap(last.data)-len(last.data) >= n {
			return last
		}
	}
	fresh := chunk{}
	if n <= chunkSize {
		fresh.shared = chunks.Get().(*[chunkSize]byte)
		fresh.data = fresh.shared[:0]
	} else {
		fresh.data = make([]byte, 0, n)
	}
	o.chunks = append(o.chunks, fresh)
	return &o.chunks[len(o.chunks)-1]
}

// kick writes what waits, unless somebody is at it.
func (c *Conn) kick() {
	c.mu.Lock()
	if c.out.turn {
		c.mu.Unlock()
		return
	}
	c.out.turn = true
	if c.try == nil {
		c.mu.Unlock()
		go c.drain()
		return
	}
	next, more := c.pick()
	c.mu.Unlock()
	for i := 1; more; i++ {
		n, err := c.try.write(next.data)
		switch {
		case err == nil && n < len(next.data):
			c.putBack(next, n)
			go c.drain()
			return
		case err != nil || i == ownChunks:
			if c.wrote(next, err) {
				go c.drain()
			}
			return
		}
		c.mu.Lock()
		c.settle(next)
		next, more = c.pick()
		c.mu.Unlock()
	}
}

// drain writes until nothing waits. It has the turn.
func (c *Conn) drain() {
	for {
		next, more := c.take()
		if !more || !c.wrote(next, c.write(next.data)) {
			return
		}
	}
}

// write writes a chunk, as slowly as WriteTime allows.
func (c *Conn) write(data []byte) error {
	for len(data) > 0 {
		c.writeWithin(c.o.WriteTime)
		n, err := c.net.Write(data[:min(len(data), pieceSize)])
		if err != nil {
			return err
		}
		data = data[n:]
	}
	c.writeWithin(0)
	return nil
}

// writeWithin limits the next write; zero limits none. After the end CloseTime does.
func (c *Conn) writeWithin(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
	case d == 0:
		_ = c.net.SetWriteDeadline(time.Time{})
	default:
		_ = c.net.SetWriteDeadline(time.Now().Add(d))
	}
}

// take takes what is to be written next.
func (c *Conn) take() (next chunk, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pick()
}

// pick is what is to be written next; where there is nothing it gives the turn back. mu is held.
func (c *Conn) pick() (next chunk, more bool) {
	o := &c.out
	switch {
	case o.cut:
		return o.shift(), true
	case c.err != nil:
		if c.goodbye != nil {
			next, c.goodbye = chunk{data: c.goodbye}, nil
			return next, true
		}
		c.yield()
		return chunk{}, false
	case o.pong != nil:
		next, o.pong = chunk{data: control(ws.OpPong, o.pong, c.masks)}, nil
		return next, true
	case o.ping:
		o.ping = false
		return chunk{data: control(ws.OpPing, nil, c.masks)}, true
	case len(o.chunks) > 0:
		return o.shift(), true
	}
	c.yield()
	return chunk{}, false
}

func (o *outlet) shift() chunk {
	first := o.chunks[0]
	o.chunks[0] = chunk{}
	o.chunks, o.cut = o.chunks[1:], false
	if len(o.chunks) == 0 {
		o.chunks = nil
	}
	return first
}

// yield gives the turn back. After the end nobody takes it again.
func (c *Conn) yield() {
	if c.err == nil {
		c.out.turn = false
		return
	}
	close(c.hush)
}

// settle counts out what was written, and frees it. After the end all is counted out
// already. mu is held.
func (c *Conn) settle(k chunk) {
	k.free()
	if c.err == nil {
		c.out.records -= k.records
		c.out.bytes -= k.bytes
		c.budget.give(k.bytes)
	}
}

// forget drops what waits, but for what is left of a frame that is half written.
func (c *Conn) forget() {
	o := &c.out
	kept := 0
	if o.cut {
		kept = 1
	}
	for _, k := range o.chunks[kept:] {
		k.free()
	}
	clear(o.chunks[kept:])
	o.chunks = o.chunks[:kept]
	c.budget.give(o.bytes)
	o.records, o.bytes, o.pong, o.ping = 0, 0, nil, false
}

// putBack queues what is left of a chunk, n bytes of which were written. After the end it
// may be the close frame, which is not dropped either.
func (c *Conn) putBack(k chunk, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.data = k.data[n:]
	c.out.chunks = append([]chunk{k}, c.out.chunks...)
	c.out.cut = n > 0 || c.err != nil
}

// wrote counts a chunk out, or ends the connection and the writing.
func (c *Conn) wrote(k chunk, err error) bool {
	c.mu.Lock()
	c.settle(k)
	c.mu.Unlock()
	if err == nil {
		return true
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = c.fault(CodeNone, ErrSlow, "") // amid a frame there is no goodbye
	} else {
		c.end(&CloseError{Code: CodeNone, Err: err}, farewell{})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.chunks, c.out.cut, c.goodbye = nil, false, nil
	c.yield()
	return false
}
