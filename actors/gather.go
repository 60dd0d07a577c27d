package actors

// A peer's lock, and how many who wait for it share their writes: when many call at
// once, or are answered, a system call for each frame would be most of the cost.

// lock takes the lock.
func (p *peer) lock() {
	p.behind.Add(1)
	p.mu.Lock()
	p.behind.Add(-1)
}

// unlock gives it back. What was gathered is sent now, unless somebody waits, who
// will do it: when many call at once, their frames share a few writes.
func (p *peer) unlock() {
	push := p.gathered > 0 && p.behind.Load() == 0
	if push {
		p.gathered = 0
	}
	p.mu.Unlock()
	if push {
		p.gatherer.Push()
	}
}

// put sends a frame, or gathers it if somebody who is about to take the lock can send
// it with a frame of its own.
func (p *peer) put(frame []byte) error {
	if p.gatherer == nil || p.behind.Load() == 0 || p.gathered >= maxGathered {
		p.gathered = 0
		return p.conn.Send(frame)
	}
	p.gathered += len(frame)
	return p.gatherer.Gather(frame)
}

// maxGathered is how many bytes may wait for others, beside one frame.
const maxGathered = 32 << 10
