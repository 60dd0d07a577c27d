package actors

import (
	"runtime"

	"github.com/airi-host/airi-host/protocol"
)

// What comes from a peer goes to its driver, whoever receives it.

// receive hands a record's messages to the driver.
func (p *peer) receive(record []byte) {
	var messages []protocol.Message
	err := contain(func() (err error) {
		messages, err = p.codec.Decode(record)
		return err
	})
	p.host.logPanic(p.h, err)
	if err != nil {
		p.host.drop(p.h, "bad-frame", err.Error(), 1)
	}
	if len(messages) == 0 {
		p.take(nil)
	}
	for _, m := range messages {
		p.host.publishWire(p.h, true, m)
		if p.take(protocol.Received{Message: m}) {
			runtime.Gosched() // a caller whose items wait may just not have had its turn
		}
	}
}

// take gives the driver what was received, or nothing, and notes whether there is more.
// It tells whether many items wait for a caller.
func (p *peer) take(in protocol.Input) (crowded bool) {
	p.lock()
	defer p.unlock()
	p.more = p.waiter != nil && p.waiter.Ready() && !p.gate.isFull()
	if in != nil {
		p.step(in)
	}
	crowded, p.crowded = p.crowded, false
	return crowded
}
