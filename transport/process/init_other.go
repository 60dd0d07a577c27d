//go:build !linux

package process

import "context"

// Init does the duty of a process that is PID 1; that is a matter of containers on Linux,
// and nothing elsewhere.
func Init(context.Context) {}
