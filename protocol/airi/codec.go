package airi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// Frame is one Eventa event on its way. It is what [Dialect]'s codec reads and
// writes, as a value.
type Frame struct {
	// ID is the event's id, e.g. "module:status" or "greet-send". It is never
	// empty.
	ID string
	// Body is the event's payload exactly as it came; nil where there is none
	// (JavaScript's undefined), which is not the same as null.
	Body json.RawMessage
	// InvokeType numbers the step of an invoke that the event is, as Eventa does;
	// nil for none. It informs: readers go by the ID.
	InvokeType *int
	// Opens is set by the bridge on the first frame of each call that the module
	// makes, and by the host on the first frame of a request stream: [OpensValue] or
	// [OpensStream]. "" for any other frame.
	Opens string
	// Within is set by the bridge on the first frame of a call that the module makes while
	// it serves one of the host's: that one's invokeId. "" for any other frame.
	Within string
	// Delivery names this one delivery: the outer "id" up to 1.0.0-beta.11, the
	// "deliveryId" later. "" where the sender gave none.
	Delivery string
}

// What a call takes for an answer, as Frame.Opens says it.
const (
	// OpensValue is one value.
	OpensValue = "value"
	// OpensStream is a stream of items: whoever calls listens for its end.
	OpensStream = "stream"
)

// Misframed is a record that must be a mistake of framing: frames, or a part of one,
// were lost in it. The driver ends the connection by it.
type Misframed struct {
	// Fault says which mistake, Text is how the record begins.
	Fault, Text string
}

// codec reads both outer forms of Eventa and writes the older one, which the
// bridge speaks.
type codec struct{}

var _ protocol.Codec = codec{}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Decode reads one frame. A blank record holds none, which is no error.
func (codec) Decode(record []byte) ([]protocol.Message, error) {
	record = bytes.Trim(bytes.TrimPrefix(record, byteOrderMark), jsonSpace)
	if len(record) == 0 {
		return nil, nil
	}
	if !valid(record) {
		if fault := fault(record); fault != "" {
			return []protocol.Message{Misframed{Fault: fault, Text: excerpt(record)}}, nil
		}
		return nil, unreadable("expected a JSON object", record)
	}
	f, _, err := readFrame(record)
	if err != nil {
		return nil, unreadable(err.Error(), record)
	}
	return []protocol.Message{f}, nil
}

// unreadable is the error for a record that is no frame.
func unreadable(why string, record []byte) error {
	return fmt.Errorf("no Eventa frame: %s; what came is: %s", why, excerpt(record))
}

// fault says which mistake of framing a record that is not one JSON value must be;
// "" where it may be any text.
func fault(record []byte) string {
	const header = "content-length:"
	if len(record) >= len(header) && bytes.EqualFold(record[:len(header)], []byte(header)) {
		return "a Content-Length header: expected one JSON object a line and nothing else"
	}
	var first json.RawMessage
	if json.NewDecoder(bytes.NewReader(record)).Decode(&first) == nil && isFrame(first) {
		return "more behind a frame on its line: expected one JSON object a line"
	}
	if i := bytes.IndexByte(record, '{'); i > 0 && valid(record[i:]) && isFrame(record[i:]) {
		return "text in front of a frame: expected every frame on a line of its own"
	}
	return ""
}

func isFrame(record []byte) bool {
	_, _, err := readFrame(record)
	return err == nil
}

// envelope is the outer object of either form, still raw.
type envelope struct {
	id, typ, payload             []byte // up to 1.0.0-beta.11
	deliveryID, hops, inner      []byte // from 1.0.0-beta.14 on
	body, invokeType, innerIdent []byte // members of payload or inner
	opens, within                []byte // of the same, by the bridge
}

// readFrame reads a frame, and tells whether it has the newer form.
func readFrame(record []byte) (f Frame, newer bool, err error) {
	var e envelope
	if err := readObject(record, e.outer); err != nil {
		return Frame{}, false, err
	}
	switch {
	case e.typ != nil && e.inner != nil:
		return Frame{}, false, errors.New(`expected "type" or "eventa", got both`)
	case e.inner != nil:
		f, err = e.newer()
		return f, true, err
	default:
		f, err = e.older()
		return f, false, err
	}
}

func (e *envelope) outer(key string, value []byte) error {
	switch key {
	case "id":
		e.id = value
	case "type":
		e.typ = value
	case "payload":
		e.payload = value
	case "deliveryId":
		e.deliveryID = value
	case "hopsRemaining":
		e.hops = value
	case "eventa":
		e.inner = value
	}
	return nil
}

