//go:build unix && !linux

package process

import "syscall"

// spawner forks. There is no death signal here, so that any thread will do.
type spawner struct{}

var theSpawner spawner

func (*spawner) fork(f func() (int, error)) (int, error) { return f() }

func (*spawner) release() {}

// attributes makes the child lead a group of its own.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
