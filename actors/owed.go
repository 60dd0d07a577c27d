package actors

import (
	"bytes"
	"errors"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
)

// owed are frames that a peer has to get, though it reads too slowly to have room for
// them: answers to what it asked, the steps of its life, that a call is given up. They
// wait in order until there is room; until then nothing else is sent, so that calls are
// refused and streams wait. How many there may be is Limits.OwedFrames. The peer's lock guards it.
type owed struct {
	frames [][]byte
	bytes  int
	// pause is how long the next look for room is away, and bell rings at it.
	pause time.Duration
	bell  *time.Timer
}

// isOwed tells whether what an input gives rise to has to get to the peer.
func isOwed(cause protocol.Input) bool {
	switch cause.(type) {
	case protocol.Invoke, *protocol.Invoke, protocol.Feed, protocol.FeedEnd, protocol.Report, protocol.OpenRoute, protocol.WriteRoute:
		return false
	}
	return true
}

// owe lets a frame wait, and tells whether it may. It runs under the lock.
func (p *peer) owe(frame []byte) bool {
	o, most := &p.owed, p.h.bounds.limits
	if len(o.frames) >= most.OwedFrames || o.bytes >= most.OwedBytes {
		return false
	}
	o.frames = append(o.frames, bytes.Clone(frame))
	o.bytes += len(frame)
	if len(o.frames) == 1 {
		o.pause = firstPause
		o.bell = time.AfterFunc(o.pause, p.payOff)
	}
	return true
}

// payOff sends what is owed, as far as there is room.
func (p *peer) payOff() {
	p.lock()
	defer p.unlock()
	o := &p.owed
	for len(o.frames) > 0 && !p.closed {
		err := p.putNow(o.frames[0])
		if errors.Is(err, transport.ErrFull) {
			o.pause = min(2*o.pause, longestPause)
			o.bell.Reset(o.pause)
			return
		}
		if err != nil { // the connection is over, and the reader tells why
			p.forgive()
			return
		}
		o.bytes -= len(o.frames[0])
		o.frames[0] = nil
		o.frames = o.frames[1:]
		o.pause = firstPause
	}
}

// forgive drops what is owed to a peer that has ended. It runs under the lock.
func (p *peer) forgive() {
	if n := len(p.owed.frames); n > 0 {
		p.owed.bell.Stop()
		p.owed = owed{}
		p.host.drop(p.h, "lost-reply", "it was not read", uint64(n))
	}
}
