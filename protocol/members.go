package protocol

import (
	"bytes"
	"encoding/json"
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
	quote := at
	for at++; at < len(data); {
		if quote < at { // it is looked for once, however many escapes are before it
			next := bytes.IndexByte(data[at:], '"')
			if next < 0 {
				break
			}
			quote = at + next
		}
		escape := bytes.IndexByte(data[at:quote], '\\')
		if escape < 0 {
			return quote
		}
		at += escape + 2
	}
	return len(data)
}

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
	if bytes.IndexByte(literal, '\\') >= 0 {
		var text string
		_ = json.Unmarshal(literal, &text) // what is no string is ""
		return []byte(text)
	}
	return literal[1 : len(literal)-1]
}

// eachItem is EachMember for an array.
func eachItem(data []byte, visit func(value []byte)) {
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
