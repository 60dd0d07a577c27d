package websocket

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/airi-host/airi-host/transport"
)

// Why this side ended a connection; a [*CloseError] wraps them.
var (
	// ErrSlow tells that the peer did not read what was sent to it.
	ErrSlow = errors.New("the peer reads too slowly")
	// ErrSilent tells that nothing came from the peer, not even an answer to a ping.
	ErrSilent = errors.New("the peer has gone silent")
	// ErrLate tells that something took the peer too long: to authenticate itself, or
	// to end a message that it had begun.
	ErrLate = errors.New("the peer took too long")
	// ErrInvalid tells that the peer broke the rules of websockets.
	ErrInvalid = errors.New("the peer does not keep to the websocket protocol")
)

// Codes of RFC 6455 §7.4.1 that a [*CloseError] may have, among others.
const (
	CodeNormal    = int(ws.StatusNormalClosure)
	CodeGoingAway = int(ws.StatusGoingAway)
	CodeProtocol  = int(ws.StatusProtocolError)
	CodePolicy    = int(ws.StatusPolicyViolation)
	CodeTooBig    = int(ws.StatusMessageTooBig)
	// CodeNone tells that a connection ended without a close frame.
	CodeNone = int(ws.StatusAbnormalClosure)
)

// CloseError tells why a connection ended otherwise than in good order.
type CloseError struct {
	// Code and Reason are what the close frame said.
	Code   int
	Reason string
	// Err is the cause, if it is known: an error of this package, or of the network.
	Err error
}

