package superjson

import (
	"encoding/json"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// Plain returns the event as JSON without the members that its annotations call undefined,
// and is JSON itself where there are none; an undefined item of an array stays null. All
// else that JSON cannot say is its stand-in: a date is a text, a Map an array of pairs.
func (f Frame) Plain() (json.RawMessage, error) {
	n, err := f.notes()
	if err != nil {
		return nil, err
	}
	absent := absence{}
	for _, a := range n.values {
		if a.kind == "undefined" && len(a.path) > 0 {
			absent.add(a.path)
		}
	}
	if len(absent) == 0 {
		return f.JSON, nil
	}
	s := protocol.Scanner{Data: f.JSON}
	return absent.cut(nil, &s), nil
}

// absence is a tree of paths; nil is the end of one, and absent.
type absence map[string]absence

func (a absence) add(path []string) {
	for i, segment := range path {
		below, known := a[segment]
		switch {
		case i == len(path)-1:
			a[segment] = nil
		case known && below == nil:
			return // what it is in is absent
		case !known:
			below = absence{}
			a[segment] = below
		}
		a = below
	}
}

// cut appends the value at the scanner, which is valid, without what is absent in it.
func (a absence) cut(dst []byte, s *protocol.Scanner) []byte {
	s.Space()
	from := s.Pos
	open := s.Peek()
	if open != '{' && open != '[' {
		s.Value()
		return append(dst, s.Data[from:s.Pos]...)
	}
	s.Pos++
	dst = append(dst, open)
	for i, first := 0, true; ; i++ {
		s.Space()
		if s.Skip(open + 2) { // '}' and ']' stand so behind '{' and '['
			return append(dst, open+2)
		}
		s.Skip(',')
		s.Space()
		from := s.Pos
		segment := strconv.Itoa(i)
		if open == '{' {
			s.Text()
			segment = string(protocol.TextOf(s.Data[from:s.Pos]))
			s.Space()
			s.Skip(':')
		}
		below, named := a[segment]
		if named && below == nil && open == '{' {
			s.Space()
			s.Value()
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, s.Data[from:s.Pos]...)
		if below != nil {
			dst = below.cut(dst, s)
			continue
		}
		s.Space()
		from = s.Pos
		s.Value()
		dst = append(dst, s.Data[from:s.Pos]...)
	}
}
