package server

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// Reader understands the annotations of SuperJSON's wrapper, where the server acts on an
// event itself; an event that is passed on is not read.
type Reader interface {
	// Plain is the value with what its annotations say: at least, members that stand for
	// undefined are gone. The paths of meta begin at the event, so at[0] of data's own
	// members is "data". It may return its argument.
	Plain(data, meta json.RawMessage) json.RawMessage
}

// undefined is the [Reader] that knows members that are not there, which is all that the
// server's own events have.
type undefined struct{}

// maxAnnotations is how many annotations are looked at, and maxPath how long a path of
// theirs may be: no event that the server acts on has more.
const (
	maxAnnotations = 256
	maxPath        = 16
)

func (undefined) Plain(data, meta json.RawMessage) json.RawMessage {
	var gone [][]string
	eachAnnotation(meta, func(path string, annotation []byte) {
		if parts := splitPath(path); len(gone) < maxAnnotations && len(parts) > 1 && len(parts) <= maxPath &&
			parts[0] == "data" && strings.HasPrefix(string(annotation), `["undefined"`) {
			gone = append(gone, parts[1:])
		}
	})
	if len(gone) == 0 {
		return data
	}
	return without(data, gone)
}

// eachAnnotation visits what meta says of values, by path.
func eachAnnotation(meta []byte, visit func(path string, annotation []byte)) {
	protocol.EachMember(members(meta, "values")[0], func(key, value []byte) { visit(string(key), value) })
}

// splitPath reads a path: parts are separated by dots; "\." and "\\" are a dot and a
// backslash.
func splitPath(path string) (parts []string) {
	var part strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path):
			i++
			part.WriteByte(path[i])
		case c == '.':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(c)
		}
	}
	return append(parts, part.String())
}

// without is an object without the members that the paths name. An item of an array is
// null then, as it is on the wire.
func without(value []byte, paths [][]string) json.RawMessage {
	if !isObject(value) {
		return value
	}
	out := []byte{'{'}
	protocol.EachMember(value, func(key, member []byte) {
		var below [][]string
		for _, p := range paths {
			if p[0] != string(key) {
				continue
			}
			if len(p) == 1 {
				return
			}
			below = append(below, p[1:])
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(protocol.AppendText(out, string(key)), ':')
		if below != nil {
			member = without(member, below)
		}
		out = append(out, member...)
	})
	return append(out, '}')
}

// polluters are the names that no path may have a part of: a reader that followed it would
// change what all objects have in common.
var polluters = []string{"__proto__", "constructor", "prototype"}

// forbidden tells that a path anywhere in meta leads through one of the polluters.
func forbidden(meta []byte) bool {
	s := protocol.Scanner{Data: meta}
	for s.Pos < len(meta) {
		if s.Peek() != '"' {
			s.Pos++
			continue
		}
		from := s.Pos
		if !s.Text() {
			return false
		}
		for _, part := range splitPath(string(protocol.TextOf(meta[from:s.Pos]))) {
			if slices.Contains(polluters, part) {
				return true
			}
		}
	}
	return false
}

// metaOfData is what meta says of the data, for an event that has the same data; nil if it
// says nothing.
func metaOfData(meta []byte) []byte {
	var out []byte
	eachAnnotation(meta, func(path string, annotation []byte) {
		if path != "data" && !strings.HasPrefix(path, "data.") {
			return
		}
		if out == nil {
			out = append(out, `{"values":{`...)
		} else {
			out = append(out, ',')
		}
		out = append(protocol.AppendText(out, path), ':')
		out = append(out, annotation...)
	})
	if out == nil {
		return nil
	}
	return append(out, `},"v":1}`...)
}
