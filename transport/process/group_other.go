//go:build unix && !linux

package process

import "syscall"

// awaitExit blocks until the process exits and tells how. It leaves nothing of
// it: there is no way here to look without reaping.
func awaitExit(pid int) ending { return reap(pid) }

// members tells whether a group has any, zombies included; it does not know their
// numbers and returns that of the group.
func members(pgid int) []int {
	if syscall.Kill(-pgid, 0) == nil {
		return []int{pgid}
	}
	return nil
}
