package airi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxMembers bounds how many members an envelope may have, so that looking for
// duplicates stays cheap. Eventa's own envelopes have at most seven.
const maxMembers = 64

// readObject calls member for every member of the JSON object in data, in order.
// data must be valid JSON. Keys come unescaped; values are parts of data.
//
// encoding/json is of no use here: it matches keys without regard to case and
// takes the last of two equal ones, and both would let a frame mean something
// else to us than to its other readers.
func readObject(data []byte, member func(key string, value []byte) error) error {
	rest := data[skipSpace(data, 0):]
	if len(rest) == 0 || rest[0] != '{' {
		return errors.New("expected an object")
	}
	var usual [8]string
	seen := usual[:0]
	for rest = nextMember(rest[1:]); rest[0] != '}'; rest = nextMember(rest) {
		var key string
		var value []byte
		key, value, rest = cutMember(rest)
		for _, k := range seen {
			if k == key {
				return fmt.Errorf("expected every key once, got %q twice", clip(key))
			}
		}
		if seen = append(seen, key); len(seen) > maxMembers {
			return fmt.Errorf("expected at most %d keys", maxMembers)
		}
		if err := member(key, value); err != nil {
			return err
		}
	}
	return nil
}

const jsonSpace = " \t\r\n"

// nextMember moves to the next key, or to the closing brace.
func nextMember(b []byte) []byte { return skipTo(b, ',') }

// skipTo skips white space, and one kind of separator.
func skipTo(b []byte, separator byte) []byte {
	i := skipSpace(b, 0)
	for i < len(b) && b[i] == separator {
		i = skipSpace(b, i+1)
	}
	return b[i:]
}

// cutMember cuts one member off the front of b, which starts with a key.
func cutMember(b []byte) (key string, value, rest []byte) {
	n := valueLen(b)
	key = keyOf(b[:n])
	b = skipTo(b[n:], ':')
	n = valueLen(b)
	return key, b[:n], b[n:]
}

// keyOf reads a key. Those that Eventa and the bridge use cost no memory.
func keyOf(literal []byte) string {
	switch string(literal) {
	case `"id"`:
		return "id"
	case `"type"`:
		return "type"
	case `"payload"`:
		return "payload"
	case `"_flowDirection"`:
		return "_flowDirection"
	case `"invokeType"`:
		return "invokeType"
	case `"opens"`:
		return "opens"
	case `"within"`:
		return "within"
	case `"body"`:
		return "body"
	case `"invokeId"`:
		return "invokeId"
	case `"content"`:
		return "content"
	}
	return unquote(literal)
}

// valueLen is the length of the JSON value that b, which is valid, starts with.
func valueLen(b []byte) int {
	switch b[0] {
	case '"':
		return stringLen(b)
	case '{', '[':
		return nestedLen(b)
	}
	if n := bytes.IndexAny(b, jsonSpace+",]}"); n >= 0 {
		return n
	}
	return len(b)
}

// stringLen is the length of the string literal that b starts with.
func stringLen(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// nestedLen is the length of the object or array that b starts with.
func nestedLen(b []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch b[i] {
		case '"':
			i += stringLen(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// unquote reads a string literal that is known to be valid.
func unquote(literal []byte) string {
	inner := literal[1 : len(literal)-1]
	if bytes.IndexByte(inner, '\\') < 0 && isASCII(inner) {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(literal, &s); err != nil {
		return string(inner)
	}
	return s
}

// text reads a JSON value as a string; ok is false for any other type.
func text(value []byte) (s string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	return unquote(value), true
}

// appendString appends s as a JSON string literal.
func appendString(dst []byte, s string) []byte {
	if !needsEscape(s) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	// A string always encodes.
	literal, _ := json.Marshal(s)
	return append(dst, literal...)
}

func needsEscape(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return true
		}
	}
	return false
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c > '~' {
			return false
		}
	}
	return true
}
