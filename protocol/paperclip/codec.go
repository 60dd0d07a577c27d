package paperclip

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// codec reads and writes one JSON-RPC 2.0 frame a line, for either end.
type codec struct{}

var _ protocol.Appender = codec{}

// Decode reads one line as both peers read it. It never fails: a line that is no
// frame is an [Unreadable], and a blank one is nothing at all.
func (codec) Decode(record []byte) ([]protocol.Message, error) {
	return codec{}.AppendDecode(nil, record)
}

// AppendDecode is Decode; see protocol.Appender.
func (codec) AppendDecode(dst []protocol.Message, record []byte) ([]protocol.Message, error) {
	line := bytes.TrimFunc(record, protocol.IsBlank)
	if len(line) == 0 {
		return dst, nil
	}
	e, why := readLine(line)
	if e.high && !utf8.Valid(line) {
		// Node's decoder has put U+FFFD there before JSON is read.
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
		e, why = readLine(line)
	}
	if why != "" {
		return append(dst, Unreadable{Why: why, Text: protocol.StrayText(line), Fault: fault(line)}), nil
	}
	if e.own = e.isMostlyElse(); !e.own {
		e.data = bytes.Clone(line)
	}
	return append(dst, e.message()), nil
}

// readLine reads the one frame on a line; why is the SDK's reason if there is none.
func readLine(line []byte) (e envelope, why string) {
	end, why := e.read(line)
	if why == "" && end < len(line) {
		why = invalidJSON(line)
	}
	if why == "" && !e.speaks() {
		why = fmt.Sprintf("Invalid or missing jsonrpc version (expected \"2.0\", got %s)", e.version())
	}
	return e, why
}

func invalidJSON(line []byte) string {
	return "Invalid JSON: " + cut(string(line[:min(len(line), maxExcerpt+1)]), maxExcerpt)
}

// Encode writes a [Request], [Notification] or [Response] with its members in the
// order of the peers. Payloads are written as they are; only line breaks between
// tokens, which would end the line, make them be written anew.
func (codec) Encode(dst []byte, m protocol.Message) ([]byte, error) {
	w := writer{dst: append(dst, `{"jsonrpc":"2.0"`...)}
	switch m := m.(type) {
	case Request:
		if m.ID == nil || string(m.ID) == "null" {
			return dst, fmt.Errorf("a request of %s: expected an id, got none", clip(m.Method))
		}
		w.raw("id", m.ID)
		w.call(m.Method, m.Params, m.Invocation, m.InvocationID)
	case Notification:
		w.call(m.Method, m.Params, m.Invocation, m.InvocationID)
	case Response:
		if m.ID == nil || m.Result == nil && m.Error == nil {
			return dst, errors.New("a response: expected an id, and a result or an error")
		}
		w.raw("id", m.ID)
		w.raw("result", m.Result)
		w.raw("error", m.Error)
	default:
		return dst, fmt.Errorf("expected a request, a notification or a response to write, got %T", m)
	}
	if w.err != nil {
		return dst, w.err
	}
	return append(w.dst, '}'), nil
}

// writer appends members until one of them is not to be written.
type writer struct {
	dst []byte
	err error
}

func (w *writer) call(method string, params, invocation, invocationID json.RawMessage) {
	w.dst = appendString(append(w.dst, `,"method":`...), method)
	w.raw("params", params)
	w.raw("paperclipInvocation", invocation)
	w.raw("paperclipInvocationId", invocationID)
	if w.err != nil {
		w.err = fmt.Errorf("%s: %w", clip(method), w.err)
	}
}

func (w *writer) raw(key string, value json.RawMessage) {
	if value == nil || w.err != nil {
		return
	}
	dst, err := protocol.AppendValue(append(protocol.AppendText(append(w.dst, ','), key), ':'), value)
	if err != nil {
		w.err = fmt.Errorf("%s: %w", key, err)
		return
	}
	w.dst = dst
}
