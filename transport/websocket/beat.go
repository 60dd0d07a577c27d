package websocket

import "time"

// beat looks after a connection: what should have come by now, and whether to ask for
// life. It runs a few times a minute, by one timer.
func (c *Conn) beat() {
	now := time.Now()
	if c.overdue(now) {
		return
	}
	if c.unheard(now, &c.heard) >= c.o.PingEvery && c.unheard(now, &c.pinged) >= c.o.PingEvery {
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

type stamp interface{ Load() int64 }

func (c *Conn) unheard(now time.Time, last stamp) time.Duration {
	return now.Sub(time.Unix(0, last.Load()))
}

// overdue ends the connection if something took too long.
func (c *Conn) overdue(now time.Time) bool {
	begun := c.begun.Load()
	switch {
	case !c.known.Load() && now.Sub(c.since) >= c.o.AuthTime:
		_ = c.fault(CodePolicy, ErrLate, "not authenticated in time")
	case begun != 0 && c.unheard(now, &c.begun) >= c.o.MessageTime:
		_ = c.fault(CodePolicy, ErrLate, "a message took too long to come")
	case begun == 0 && c.unheard(now, &c.heard) >= c.o.Silence:
		_ = c.fault(CodePolicy, ErrSilent, "nothing was heard for too long")
	default:
		return false
	}
	return true
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
	sooner(heard.Add(c.o.Silence))
	if pinged := time.Unix(0, c.pinged.Load()); pinged.After(heard) {
		heard = pinged
	}
	sooner(heard.Add(c.o.PingEvery))
	if !c.known.Load() {
		sooner(c.since.Add(c.o.AuthTime))
	}
	if begun := c.begun.Load(); begun != 0 {
		sooner(time.Unix(0, begun).Add(c.o.MessageTime))
	}
	return max(due.Sub(now), time.Millisecond)
}
