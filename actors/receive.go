package actors

import (
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// What comes from a peer goes to its driver, whoever receives it.

// receive hands a record's messages to the driver.
func (p *peer) receive(record []byte) {
	messages, err := p.decode(record)
	p.host.logPanic(p.h, err)
	if err != nil {
		p.host.drop(p.h, "bad-frame", err.Error(), 1)
	}
	if len(messages) == 0 {
		p.take(nil)
	}
	for i, m := range messages {
		p.host.publishWire(p.h, true, m)
		messages[i] = nil
		if crowd := p.take(m); crowd != nil && crowd.isCrowded() {
			crowd.giveWay()
		}
	}
}

// decode reads a record; what it says is good until the next one.
func (p *peer) decode(record []byte) (messages []protocol.Message, err error) {
	err = contain(func() (err error) {
		if p.appender == nil {
			messages, err = p.codec.Decode(record)
			return err
		}
		messages, err = p.appender.AppendDecode(p.messages[:0], record)
		if cap(messages) <= keptMessages {
			p.messages = messages
		}
		return err
	})
	return messages, err
}

// keptMessages is how long a list is, at most, that is kept for the next record's messages.
const keptMessages = 16

// take gives the driver a message, or nothing, and notes whether there is more.
// It returns where an item of a stream was put, if one was.
func (p *peer) take(m protocol.Message) (crowd *backlog) {
	p.lock()
	defer p.unlock()
	if !p.more {
		p.arrived = time.Now()
	}
	p.more = p.waiter != nil && p.waiter.Ready() && !p.gate.isFull()
	if m != nil {
		p.hear(m)
	}
	crowd, p.crowd = p.crowd, nil
	return crowd
}

// rested tells that the reader has waited, so that what it has is not from this moment.
func (p *peer) rested() {
	p.lock()
	defer p.unlock()
	p.more = false
}

// hear gives the driver a message, by pointer if it can.
func (p *peer) hear(m protocol.Message) {
	if p.lent == nil {
		p.step(protocol.Received{Message: m})
		return
	}
	p.lent.message.Message = m
	p.step(&p.lent.message)
	p.lent.message.Message = nil
}
