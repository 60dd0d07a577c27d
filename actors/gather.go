package actors

import "github.com/airi-host/airi-host/transport"

// A peer's lock, and how many who wait for it share their writes: when many call at
// once, or are answered, a system call for each frame would be most of the cost.

// lock takes the lock.
func (p *peer) lock() {
	p.behind.Add(1)
	p.mu.Lock()
	p.behind.Add(-1)
}

// unlock gives it back. What was gathered is sent now, unless somebody will do it: who
// waits for the lock, or whoever receives and has the next record. When many call at
// once, or are answered, their frames share a few writes.
func (p *peer) unlock() {
	push := p.gathered > 0 && !p.followed()
	if push {
		p.gathered = 0
	}
	p.mu.Unlock()
	if push {
		p.gatherer.Push()
	}
}

// followed tells whether somebody is about to take the lock.
func (p *peer) followed() bool { return p.more || p.behind.Load() > 0 }

// put sends a frame behind those that are owed.
func (p *peer) put(frame []byte) error {
	if len(p.owed.frames) > 0 {
		return transport.ErrFull
	}
	return p.putNow(frame)
}

// putNow sends a frame, or gathers it if somebody who is about to take the lock can send
// it with a frame of its own.
func (p *peer) putNow(frame []byte) error {
	if p.gatherer == nil || !p.followed() || p.gathered >= maxGathered {
		err := p.conn.Send(frame)
		if err == nil { // else what was gathered before still waits
			p.gathered = 0
		}
		return err
	}
	err := p.gatherer.Gather(frame)
	if err == nil {
		p.gathered += len(frame)
	}
	return err
}

// maxGathered is how many bytes may wait for others, beside one frame.
const maxGathered = 32 << 10
