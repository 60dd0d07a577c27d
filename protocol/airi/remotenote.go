package airi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// The verbs of notes, from the websocket's end to the driver.
const (
	// NoteAnnounced: the module was announced, first or again. Data is {possibleEvents}.
	NoteAnnounced = "announced"
	// NoteLife: the module says something of its own life. Rest is the event's type, Data
	// its data. The same with [NoteAsked] of a Configurator's event about the module, which
	// the module has heard as well, or of the module's answer to that.
	NoteLife  = "life"
	NoteAsked = "asked"
	// NoteSaid: the module sent an event to others. Rest is its type, Data its data.
	NoteSaid = "said"
	// NoteAway: its connection is gone for now; Rest says why. NoteBack: it has one again.
	NoteAway = "away"
	NoteBack = "back"
	// NoteSwapped: another connection has taken the place of the old one.
	NoteSwapped = "swapped"
)

// The verbs of notes from the driver to the websocket's end.
const (
	// NoteTell is an event about the module for its peer, NoteEveryone one for all peers.
	// Rest is the type, Data an object, in front of whose members the module's identity
	// is put.
	NoteTell     = "tell"
	NoteEveryone = "everyone"
	// NoteDeliver is an event of others for its peer: Data, an object, is all that it has.
	NoteDeliver = "deliver"
	// NoteConfigure is a configuration for the module: Data is the whole of it.
	NoteConfigure = "configure"
	// NoteKnows answers each [NoteAway] and [NoteSwapped]: what the driver sends afterwards
	// is not for the connection that is over.
	NoteKnows = "knows"
)

// Note is what both ends of a [Remote]'s link tell each other beside Eventa's frames.
type Note struct {
	// Verb is one of the constants above; Rest and Data are what it is about.
	Verb, Rest string
	// Data is JSON, nil for none.
	Data json.RawMessage
}

// AppendNote appends a note as one record: "VERB[ REST]\nDATA". A rest that would not stand
// on one line, or begins with a quote, is written as a Go string literal.
func AppendNote(dst []byte, n Note) []byte {
	dst = append(dst, n.Verb...)
	switch {
	case n.Rest == "":
	case n.Rest[0] == '"' || strings.Contains(n.Rest, "\n"):
		dst = strconv.AppendQuote(append(dst, ' '), n.Rest)
	default:
		dst = append(append(dst, ' '), n.Rest...)
	}
	return append(append(dst, '\n'), n.Data...)
}

// ReadNote reads a record of AppendNote; ok is false for any other, as for a frame of
// Eventa's. Data is a part of record.
func ReadNote(record []byte) (n Note, ok bool) {
	end := bytes.IndexByte(record, '\n')
	if end <= 0 || record[0] == '{' || record[0] == ' ' {
		return Note{}, false
	}
	verb, rest, has := strings.Cut(string(record[:end]), " ")
	n = Note{Verb: verb, Rest: rest}
	if has && rest == "" {
		return Note{}, false
	}
	if strings.HasPrefix(rest, `"`) {
		var err error
		if n.Rest, err = strconv.Unquote(rest); err != nil || n.Rest == "" {
			return Note{}, false
		}
	}
	if data := record[end+1:]; len(data) > 0 {
		if !valid(data) {
			return Note{}, false
		}
		n.Data = data
	}
	return n, true
}
