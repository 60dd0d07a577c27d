package process

import (
	"runtime"
	"sync"
	"syscall"
)

// spawner forks from one thread. The kernel sends a child its death signal when
// the thread that forked it ends, and the runtime ends a thread when a goroutine
// that is locked to it does. So one goroutine forks for all, locked to its thread
// from the first worker to the last; then the thread goes back to the runtime.
type spawner struct {
	mu    sync.Mutex
	users int
	jobs  chan func() // nil without users
}

// theSpawner belongs to the operating system's process, as threads do, and not to
// any one host in it.
var theSpawner spawner

// fork runs f, which forks, on the thread. After a fork that worked, release is
// called once the child has exited.
func (s *spawner) fork(f func() (int, error)) (pid int, err error) {
	jobs := s.acquire()
	done := make(chan struct{})
	jobs <- func() {
		pid, err = f()
		close(done)
	}
	<-done
	if err != nil {
		s.release()
	}
	return pid, err
}

func (s *spawner) acquire() chan<- func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 {
		s.jobs = make(chan func())
		go work(s.jobs)
	}
	s.users++
	return s.jobs
}

func (s *spawner) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if s.users == 0 {
		close(s.jobs)
		s.jobs = nil
	}
}

func work(jobs <-chan func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for job := range jobs {
		job()
	}
}

// attributes makes the child lead a group of its own and die with the host.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