// Error gives the code and what is known beside it.
func (e *CloseError) Error() string {
	text := fmt.Sprintf("the websocket was closed with code %d", e.Code)
	if e.Code == CodeNone {
		text = "the connection ended without a close frame"
	}
	if e.Reason != "" {
		text += fmt.Sprintf(" (%q)", e.Reason)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap is the cause.
func (e *CloseError) Unwrap() error { return e.Err }

// farewell is what the close frame says; a code of 0 writes none, and 1005 one that is empty.
type farewell struct {
	code   ws.StatusCode
	reason string
}

// maxReason is what a control frame can hold beside the code, in bytes.
const maxReason = ws.MaxControlFramePayloadSize - 2

func (f farewell) frame(masked bool) []byte {
	if f.code == 0 {
		return nil
	}
	var body []byte
	if f.code != ws.StatusNoStatusRcvd {
		reason := f.reason
		if len(reason) > maxReason {
			reason = reason[:maxReason]
			for reason != "" && !validText([]byte(reason)) {
				reason = reason[:len(reason)-1] // a rune was cut
			}
		}
		body = ws.NewCloseFrameBody(f.code, reason)
	}
	return control(ws.OpClose, body, masked)
}

// control is a control frame as it is written.
func control(op ws.OpCode, body []byte, masked bool) []byte {
	f := ws.NewFrame(op, true, append([]byte(nil), body...))
	if masked {
		f = ws.MaskFrameInPlace(f)
	}
	return ws.MustCompileFrame(f)
}

// fault ends the connection for something that this side will not have, and counts it.
func (c *Conn) fault(code int, cause error, reason string) error {
	said := farewell{ws.StatusCode(code), reason}
	if code == CodeNone {
		said.code = 0
	}
	if c.end(&CloseError{Code: code, Reason: reason, Err: cause}, said) {
		c.tally(func(n *Counts) {
			switch {
			case errors.Is(cause, ErrSlow):
				n.Slow++
			case errors.Is(cause, ErrSilent):
				n.Silent++
			case errors.Is(cause, ErrLate):
				n.Late++
			case errors.Is(cause, ErrInvalid):
				n.Invalid++
			}
		})
	}
	return c.reason()
}

// lost tells what a failed read means, and ends the connection with it.
func (c *Conn) lost(err error) error {
	var broken ws.ProtocolError
	switch {
	case errors.Is(err, wsutil.ErrFrameTooLarge), errors.Is(err, wsutil.ErrMessageTooLarge):
		limit := c.maxIncoming()
		if c.end(&transport.TooLongError{Limit: limit},
			farewell{ws.StatusMessageTooBig, fmt.Sprintf("a message is longer than the limit of %d bytes", limit)}) {
			c.tally(func(n *Counts) { n.TooLong++ })
		}
	case errors.As(err, &broken), errors.Is(err, ws.ErrHeaderLengthMSB), errors.Is(err, ws.ErrHeaderLengthUnexpected):
		return c.fault(CodeProtocol, ErrInvalid, err.Error())
	default:
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		c.end(&CloseError{Code: CodeNone, Err: err}, farewell{})
	}
	return c.reason()
}

// closed ends the connection as the peer's close frame says, and answers it in kind.
func (c *Conn) closed(body []byte) error {
	c.answered.Store(true)
	code, reason := ws.StatusNoStatusRcvd, ""
	if len(body) > 0 {
		if len(body) == 1 {
			return c.fault(CodeProtocol, ErrInvalid, "a close frame has a code of one byte")
		}
		code, reason = ws.ParseCloseFrameData(body)
		if err := checkClose(code, reason); err != nil {
			return c.fault(CodeProtocol, ErrInvalid, err.Error())
		}
	}
	switch code {
	case ws.StatusNormalClosure, ws.StatusGoingAway, ws.StatusNoStatusRcvd:
		c.end(io.EOF, farewell{code: code})
	default:
		c.end(&CloseError{Code: int(code), Reason: reason}, farewell{code: code})
	}
	return c.reason()
}

// checkClose also lets through what was registered after RFC 6455 was written: 1012 to
// 1014, with which servers say that they restart.
func checkClose(code ws.StatusCode, reason string) error {
	if code >= 1012 && code <= 1014 {
		code = ws.StatusGoingAway
	}
	return ws.CheckCloseFrameData(code, reason)
}

// longAgo is a deadline that frees whoever waits.
var longAgo = time.Unix(1, 0)

// end is the one way for a connection to end; the first reason stays, and end tells
// whether this one is. What is queued is dropped, but for what is left of a write that is
// under way.
func (c *Conn) end(reason error, f farewell) bool {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return false
	}
	c.err = reason
	c.closeBy = time.Now().Add(c.o.CloseTime)
	c.hush = make(chan struct{})
	c.forget()
	c.goodbye = f.frame(c.masks)
	if c.abrupt = c.goodbye == nil; c.abrupt {
		_ = c.net.SetWriteDeadline(longAgo)
	} else {
		_ = c.net.SetWriteDeadline(c.closeBy)
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	_ = c.net.SetReadDeadline(longAgo) // frees the receiver
	go c.finish()
	return true
}

// finish says goodbye and gives the socket back, within CloseTime.
func (c *Conn) finish() {
	defer c.gone()
	// TLS gives its own farewell five seconds.
	limit := time.AfterFunc(time.Until(c.closeBy), func() { _ = c.bare().Close() })
	defer limit.Stop()
	c.kick()
	<-c.hush // nobody writes any more
	// Who has said goodbye says no more, and a client waits for the server to close.
	if c.abrupt || !c.halfClose() || c.answered.Load() && !c.masks {
		return
	}
	// To close a socket while bytes wait to be read resets it, and what was written last
	// is lost: the peer is heard out first.
	c.reading.Lock() // the receiver has left then; who comes later is told of the end, and does not wait
	_ = c.net.SetReadDeadline(c.closeBy)
	c.reading.Unlock()
	rest := make([]byte, 4<<10)
	for {
		if _, err := c.net.Read(rest); err != nil {
			return
		}
	}
}

// halfClose tells the peer that nothing follows.
func (c *Conn) halfClose() bool {
	half, ok := c.net.(interface{ CloseWrite() error })
	return ok && half.CloseWrite() == nil
}

// bare is the socket below TLS.
func (c *Conn) bare() net.Conn {
	if layer, ok := c.net.(interface{ NetConn() net.Conn }); ok {
		return layer.NetConn()
	}
	return c.net
}

// gone gives everything back.
func (c *Conn) gone() {
	_ = c.bare().Close()
	if c.onGone != nil {
		c.onGone(c)
	}
	close(c.done)
}

// reason is why the connection has ended, or nil.
func (c *Conn) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
