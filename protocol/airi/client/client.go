package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// Client is a module's end of the websocket protocol.
type Client struct {
	o Options

	// What follows is one connection's.

	phase phase
	// negotiates tells that a host has settled the versions; asked is the id of the question.
	negotiates bool
	asked      string
	// silent counts the heartbeats since something came.
	silent int
	eventa *airi.Module

	// connections counts them, and is in the ids of requests: see requestOf.
	connections uint64
	// calls are the module's own in flight, with their keys, requests those of others.
	calls    map[protocol.CallID]string
	requests map[protocol.RequestID]bool
	// questions are those about configurations that the plugin has not answered.
	questions    map[uint64]question
	lastQuestion uint64

	// announcedOnce tells that the module was announced on some connection.
	announcedOnce bool
	life          life
	offers        map[string]protocol.Offer
	// order is that of the offers.
	order []string
	sent  uint64
	over  bool
}

// phase is where a connection is.
type phase uint8

const (
	away phase = iota
	authenticating
	negotiating
	announcing
	announced
)

// The timers.
const (
	timerPhase protocol.TimerID = iota + 1
	timerBeat
)

// New returns a client that has no connection yet. The offers are those that are known
// before the plugin runs.
func New(o Options, offers []protocol.Offer) *Client {
	c := &Client{
		o:     o.resolved(),
		calls: map[protocol.CallID]string{}, requests: map[protocol.RequestID]bool{},
		questions: map[uint64]question{}, offers: map[string]protocol.Offer{},
	}
	for _, one := range offers {
		c.keep(one)
	}
	return c
}

// Step takes what happened and appends what has to be done. now makes names new.
func (c *Client) Step(now time.Time, in Input, out []Effect) []Effect {
	switch in := in.(type) {
	case Opened:
		return c.opened(out)
	case Arrived:
		return c.arrived(now, in.Record, out)
	case Lost:
		return c.lost(in.Err, out)
	case protocol.Fired:
		return c.fired(in.Timer, out)
	case Ran:
		return c.ran(in, out)
	case Validated:
		return c.validated(in, out)
	case Offer:
		return c.offer(in.Offer, out)
	case Retract:
		return c.retract(in.Key, out)
	case Emit:
		return c.emit(in, out)
	case Feels:
		return c.feels(in, out)
	case protocol.Input:
		return c.traffic(now, in, out)
	}
	return out
}

// fail ends the client.
func (c *Client) fail(err error, out []Effect) []Effect {
	if c.over {
		return out
	}
	c.over = true
	return append(out, protocol.Fail{Err: err})
}

// lost takes it that the connection is gone. What was in flight has an unknown outcome.
func (c *Client) lost(cause error, out []Effect) []Effect {
	if c.phase == away {
		return out
	}
	c.phase, c.eventa, c.negotiates = away, nil, false
	out = append(out, protocol.StopTimer{Timer: timerPhase}, protocol.StopTimer{Timer: timerBeat})
	for _, id := range slices.Sorted(maps.Keys(c.calls)) {
		out = append(out, protocol.Complete{ID: id, Err: &protocol.Error{
			Code: protocol.CodeOutcomeUnknown, Message: fmt.Sprintf("the connection to the host was lost while %s was in flight; it may have run", protocol.Clip(c.calls[id])), Err: cause,
		}})
	}
	clear(c.calls)
	for _, id := range slices.Sorted(maps.Keys(c.requests)) {
		out = append(out, protocol.Abandon{ID: id})
	}
	clear(c.requests)
	clear(c.questions)
	return out
}

// requestShift is how many bits number the requests of one connection.
const requestShift = 40

// requestOf makes the id of a request of this connection's unlike those of others.
func (c *Client) requestOf(id protocol.RequestID) protocol.RequestID {
	return id | protocol.RequestID(c.connections<<requestShift)
}

