package actors

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// plain is a dialect for tests. Its fields make it behave badly.
type plain struct {
	// silent drivers answer no step; forgetful ones complete nothing at the end
	// and answer each request once only; shy ones say nothing of a call with a request
	// stream before its first item.
	silent, forgetful, shy bool
}

var _ protocol.Dialect = plain{}

func (plain) Name() string                             { return "plain" }
func (plain) Codec() protocol.Codec                    { return plainCodec{} }
func (plain) Narrate(protocol.Moment) []protocol.Event { return nil }
func (p plain) NewDriver(protocol.Settings) protocol.Driver {
	return &plainDriver{plain: p, calls: map[protocol.CallID]bool{}, owed: map[protocol.RequestID]bool{}}
}

// streaming is the same with request streams; its driver takes calls by value alone.
type streaming struct{ plain }

func (s streaming) NewDriver(far protocol.Settings) protocol.Driver {
	return struct{ protocol.Driver }{s.plain.NewDriver(far)}
}

func (streaming) Streams() {}

var _ protocol.Streaming = streaming{}

// plainCodec takes lines as they are.
type plainCodec struct{}

func (plainCodec) Decode(record []byte) ([]protocol.Message, error) {
	if string(record) == "unreadable" {
		return nil, errors.New("this is no frame")
	}
	if string(record) == "panic in the codec" {
		panic("oh no")
	}
	var list []protocol.Message
	for line := range strings.SplitSeq(string(record), "\n") {
		list = append(list, line)
	}
	return list, nil
}

func (plainCodec) Encode(dst []byte, m protocol.Message) ([]byte, error) {
	line := m.(string)
	if strings.Contains(line, "unwritable") {
		return nil, errors.New("this cannot be written")
	}
	return append(dst, line...), nil
}

type plainDriver struct {
	plain
	calls map[protocol.CallID]bool
	owed  map[protocol.RequestID]bool
}

func send(format string, args ...any) protocol.Effect {
	return protocol.Send{Message: fmt.Sprintf(format, args...)}
}

var _ protocol.Borrower = (*plainDriver)(nil)

func (*plainDriver) Borrows() {}

func (d *plainDriver) Step(_ time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	switch borrowed := in.(type) {
	case *protocol.Invoke:
		in = *borrowed
	case *protocol.Received:
		in = *borrowed
	}
	switch in := in.(type) {
	case protocol.Run:
		if d.silent {
			return append(out, send("run %s", in.Step))
		}
		return append(out, protocol.Ran{Step: in.Step})
	case protocol.Invoke:
		d.calls[in.ID] = true
		if d.shy && in.Feeds {
			return out
		}
		line := fmt.Sprintf("call %d %s %s", in.ID, in.Call.Key, in.Call.Input)
		if in.Follows {
			line += " follows"
		}
		if in.Feeds {
			line += " feeds"
		}
		return append(out, send("%s", line))
	case protocol.Feed:
		return append(out, send("feed %d %s", in.ID, in.Item))
	case protocol.FeedEnd:
		return append(out, send("feed-end %d %v", in.ID, in.Err), send("and that was all"))
	case protocol.Report:
		return append(out, send("report %d %s", in.ID, in.Item))
	case protocol.Cancel:
		if !d.calls[in.ID] {
			return out
		}
		delete(d.calls, in.ID)
		return append(out, send("cancel %d %s", in.ID, in.Reason), protocol.Complete{ID: in.ID, Err: errors.New("cancelled")})
	case protocol.Emit:
		return append(out, send("event %s", in.Event.Name))
	case protocol.Reply:
		return d.reply(in, out)
	case protocol.Fired:
		return append(out, send("fired %d", in.Timer))
	case protocol.Closed:
		return d.closed(in, out)
	case protocol.Received:
		return d.received(in.Message.(string), out)
	}
	return out
}

