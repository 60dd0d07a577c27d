package process

import (
	"time"

	"github.com/airi-host/airi-host/transport"
)

var _ transport.Waiter = (*Process)(nil)

// RecvWithin is Recv for a limited time, rounded up to milliseconds; see
// transport.Waiter.
func (p *Process) RecvWithin(d time.Duration) ([]byte, error) {
	deadline := time.Now().Add(d)
	for p.endReason() == nil && !p.reader.Ready() {
		left := time.Until(deadline)
		if left <= 0 || !p.wire.ready(left) {
			return nil, transport.ErrNotYet
		}
		p.reader.Fill() // which does not wait now
	}
	return p.Recv()
}

// Ready tells whether a whole record, or the end, has arrived.
func (p *Process) Ready() bool { return p.endReason() != nil || p.reader.Ready() }
