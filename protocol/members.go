package protocol

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// EachMember calls visit for every member of the object in data, in order. The data is
// JSON that a codec has read already, so it is looked at once and not checked: of
// anything else some members may be missing.
func EachMember(data []byte, visit func(key, value []byte)) {
	at := blanks(data, 0)
	if at == len(data) || data[at] != '{' {
		return
	}
	for at < len(data) && data[at] != '}' {
		at = blanks(data, at+1)
		if at == len(data) || data[at] != '"' {
			return
		}
		end := valueEnd(data, at)
		key := data[at:end]
		at = blanks(data, blanks(data, end)+1) // the colon
		if at >= len(data) {
			return
		}
		end = valueEnd(data, at)
		visit(TextOf(key), data[at:end:end])
		at = blanks(data, end)
	}
}

func blanks(data []byte, at int) int {
	for at < len(data) && data[at] <= ' ' {
		at++
	}
	return min(at, len(data))
}

// valueEnd returns where the value ends that begins at an index.
func valueEnd(data []byte, at int) int {
	for depth := 0; at < len(data); at++ {
		switch data[at] {
		case '"':
			at = stringEnd(data, at)
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth == 0 {
				return scalarEnd(data, at)
			}
			continue
		}
		if depth <= 0 {
			return min(at+1, len(data))
		}
	}
	return len(data)
}

// stringEnd returns the index of the quote that ends the string whose first one is at
// an index.
func stringEnd(data []byte, at int) int {
	for at++; ; at += 2 {
		if at = quoteOrSlash(data, at); at >= len(data) || data[at] == '"' {
			return at
		} // else what is escaped is no end
	}
}

// quoteOrSlash is where, from an index on, the first quote or backslash is; len(data) for
// nowhere. It looks through ever larger windows, so that neither is looked for much further
// than the other one is.
func quoteOrSlash(data []byte, at int) int {
	for size := 32; at < len(data); size = min(2*size, largeWindow) {
		w := data[at:min(at+size, len(data))]
		quote := bytes.IndexByte(w, '"')
		if quote >= 0 {
			w = w[:quote]
		}
		if slash := bytes.IndexByte(w, '\\'); slash >= 0 {
			return at + slash
		}
		if quote >= 0 {
			return at + quote
		}
		at += len(w)
	}
	return len(data)
}

const largeWindow = 4 << 10

func scalarEnd(data []byte, at int) int {
	for at < len(data) && data[at] > ' ' && data[at] != ',' && data[at] != '}' && data[at] != ']' {
		at++
	}
	return at
}

// TextOf returns the text of a string literal; nothing for what is no such literal.
func TextOf(literal []byte) []byte {
	if len(literal) < 2 || literal[0] != '"' {
		return nil
	}
	if bytes.IndexByte(literal, '\\') < 0 {
		return literal[1 : len(literal)-1]
	}
	if text, ok := unescaped(literal); ok {
		return text
	}
	var text string
	_ = json.Unmarshal(literal, &text) // what is no string is ""
	return []byte(text)
}

// unescaped is the text of a literal with short escapes, as JSON within JSON has them; ok
// is false where there is more to it.
func unescaped(literal []byte) (text []byte, ok bool) {
	if !utf8.Valid(literal) {
		return nil, false
	}
	inner := literal[1:]
	text = make([]byte, 0, len(inner))
	for {
		end, _ := plain(inner, 0)
		text = append(text, inner[:end]...)
		switch {
		case end == len(inner)-1 && inner[end] == '"':
			return text, true
		case end+1 >= len(inner) || inner[end] != '\\':
			return nil, false
		}
		c, short := shortEscape(inner[end+1])
		if !short {
			return nil, false
		}
		text = append(text, c)
		inner = inner[end+2:]
	}
}

// shortEscape is what stands behind a backslash, if that is one character.
func shortEscape(c byte) (means byte, ok bool) {
	switch c {
	case '"', '\\', '/':
		return c, true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return 0, false
}

// EachItem is EachMember for an array.
func EachItem(data []byte, visit func(value []byte)) {
	at := blanks(data, 0)
	if at == len(data) || data[at] != '[' {
		return
	}
	for at < len(data) && data[at] != ']' {
		at = blanks(data, at+1)
		if at == len(data) || data[at] == ']' {
			return
		}
		end := valueEnd(data, at)
		visit(data[at:end:end])
		at = blanks(data, end)
	}
}
