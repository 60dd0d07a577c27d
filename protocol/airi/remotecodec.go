package airi

import (
	"bytes"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// form is an outer form of Eventa's frames.
type form uint8

const (
	// bothForms has the members of either, so that any reader finds its own.
	bothForms form = iota
	olderForm      // up to 1.0.0-beta.11
	newerForm      // from 1.0.0-beta.14 on
)

// formed is a frame on a remote module's link, in the outer form that it came in or goes
// out in.
type formed struct {
	Frame
	form form
}

// remoteCodec reads and writes the records of a remote module's link: frames of Eventa's
// in either form, and notes. Its messages are of type formed and [Note].
type remoteCodec struct{}

var _ protocol.Codec = remoteCodec{}

// Decode reads one record, as it came from the websocket or from its end of the link. No
// text ends the connection.
func (remoteCodec) Decode(record []byte) ([]protocol.Message, error) {
	frame := bytes.Trim(bytes.TrimPrefix(record, byteOrderMark), jsonSpace)
	switch {
	case len(frame) == 0:
		return nil, nil
	case frame[0] != '{':
		return decodeNote(record)
	case !valid(frame):
		return nil, unreadable("expected a JSON object", frame)
	}
	f, newer, err := readFrame(frame)
	if err != nil {
		return nil, unreadable(err.Error(), frame)
	}
	f.Opens, f.Within = "", "" // a bridge's
	if newer {
		return []protocol.Message{formed{f, newerForm}}, nil
	}
	return []protocol.Message{formed{f, olderForm}}, nil
}

func decodeNote(record []byte) ([]protocol.Message, error) {
	n, ok := ReadNote(record)
	if !ok {
		return nil, fmt.Errorf("no note: expected a verb, what it is about, and JSON on the next line; what came is: %s", excerpt(record))
	}
	n.Data = bytes.Clone(n.Data)
	return []protocol.Message{n}, nil
}

// Encode writes a note, or a frame in its form.
func (remoteCodec) Encode(dst []byte, m protocol.Message) ([]byte, error) {
	switch m := m.(type) {
	case Note:
		if m.Data != nil && !valid(m.Data) {
			return dst, fmt.Errorf("note %s %s: expected JSON, got: %s", m.Verb, clip(m.Rest), excerpt(m.Data))
		}
		return AppendNote(dst, m), nil
	case formed:
		if err := writable(m.Frame); err != nil {
			return dst, err
		}
		return appendFormed(dst, m), nil
	}
	return dst, fmt.Errorf("expected an airi.Note or a frame to write, got %T", m)
}

// firstHop is what Eventa's own frames leave with.
const firstHop = `,"hopsRemaining":31,"eventa":`

// appendFormed leaves out what is between the host and a bridge.
func appendFormed(dst []byte, m formed) []byte {
	f := m.Frame
	f.Opens, f.Within = "", ""
	if m.form == olderForm {
		return appendFrame(dst, f)
	}
	if m.form == bothForms {
		dst = appendFrame(dst, f)
		dst[len(dst)-1] = ','
	} else {
		dst = append(dst, '{')
	}
	dst = append(dst, `"deliveryId":`...)
	dst = append(appendString(dst, f.Delivery), firstHop...)
	return append(appendEvent(dst, f), '}')
}
