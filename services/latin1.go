package services

import "strings"

// Headers are bytes. JavaScript shows each as the character of that number, and takes
// no other characters: neither to send, nor where a Response is made.

// fromLatin1 makes characters of bytes.
func fromLatin1(bytes string) string {
	var s strings.Builder
	for i := range len(bytes) {
		s.WriteRune(rune(bytes[i]))
	}
	return s.String()
}

// toLatin1 makes bytes of characters; ok is false where one is beyond U+00FF.
func toLatin1(s string) (bytes string, ok bool) {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return "", false
		}
		out = append(out, byte(r))
	}
	return string(out), true
}
