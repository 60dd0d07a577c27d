package websocket

import (
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

const (
	// keptRecord is the largest buffer of a record that is kept for the next one, and
	// idleRecord the largest that is kept while nothing comes.
	keptRecord = 64 << 10
	idleRecord = 1 << 10
)

// inlet reads messages. But for the counters it belongs to Conn.reading.
type inlet struct {
	source source
	frames wsutil.Reader
	record []byte

	records, bytes atomic.Uint64
}

func (in *inlet) open(c *Conn, early []byte) {
	in.source.open(c.net, early)
	state := ws.StateServerSide
	if c.masks {
		state = ws.StateClientSide
	}
	in.frames = wsutil.Reader{Source: &in.source, State: state, OnIntermediate: func(h ws.Header, r io.Reader) error {
		c.heard.Store(time.Now().UnixNano())
		if err := c.control(h, r); err != nil {
			return &endedAmid{err}
		}
		return nil
	}}
}

// Recv returns the next record; see transport.Conn. What ends a connection is told by
// the package comment.
func (c *Conn) Recv() ([]byte, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	for {
		if err := c.reason(); err != nil {
			return nil, err
		}
		// It is waited for here, so that a receiver's stack is as small as can be meanwhile.
		if err := c.in.await(); err != nil {
			return nil, c.lost(err)
		}
		record, op, err := c.message()
		if err != nil {
			return nil, err
		}
		now := time.Now().UnixNano()
		c.heard.Store(now)
		if op.IsControl() {
			continue
		}
		c.spoke.Store(now)
		if op == ws.OpText && !validText(record) {
			return nil, c.fault(int(ws.StatusInvalidFramePayloadData), ErrInvalid, "a text is not UTF-8")
		}
		if !c.o.PassControl && op == ws.OpText && isControlText(record) {
			continue
		}
		c.in.records.Add(1)
		c.in.bytes.Add(uint64(len(record)))
		return record, nil
	}
}

// isControlText knows the whole texts "ping" and "pong", which the clients and servers of
// AIRI (better-ws, crossws) send as signs of life.
func isControlText(record []byte) bool {
	return len(record) == 4 && (string(record) == "ping" || string(record) == "pong")
}

// await returns when something has come of the next message.
func (in *inlet) await() error {
	in.source.idle = true
	if !in.source.empty() {
		return nil
	}
	if cap(in.record) > idleRecord { // whoever waits owns no large buffer
		in.record = nil
	}
	in.source.release()
	return in.source.more()
}

// message reads one message, or one control frame.
func (c *Conn) message() ([]byte, ws.OpCode, error) {
	in := &c.in
	in.frames.MaxMessageSize = int64(c.maxIncoming())
	h, err := in.frames.NextFrame()
	if err != nil {
		return nil, 0, c.lost(err)
	}
	if h.OpCode.IsControl() {
		if err := c.control(h, &in.frames); err != nil {
			return nil, 0, err
		}
		return nil, h.OpCode, nil
	}
	if !h.Fin || !in.source.has(h.Length) {
		c.begun.Store(time.Now().UnixNano())
		defer func() {
			c.heard.Store(time.Now().UnixNano()) // before there is no message any more
			c.begun.Store(0)
		}()
	}
	err = in.read(int(h.Length))
	var ended *endedAmid
	switch {
	case err == nil:
		return in.record, h.OpCode, nil
	case errors.As(err, &ended):
		return nil, 0, ended.reason
	}
	return nil, 0, c.lost(err)
}

// read reads the rest of a message. What is allocated grows with what has come, not with
// what was promised.
func (in *inlet) read(promised int) error {
	record := in.record[:0]
	if cap(record) > keptRecord {
		record = nil
	}
	record = slices.Grow(record, min(promised, keptRecord))
	for {
		if len(record) == cap(record) {
			record = slices.Grow(record, max(len(record), 512))
		}
		n, err := in.frames.Read(record[len(record):cap(record)])
		record = record[:len(record)+n]
		if err == nil {
			continue
		}
		in.record = record
		if errors.Is(err, io.EOF) { // a whole message; amid one it is io.ErrUnexpectedEOF
			return nil
		}
		return err
	}
}

// endedAmid carries the end of a connection out of the reader of fragments.
type endedAmid struct{ reason error }

func (e *endedAmid) Error() string { return e.reason.Error() }

// control answers a control frame. It fails with the connection's end.
func (c *Conn) control(h ws.Header, r io.Reader) error {
	var room [ws.MaxControlFramePayloadSize]byte
	body := room[:h.Length]
	if _, err := io.ReadFull(r, body); err != nil {
		return c.lost(err)
	}
	if h.OpCode == ws.OpClose {
		return c.closed(body)
	}
	if h.OpCode == ws.OpPing {
		c.answer(body)
	}
	return nil
}

// answer queues a pong. Of several pings that are not answered yet the last is.
func (c *Conn) answer(ping []byte) {
	c.mu.Lock()
	if c.err == nil {
		c.out.pong = append(make([]byte, 0, len(ping)), ping...)
	}
	c.mu.Unlock()
	c.kick()
}

// Ready tells whether Recv would return a record at once. Whoever passes records on to
// many gathers until it says no.
func (c *Conn) Ready() bool {
	if !c.reading.TryLock() {
		return false
	}
	defer c.reading.Unlock()
	return c.in.source.ready()
}
