package eliza

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// codec reads and writes one typed message a line, for either end.
type codec struct{}

var _ protocol.Appender = codec{}

// Decode reads one line. It never fails: a line that is no frame is an [Unreadable],
// and a blank one is nothing at all. Bytes that are no UTF-8 are read as U+FFFD, as
// the runtimes of workers do.
func (codec) Decode(record []byte) ([]protocol.Message, error) {
	return codec{}.AppendDecode(nil, record)
}

// AppendDecode is Decode; see protocol.Appender.
func (codec) AppendDecode(dst []protocol.Message, record []byte) ([]protocol.Message, error) {
	line := record
	if !isTrimmed(line) {
		line = bytes.TrimFunc(record, protocol.IsBlank)
	}
	if len(line) == 0 {
		return dst, nil
	}
	var f frame
	end, why := f.read(line)
	if f.high && !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
		f = frame{}
		end, why = f.read(line)
	}
	if why == "" && end < len(line) {
		why = "more behind the object"
	}
	if why != "" {
		return append(dst, Unreadable{Why: why, Text: protocol.StrayText(line), Fault: fault(line)}), nil
	}
	f.move()
	return append(dst, f.message()), nil
}

// isTrimmed tells that a line begins and ends as a frame does.
func isTrimmed(line []byte) bool {
	return len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}'
}

// Encode writes a message with its members in the order of the reference's. Payloads
// are written as they are; only line breaks between tokens, which would end the line,
// make them be written anew.
func (codec) Encode(dst []byte, m protocol.Message) ([]byte, error) {
	w := writer{dst: dst}
	switch m := m.(type) {
	case Announce:
		w.frame(announceType(m.Dynamic), pair{"descriptor", m.Descriptor})
	case InitComplete:
		w.frame(typeInitComplete)
	case Init:
		w.frame(typeInit, pair{"manifest", m.Manifest}, pair{"context", m.Context})
	case RPC:
		w.rpc(&m)
	case *RPC:
		w.rpc(m)
	case HostRPC:
		w.frame(typeHostRPC, pair{"requestId", m.RequestID}, pair{"api", m.API}, pair{"method", m.Method},
			pair{"args", m.Args}, pair{"streamReply", flag(m.StreamReply)}, pair{"within", m.Within})
	case Result:
		w.frame(resultType(m.FromHost), pair{"requestId", m.RequestID}, pair{"ok", m.OK},
			pair{"payload", m.Payload}, pair{"error", m.Error}, pair{"streamId", m.StreamID})
	case Callback:
		w.frame(typeCallback, pair{"callbackId", m.ID}, pair{"payload", m.Payload})
	case Event:
		w.frame(typeEvent, pair{"name", m.Name}, pair{"payload", m.Payload})
	case StreamChunk:
		w.frame(typeStreamChunk, pair{"streamId", m.StreamID}, pair{"chunk", m.Chunk})
	case StreamEnd:
		w.frame(typeStreamEnd, pair{"streamId", m.StreamID}, pair{"value", m.Value}, pair{"error", m.Error})
	default:
		return dst, fmt.Errorf("expected a message of this wire to write, got %T", m)
	}
	if w.err != nil {
		return dst, w.err
	}
	return append(w.dst, '}'), nil
}

// writer appends a frame's members until one of them is not to be written.
type writer struct {
	dst []byte
	err error
}

func (w *writer) rpc(r *RPC) {
	if r.words != nil {
		w.dst = append(append(w.dst, `{"type":"`+typeRPC+`","requestId":`...), r.RequestID...)
		w.dst = append(w.dst, r.words...)
	} else {
		w.frame(typeRPC, pair{"requestId", r.RequestID}, pair{"surface", r.Surface}, pair{"target", r.Target})
	}
	if r.isLine && w.err == nil {
		w.dst = append(append(w.dst, `,"args":`...), r.Args...)
	} else {
		w.members(typeRPC, pair{"args", r.Args})
	}
	w.members(typeRPC, pair{"streamReply", flag(r.StreamReply)}, pair{"mac", r.MAC})
}

// pair is a member; one without a value is not written.
type pair struct {
	key   string
	value json.RawMessage
}

// flag is a member that says true, or nothing.
func flag(set bool) json.RawMessage {
	if set {
		return isTrue
	}
	return nil
}

// frame begins a frame and writes its members, all but the brace that ends it.
func (w *writer) frame(of string, members ...pair) {
	w.dst = append(append(append(w.dst, `{"type":"`...), of...), '"')
	w.members(of, members...)
}

// members writes members of a frame that is begun.
func (w *writer) members(of string, members ...pair) {
	dst := w.dst
	for _, f := range members {
		if f.value == nil || w.err != nil {
			continue
		}
		dst = append(append(append(dst, ',', '"'), f.key...), '"', ':')
		var err error
		if dst, err = protocol.AppendValue(dst, f.value); err != nil {
			w.err = fmt.Errorf("%s: %s: %w", of, f.key, err)
			return
		}
	}
	w.dst = dst
}

var (
	isTrue  = json.RawMessage("true")
	isFalse = json.RawMessage("false")
	isNull  = json.RawMessage("null")
	isEmpty = json.RawMessage("{}")
)
