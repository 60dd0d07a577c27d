package airi

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Module is Eventa's end at a module that has a websocket of its own: a state machine with
// the contract of a [protocol.Driver] of which both the messages and the sends are of type
// [Frame]. It makes calls and is called, with streams either way. It is one connection's.
type Module struct{ eventa *driver }

var _ protocol.Driver = (*Module)(nil)

// NewModule returns it. The prefix starts the invokeIds of its calls, and the names of its
// frames: no other module may have it, nor an earlier connection of this one.
func NewModule(prefix string, s protocol.Settings, c Collecting) *Module {
	return &Module{newDriverTo(far{prefix: prefix, alone: true, module: true}, s, c)}
}

// Step takes what happened and appends what has to be done.
func (m *Module) Step(now time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	return m.eventa.Step(now, in, out)
}

// Concerns tells whether an event is a part of a call that this module makes, or of one of
// what it offers, as those that are broadcast may be.
func (m *Module) Concerns(f Frame, offers func(key string) bool) bool {
	switch s := readStep(f); s.kind {
	case noStep:
		return false
	case stepSend, stepSendAbort, stepSendEnd, stepSendError:
		return offers(s.tag)
	default:
		return strings.HasPrefix(s.idText, m.eventa.far.prefix)
	}
}

// IsInvoke tells whether an event is a step of an invoke of Eventa's.
func IsInvoke(f Frame) bool { return readStep(f).kind != noStep }

// ReadFrame reads a frame of Eventa's websocket adapters, of either outer form, or of both
// at once, as a host sends it that has not heard which one the module speaks.
func ReadFrame(record []byte) (Frame, error) {
	record = bytes.Trim(bytes.TrimPrefix(record, byteOrderMark), jsonSpace)
	if !valid(record) {
		return Frame{}, unreadable("expected a JSON object", record)
	}
	var e envelope
	err := readObject(record, e.outer)
	var f Frame
	switch {
	case err != nil:
	case e.inner != nil:
		f, err = e.newer()
	case e.typ != nil:
		f, err = e.older()
	default:
		err = errors.New(`expected "type" or "eventa", got neither`)
	}
	if err != nil {
		return Frame{}, unreadable(err.Error(), record)
	}
	f.Opens, f.Within = "", "" // a bridge's
	return f, nil
}

// AppendFrame appends a frame in the form of Eventa 1.0.0-alpha.14, which a host answers in.
func AppendFrame(dst []byte, f Frame) ([]byte, error) {
	if err := writable(f); err != nil {
		return dst, err
	}
	return appendFrame(dst, f), nil
}

// isHosts tells of a caller whether it is this project's host, which tells results from
// items of streams by their numbers.
func (d *driver) isHosts(id string) bool { return d.far.module && strings.HasPrefix(id, idPrefix) }

// answerHost answers a host, which hears the end of a stream, or a result.
func (d *driver) answerHost(r *request, in protocol.Reply, out []protocol.Effect) []protocol.Effect {
	switch {
	case in.Err != nil:
		return d.send(errorFrame(r.caller.tag, r.rawID, in.Err), out)
	case r.reported && isNothing(in.Result):
		return d.send(answerEndFrame(r.caller.tag, r.rawID), out)
	}
	return d.send(resultFrame(r.caller.tag, r.rawID, in.Result), out)
}
