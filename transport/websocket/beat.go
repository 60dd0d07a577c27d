package websocket

import "time"

// beat looks after a connection: what should have come by now, and whether to ask for
// life. It runs a few times a minute, by one timer.
func (c *Conn) beat() {
	now := time.Now()
	if c.overdue(now) {
		return
	}
	if since(now, c.heard.Load()) >= c.o.PingEvery && since(now, c.pinged.Load()) >= c.o.PingEvery {
		c.pinged.Store(now.UnixNano())
		c.mu.Lock()
		c.out.ping = c.err == nil
		c.mu.Unlock()
		c.kick()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.timer.Reset(c.next(now))
	}
}

// since is how long ago a stamp of a Conn was set.
func since(now time.Time, stamp int64) time.Duration { return now.Sub(time.Unix(0, stamp)) }

// overdue ends the connection if something took too long.
func (c *Conn) overdue(now time.Time) bool {
	begun := c.begun.Load()
	switch {
	case !c.known.Load() && now.Sub(c.since) >= c.o.AuthTime:
		_ = c.fault(CodePolicy, ErrLate, "not authenticated in time")
	case begun != 0 && since(now, begun) >= c.o.MessageTime:
		_ = c.fault(CodePolicy, ErrLate, "a message took too long to come")
	case begun == 0 && since(now, c.heard.Load()) >= c.o.Silence && c.listens(now):
		_ = c.fault(CodePolicy, ErrSilent, "nothing was heard for too long")
	default:
		return false
	}
	return true
}

// listens tells whether somebody receives. While nobody does it is not the peer that is
// silent, and its time begins anew.
func (c *Conn) listens(now time.Time) bool {
	if !c.reading.TryLock() {
		return true
	}
	defer c.reading.Unlock()
	c.heard.Store(now.UnixNano())
	return false
}

// next is when to look again. A message may begin at any time; that it takes too long is
// noticed half as late again.
func (c *Conn) next(now time.Time) time.Duration {
	heard := time.Unix(0, c.heard.Load())
	due := now.Add(c.o.MessageTime / 2)
	sooner := func(at time.Time) {
		if at.Before(due) {
			due = at
		}
	}
	begun := c.begun.Load()
	if begun == 0 {
		sooner(heard.Add(c.o.Silence))
	} else {
		sooner(time.Unix(0, begun).Add(c.o.MessageTime))
	}
	if pinged := time.Unix(0, c.pinged.Load()); pinged.After(heard) {
		heard = pinged
	}
	sooner(heard.Add(c.o.PingEvery))
	if !c.known.Load() {
		sooner(c.since.Add(c.o.AuthTime))
	}
	return max(due.Sub(now), time.Millisecond)
}
