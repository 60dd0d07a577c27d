//go:build unix && !linux

package process

// awaitExit blocks until the process exits and tells how. It leaves nothing of
// it: there is no way here to look without reaping.
func awaitExit(pid int) ending { return reap(pid) }
