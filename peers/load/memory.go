package load

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Memory is how much memory of this process is resident, in bytes. Only Linux tells.
func Memory() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, fmt.Errorf("resident memory: %w", err)
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, fmt.Errorf("resident memory: expected two numbers, found %q", text)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resident memory: %w", err)
	}
	return pages * int64(os.Getpagesize()), nil
}
