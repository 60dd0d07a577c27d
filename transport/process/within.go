package process

import (
	"time"

	"github.com/airi-host/airi-host/transport"
)

var _ transport.Waiter = (*Process)(nil)

// RecvWithin is Recv for a limited time, rounded up to milliseconds, which begins anew with
// the first part of a record that comes in parts; see transport.Waiter.
func (p *Process) RecvWithin(d time.Duration) ([]byte, error) {
	var deadline time.Time // is zero while nothing has come, since it costs to look at the clock
	for left := d; p.endReason() == nil && !p.reader.Ready(); {
		if left <= 0 || !p.wire.ready(left) {
			return nil, transport.ErrNotYet
		}
		p.reader.Fill() // which does not wait now
		if p.reader.Ready() {
			break
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(d)
		}
		left = time.Until(deadline)
	}
	return p.Recv()
}

// Ready tells whether a whole record, or the end, has arrived.
func (p *Process) Ready() bool { return p.endReason() != nil || p.reader.Ready() }
