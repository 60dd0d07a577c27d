package airi

// maxDepth is how deep values may be nested: as deep as in encoding/json.
const maxDepth = 10_000

// valid is json.Valid in a third of the time: every record and every payload goes
// through it.
func valid(b []byte) bool {
	end := validValue(b, skipSpace(b, 0), 0)
	return end >= 0 && skipSpace(b, end) == len(b)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// validValue returns where the value at i ends; -1 if there is none. So do the others.
func validValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return validString(b, i+1)
	case '{':
		return validMembers(b, i+1, depth+1)
	case '[':
		return validItems(b, i+1, depth+1)
	case 't':
		return validWord(b, i, "true")
	case 'f':
		return validWord(b, i, "false")
	case 'n':
		return validWord(b, i, "null")
	}
	return validNumber(b, i)
}

func validWord(b []byte, i int, word string) int {
	if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
		return end
	}
	return -1
}

// validString begins behind the quote.
func validString(b []byte, i int) int {
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i = validEscape(b, i+1); i < 0 {
				return -1
			}
		default:
			i++
		}
	}
	return -1
}

func validEscape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for n := 1; n <= 4; n++ {
			if i+n >= len(b) || !isHex(b[i+n]) {
				return -1
			}
		}
		return i + 5
	}
	return -1
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func validNumber(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	from := i
	if i = skipDigits(b, i); i == from || b[from] == '0' && i > from+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		from = i + 1
		if i = skipDigits(b, from); i == from {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from = i
		if i = skipDigits(b, from); i == from {
			return -1
		}
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

// validMembers begins behind the brace.
func validMembers(b []byte, i, depth int) int {
	if i = skipSpace(b, i); depth > maxDepth || i >= len(b) {
		return -1
	}
	if b[i] == '}' {
		return i + 1
	}
	for {
		if i = skipSpace(b, i); i >= len(b) || b[i] != '"' {
			return -1
		}
		if i = validString(b, i+1); i < 0 {
			return -1
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			return -1
		}
		var over bool
		if i, over = validNext(b, i+1, depth, '}'); over {
			return i
		}
	}
}

// validItems begins behind the bracket.
func validItems(b []byte, i, depth int) int {
	if i = skipSpace(b, i); depth > maxDepth || i >= len(b) {
		return -1
	}
	if b[i] == ']' {
		return i + 1
	}
	for {
		var over bool
		if i, over = validNext(b, i, depth, ']'); over {
			return i
		}
	}
}

// validNext reads a value and what stands behind it: a comma, or the end of the object
// or array.
func validNext(b []byte, i, depth int, end byte) (next int, over bool) {
	if i = validValue(b, skipSpace(b, i), depth); i < 0 {
		return -1, true
	}
	if i = skipSpace(b, i); i >= len(b) {
		return -1, true
	}
	switch b[i] {
	case ',':
		return i + 1, false
	case end:
		return i + 1, true
	}
	return -1, true
}