func (d *plainDriver) reply(in protocol.Reply, out []protocol.Effect) []protocol.Effect {
	if d.forgetful && !d.owed[in.ID] {
		return out
	}
	delete(d.owed, in.ID)
	if in.Err != nil {
		return append(out, send("failed %d %s", in.ID, in.Err))
	}
	return append(out, send("result %d %s", in.ID, said(in.Result)))
}

func (d *plainDriver) closed(in protocol.Closed, out []protocol.Effect) []protocol.Effect {
	if d.forgetful {
		return out
	}
	for id := range d.calls {
		out = append(out, protocol.Complete{ID: id, Err: &protocol.Error{Code: protocol.CodeOutcomeUnknown, Message: "lost", Err: in.Err}})
	}
	return out
}

// received turns one line of the far end into one effect.
func (d *plainDriver) received(line string, out []protocol.Effect) []protocol.Effect {
	word, rest, _ := strings.Cut(line, " ")
	var id uint64
	_, _ = fmt.Sscan(rest, &id)
	_, text, _ := strings.Cut(rest, " ")
	switch word {
	case "answer":
		delete(d.calls, protocol.CallID(id))
		out = append(out, protocol.Complete{ID: protocol.CallID(id), Result: asData(text)})
	case "fail":
		delete(d.calls, protocol.CallID(id))
		out = append(out, protocol.Complete{ID: protocol.CallID(id), Err: &protocol.PeerError{Message: text}})
	case "ran":
		out = append(out, protocol.Ran{Step: protocol.Step(rest)})
	case "offer":
		out = append(out, protocol.Offered{Offer: protocol.Offer{Key: rest, Invocable: true}})
	case "retract":
		out = append(out, protocol.Retracted{Key: rest})
	case "serve", "serve-told", "follow", "serve-fed":
		d.owed[protocol.RequestID(id)] = true
		key, input, _ := strings.Cut(text, " ")
		call := protocol.Call{Key: key, Told: word == "serve-told"}
		if input != "" {
			call.Input = json.RawMessage(input)
		}
		out = append(out, protocol.Serve{ID: protocol.RequestID(id), Call: call, Follows: word == "follow", Feeds: word == "serve-fed"})
	case "abandon":
		out = append(out, protocol.Abandon{ID: protocol.RequestID(id)})
	case "emit":
		out = append(out, protocol.Emitted{Event: protocol.Event{Name: rest}})
	case "timer":
		after, _ := time.ParseDuration(text)
		out = append(out, protocol.SetTimer{Timer: protocol.TimerID(id), After: after})
	case "untimer":
		out = append(out, protocol.StopTimer{Timer: protocol.TimerID(id)})
	case "progress":
		out = append(out, protocol.Progress{ID: protocol.CallID(id), Item: json.RawMessage(text)})
	case "alive":
		out = append(out, protocol.Progress{ID: protocol.CallID(id)})
	case "fed":
		out = append(out, protocol.Fed{ID: protocol.RequestID(id), Item: json.RawMessage(text)})
	case "fed-end":
		end := protocol.FedEnd{ID: protocol.RequestID(id)}
		if text != "" {
			end.Err = errors.New(text)
		}
		out = append(out, end)
	case "absent":
		out = append(out, protocol.Absent{Reason: rest})
	case "present":
		out = append(out, protocol.Present{})
	case "chunk":
		out = append(out, protocol.Chunk{ID: protocol.RouteID(id)})
	case "drop":
		out = append(out, protocol.Dropped{What: rest, Detail: "because"})
	case "log":
		out = append(out, protocol.Logged{Level: slog.LevelWarn, Message: "bare"},
			protocol.Logged{Message: rest, Meta: json.RawMessage(`{"a":1}`)})
	case "say":
		out = append(out, send("%s", rest))
	case "both":
		out = append(out, send("first"), protocol.Emitted{Event: protocol.Event{Name: "second"}}, send("third"))
	case "end":
		out = append(out, protocol.Fail{Err: errors.New(rest)})
	case "panic":
		panic(rest)
	}
	return out
}
