package protocol

import (
	"encoding/json"
	"strconv"
)

// CallNumber reads the id of an answer as the number of a call, 0 for none. other
// names the type of an id that says the number but is none, as "2" does.
func CallNumber(id json.RawMessage) (n uint64, other string) {
	digits := string(id[:min(len(id), 32)])
	if digits != "" && digits[0] == '"' {
		digits, other = string(TextOf(id)), "string"
	}
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return n, other
	}
	// 2.0 and 2e0 are the number 2 to any reader of JSON.
	if f, err := strconv.ParseFloat(digits, 64); err == nil && other == "" && f >= 1 && f < 1<<53 && f == float64(uint64(f)) {
		return uint64(f), ""
	}
	return 0, other
}