// traffic takes what the plugin says of calls.
func (c *Client) traffic(now time.Time, in protocol.Input, out []Effect) []Effect {
	switch one := in.(type) {
	case protocol.Invoke:
		if c.phase != announced {
			return append(out, protocol.Complete{ID: one.ID, Err: &protocol.Error{
				Code: protocol.CodeNotReady, Message: fmt.Sprintf("there is no connection to the host for now: call %s again later", protocol.Clip(one.Call.Key)),
			}})
		}
		c.calls[one.ID] = one.Call.Key
	case protocol.Cancel:
		delete(c.calls, one.ID)
	case protocol.Report:
		if !c.requests[one.ID] {
			return append(out, protocol.Drop(DroppedAway, "a part of an answer"))
		}
		one.ID &= 1<<requestShift - 1
		in = one
	case protocol.Reply:
		if !c.requests[one.ID] && c.requestOf(one.ID) != one.ID {
			return append(out, protocol.Drop(DroppedAway, "an answer"))
		}
		delete(c.requests, one.ID)
		one.ID &= 1<<requestShift - 1
		in = one
	}
	if c.eventa == nil {
		return out
	}
	return c.step(now, in, out)
}

// step has Eventa's part do something.
func (c *Client) step(now time.Time, in protocol.Input, out []Effect) []Effect {
	for _, e := range c.eventa.Step(now, in, nil) {
		switch e := e.(type) {
		case protocol.Send:
			out = c.sendStep(e.Message.(airi.Frame), out)
		case protocol.Complete:
			delete(c.calls, e.ID)
			out = append(out, e)
		case protocol.Serve:
			e.ID = c.requestOf(e.ID)
			c.requests[e.ID] = true
			out = append(out, e)
		case protocol.Fed:
			e.ID = c.requestOf(e.ID)
			out = append(out, e)
		case protocol.FedEnd:
			e.ID = c.requestOf(e.ID)
			out = append(out, e)
		case protocol.Abandon:
			e.ID = c.requestOf(e.ID)
			delete(c.requests, e.ID)
			out = append(out, e)
		case protocol.Dropped:
			// A host that does not know whether a stream is wanted ends it behind the result.
			if e.What != airi.DroppedLate || !strings.Contains(e.Detail, "-receive-stream-end-") {
				out = append(out, e)
			}
		case protocol.Emitted:
			payload, _ := e.Event.JSON() // raw JSON
			out = append(out, Heard{Name: e.Event.Name, Data: payload})
		default:
			out = append(out, e)
		}
	}
	return out
}

// sendStep sends a step of a call: to a host as a frame of Eventa's, else as an event.
func (c *Client) sendStep(f airi.Frame, out []Effect) []Effect {
	if !c.negotiates {
		return c.say(f.ID, dataOf(f), "", out)
	}
	record, err := airi.AppendFrame(nil, f)
	if err != nil {
		return append(out, protocol.Drop(airi.DroppedPayload, err.Error()))
	}
	return append(out, Send{record})
}

// invokeType is a member by which the data of a step tell what Eventa's frames have beside
// the body: a result from an item of a stream.
const invokeType = "invokeType"

// dataOf is a step as the data of an event, frameOf the way back.
func dataOf(f airi.Frame) json.RawMessage {
	if f.InvokeType == nil || !isObject(f.Body) {
		return f.Body
	}
	data := append(slices.Clone(f.Body[:len(f.Body)-1]), `,"`+invokeType+`":`...)
	return append(strconv.AppendInt(data, int64(*f.InvokeType), 10), '}')
}

func frameOf(e event) airi.Frame {
	f := airi.Frame{ID: e.name, Body: e.data}
	if n, err := strconv.Atoi(string(member(e.data, invokeType))); err == nil {
		f.InvokeType = &n
	}
	return f
}

// emit tells others an event. What asks for another phase is heeded, too.
func (c *Client) emit(in Emit, out []Effect) []Effect {
	if c.phase != announced {
		return append(out, protocol.Drop(DroppedAway, in.Name))
	}
	out = c.say(in.Name, airi.DataOf(in.Data), "", out)
	if in.Name == "module:status:change" {
		return c.wants(textOf(in.Data, "phase"), out)
	}
	return out
}

// newEventa begins Eventa's part of a connection.
func (c *Client) newEventa() {
	prefix := c.o.Seed + "-" + strconv.FormatUint(c.connections, 10) + "-"
	c.eventa = airi.NewModule(prefix, protocol.Settings{MaxPending: c.o.MaxPending}, c.o.Collecting)
}

// ErrToken tells that the server does not take the token.
var ErrToken = errors.New("the server does not take the token")
