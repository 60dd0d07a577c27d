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

var _ protocol.Codec = codec{}

// Decode reads one line. It never fails: a line that is no frame is an [Unreadable],
// and a blank one is nothing at all. Bytes that are no UTF-8 are read as U+FFFD, as
// the runtimes of workers do.
func (codec) Decode(record []byte) ([]protocol.Message, error) {
	line := bytes.TrimFunc(record, protocol.IsBlank)
	if len(line) == 0 {
		return nil, nil
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
		return []protocol.Message{Unreadable{Why: why, Text: protocol.StrayText(line), Fault: fault(line)}}, nil
	}
	f.move(bytes.Clone(line))
	return []protocol.Message{f.message()}, nil
}

// Encode writes a message with its members in the order of the reference's. Payloads
// are written as they are; only line breaks between tokens, which would end the line,
// make them be written anew.
func (codec) Encode(dst []byte, m protocol.Message) ([]byte, error) {
	w := writer{dst: dst}
	switch m := m.(type) {
	case Announce:
		w.begin(announceType(m.Dynamic))
		w.raw("descriptor", m.Descriptor)
	case InitComplete:
		w.begin(typeInitComplete)
	case Init:
		w.begin(typeInit)
		w.raw("manifest", m.Manifest)
		w.raw("context", m.Context)
	case RPC:
		w.rpc(m)
	case HostRPC:
		w.begin(typeHostRPC)
		w.raw("requestId", m.RequestID)
		w.raw("api", m.API)
		w.raw("method", m.Method)
		w.raw("args", m.Args)
		w.flag("streamReply", m.StreamReply)
	case Result:
		w.result(m)
	case Callback:
		w.begin(typeCallback)
		w.raw("callbackId", m.ID)
		w.raw("payload", m.Payload)
	case Event:
		w.begin(typeEvent)
		w.raw("name", m.Name)
		w.raw("payload", m.Payload)
	case StreamChunk:
		w.begin(typeStreamChunk)
		w.raw("streamId", m.StreamID)
		w.raw("chunk", m.Chunk)
	case StreamEnd:
		w.begin(typeStreamEnd)
		w.raw("streamId", m.StreamID)
		w.raw("value", m.Value)
		w.raw("error", m.Error)
	default:
		return dst, fmt.Errorf("expected a message of this wire to write, got %T", m)
	}
	if w.err != nil {
		return dst, w.err
	}
	return append(w.dst, '}'), nil
}

// writer appends members until one of them is not to be written.
type writer struct {
	dst []byte
	of  string
	err error
}

func (w *writer) begin(of string) {
	w.of = of
	w.dst = append(append(append(w.dst, `{"type":"`...), of...), '"')
}

func (w *writer) rpc(m RPC) {
	w.begin(typeRPC)
	w.raw("requestId", m.RequestID)
	w.raw("surface", m.Surface)
	w.raw("target", m.Target)
	w.raw("args", m.Args)
	w.flag("streamReply", m.StreamReply)
	w.raw("mac", m.MAC)
}

func (w *writer) result(m Result) {
	w.begin(resultType(m.FromHost))
	w.raw("requestId", m.RequestID)
	w.raw("ok", m.OK)
	w.raw("payload", m.Payload)
	w.raw("error", m.Error)
	w.raw("streamId", m.StreamID)
}

func (w *writer) flag(key string, set bool) {
	if set {
		w.raw(key, isTrue)
	}
}

func (w *writer) raw(key string, value json.RawMessage) {
	if value == nil || w.err != nil {
		return
	}
	dst := append(append(append(w.dst, ',', '"'), key...), '"', ':')
	if dst, w.err = protocol.AppendValue(dst, value); w.err != nil {
		w.err = fmt.Errorf("%s: %s: %w", w.of, key, w.err)
		return
	}
	w.dst = dst
}

var (
	isTrue  = json.RawMessage("true")
	isFalse = json.RawMessage("false")
	isNull  = json.RawMessage("null")
)
