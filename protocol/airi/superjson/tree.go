package superjson

import (
	"encoding/json"
	"errors"

	"github.com/airi-host/airi-host/protocol"
)

// maxDepth is how deep values may nest that are looked into.
const maxDepth = 512

// ErrDeep tells that a value nests too deep to be looked into.
var ErrDeep = errors.New("the value nests deeper than 512")

// The values there are beside nil, bool, string, float64 (NaN, infinities and -0 among
// them), *big.Int (a bigint), time.Time (a Date), and *url.URL. What is a pointer has an
// identity: annotations may have the same one stand in several places, even within itself.
type (
	// Undefined is JavaScript's undefined.
	Undefined struct{}
	// Object is an object, its members in order.
	Object struct{ Members []Member }
	// Member is one of them.
	Member struct {
		Name  string
		Value any
	}
	// Array is an array.
	Array struct{ Items []any }
	// Map is a Map, its entries in order.
	Map struct{ Entries [][2]any }
	// Set is a Set, its members in order.
	Set struct{ Items []any }
	// RegExp is a regular expression.
	RegExp struct{ Source, Flags string }
	// Error is an Error; Cause counts if HasCause.
	Error struct {
		Name, Message string
		Cause         any
		HasCause      bool
	}
	// TypedArray is one of the kinds from Int8Array to Float64Array.
	TypedArray struct {
		Kind  string
		Items []float64
	}
)

// Get returns a member; of several with one name the last, as JavaScript does.
func (o *Object) Get(name string) (any, bool) {
	if at := o.at(name); at >= 0 {
		return o.Members[at].Value, true
	}
	return nil, false
}

func (o *Object) at(name string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if o.Members[i].Name == name {
			return i
		}
	}
	return -1
}

// parse makes a tree of valid JSON, with numbers as they are written.
func parse(data []byte) (any, error) {
	p := parser{protocol.Scanner{Data: data}}
	p.Space()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.Space(); p.Pos != len(data) {
		return nil, ErrNotJSON
	}
	return v, nil
}

type parser struct{ protocol.Scanner }

func (p *parser) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, ErrDeep
	}
	switch from := p.Pos; p.Peek() {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		return p.text()
	default:
		if !p.Value() {
			return nil, ErrNotJSON
		}
		switch word := string(p.Data[from:p.Pos]); word {
		case "null":
			return nil, nil
		case "true", "false":
			return word == "true", nil
		default:
			return json.Number(word), nil
		}
	}
}

func (p *parser) text() (string, error) {
	from := p.Pos
	if p.Peek() != '"' || !p.Text() {
		return "", ErrNotJSON
	}
	return string(protocol.TextOf(p.Data[from:p.Pos])), nil
}

func (p *parser) object(depth int) (any, error) {
	o := &Object{}
	p.Pos++
	p.Space()
	for more := !p.Skip('}'); more; {
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		p.Space()
		p.Skip(':')
		p.Space()
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		o.Members = append(o.Members, Member{name, v})
		if more, err = p.goesOn('}'); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (p *parser) array(depth int) (any, error) {
	a := &Array{}
	p.Pos++
	p.Space()
	for more := !p.Skip(']'); more; {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		a.Items = append(a.Items, v)
		if more, err = p.goesOn(']'); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// goesOn moves behind a comma, or behind the end.
func (p *parser) goesOn(end byte) (bool, error) {
	p.Space()
	switch {
	case p.Skip(','):
		p.Space()
		return true, nil
	case p.Skip(end):
		return false, nil
	}
	return false, ErrNotJSON
}