func (e *envelope) event(key string, value []byte) error {
	switch key {
	case "id":
		e.innerIdent = value
	case "invokeType":
		e.invokeType = value
	case "body":
		e.body = value
	case "opens":
		e.opens = value
	case "within":
		e.within = value
	}
	return nil
}

// older reads {id, type, payload: {…, body}}. A reader of that form goes by
// "type" and "payload.body" alone, so nothing else has to be there.
func (e *envelope) older() (Frame, error) {
	id, _ := text(e.typ)
	if id == "" {
		return Frame{}, errors.New(`type: expected the event's id, a string`)
	}
	if e.payload == nil {
		return Frame{}, errors.New(`payload: expected an object, got none`)
	}
	if err := readObject(e.payload, e.event); err != nil {
		return Frame{}, fmt.Errorf("payload: %w", err)
	}
	delivery, _ := text(e.id)
	return e.frame(id, delivery), nil
}

// newer reads {deliveryId, hopsRemaining, eventa: {id, body, …}}. A reader of
// that form refuses one without the first two.
func (e *envelope) newer() (Frame, error) {
	delivery, _ := text(e.deliveryID)
	if delivery == "" {
		return Frame{}, errors.New(`deliveryId: expected a string that is not empty`)
	}
	if _, err := strconv.ParseUint(string(e.hops), 10, 32); err != nil {
		return Frame{}, errors.New(`hopsRemaining: expected an integer from 0 on`)
	}
	if err := readObject(e.inner, e.event); err != nil {
		return Frame{}, fmt.Errorf("eventa: %w", err)
	}
	id, _ := text(e.innerIdent)
	if id == "" {
		return Frame{}, errors.New(`eventa.id: expected the event's id, a string`)
	}
	return e.frame(id, delivery), nil
}

func (e *envelope) frame(id, delivery string) Frame {
	f := Frame{ID: id, Delivery: delivery, Body: bytes.Clone(e.body)}
	if n, err := strconv.Atoi(string(e.invokeType)); err == nil {
		f.InvokeType = number(n)
	}
	if s, _ := text(e.opens); s == OpensValue || s == OpensStream {
		f.Opens = s
	}
	f.Within, _ = text(e.within)
	return f
}

// Encode writes a [Frame] in the form of 1.0.0-alpha.14.
func (codec) Encode(dst []byte, m protocol.Message) ([]byte, error) {
	f, ok := m.(Frame)
	if !ok {
		return dst, fmt.Errorf("expected an airi.Frame to write, got %T", m)
	}
	if err := writable(f); err != nil {
		return dst, err
	}
	return appendFrame(dst, f), nil
}

// writable tells what keeps a frame from being written.
func writable(f Frame) error {
	switch {
	case f.ID == "":
		return errors.New("expected a frame with an event id, got none")
	case f.Body != nil && !valid(f.Body):
		return fmt.Errorf("event %s: expected JSON as its payload, got: %s", clip(f.ID), excerpt(f.Body))
	}
	return nil
}

func appendFrame(dst []byte, f Frame) []byte {
	dst = append(dst, '{')
	if f.Delivery != "" {
		dst = append(dst, `"id":`...)
		dst = append(appendString(dst, f.Delivery), ',')
	}
	dst = append(dst, `"type":`...)
	dst = appendString(dst, f.ID)
	dst = append(dst, `,"payload":`...)
	return append(appendEvent(dst, f), '}')
}

// appendEvent writes what is inside of either outer form.
func appendEvent(dst []byte, f Frame) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, f.ID)
	dst = append(dst, `,"type":"event","_flowDirection":"outbound"`...)
	if f.InvokeType != nil {
		dst = append(dst, `,"invokeType":`...)
		dst = strconv.AppendInt(dst, int64(*f.InvokeType), 10)
	}
	if f.Opens != "" {
		dst = append(dst, `,"opens":`...)
		dst = appendString(dst, f.Opens)
	}
	if f.Within != "" {
		dst = append(dst, `,"within":`...)
		dst = appendString(dst, f.Within)
	}
	if f.Body != nil {
		dst = append(dst, `,"body":`...)
		dst = appendBody(dst, f.Body)
	}
	return append(dst, '}')
}

// appendBody keeps the payload's bytes, unless they hold a line end: the record
// would fall apart on a wire of lines.
func appendBody(dst, body []byte) []byte {
	if bytes.IndexByte(body, '\n') < 0 {
		return append(dst, body...)
	}
	var oneLine bytes.Buffer
	if err := json.Compact(&oneLine, body); err != nil {
		return append(dst, "null"...) // not reached: the body is valid
	}
	return append(dst, oneLine.Bytes()...)
}
