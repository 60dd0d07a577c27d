package actors

import "github.com/airi-host/airi-host/protocol"

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
		if crowd := p.take(protocol.Received{Message: m}); crowd != nil && crowd.isCrowded() {
			crowd.giveWay()
		}
	}
}

// take gives the driver what was received, or nothing, and notes whether there is more.
// It returns where an item of a stream was put, if one was.
func (p *peer) take(in protocol.Input) (crowd *backlog) {
	p.lock()
	defer p.unlock()
	p.more = p.waiter != nil && p.waiter.Ready() && !p.gate.isFull()
	if in != nil {
		p.step(in)
	}
	crowd, p.crowd = p.crowd, nil
	return crowd
}
