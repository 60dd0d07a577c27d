package process

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ExitStatus says how a worker's process ended.
type ExitStatus struct {
	// Code is the exit code, or -1 when a signal ended the process or its end
	// could not be seen.
	Code int
	// Signal is the name of the signal that ended the process, e.g. "SIGKILL",
	// or empty.
	Signal string
	// Err is set when the process is gone but how it ended could not be learned:
	// somebody else in the host waits for its children.
	Err error
	// Uptime is the time from start to exit.
	Uptime time.Duration
	// Leftover tells that a descendant has outlived the process: it is within
	// reach, or holds one of its pipes.
	Leftover bool
	// Limit names the limit of the Spec that ended the process, e.g. "memory limit
	// of 104857600 bytes"; empty if none did. The limit of processes only refuses
	// forks: it is named when it has and the process then failed.
	Limit string
	// Step is how far Stop or Close had gone when the process exited; StepNone
	// means that nobody had asked for its end.
	Step Step
}

// String tells the exit in words, e.g. "exited with code 3" or "was killed by
// SIGKILL: it reached its memory limit of 104857600 bytes".
func (s ExitStatus) String() string {
	if s.Limit != "" {
		return s.end() + ": it reached its " + s.Limit
	}
	return s.end()
}

func (s ExitStatus) end() string {
	switch {
	case s.Err != nil:
		return fmt.Sprintf("ended, nobody knows how (%v)", s.Err)
	case s.Signal != "":
		return "was killed by " + s.Signal
	default:
		return fmt.Sprintf("exited with code %d", s.Code)
	}
}

// ExitError is the end of a connection whose worker has exited.
type ExitError struct {
	Plugin string
	Status ExitStatus
	// Tail is the last log lines of the worker, the oldest first; at most
	// TailLines.
	Tail []string
	// Truncated tells that the worker's last record had no line end. It was
	// returned all the same.
	Truncated bool
}

// Error names the plugin, the exit, the uptime and the last log lines.
func (e *ExitError) Error() string {
	return fmt.Sprintf("plugin %s: the worker %s after %s%s%s",
		e.Plugin, e.Status, e.Status.Uptime.Round(time.Millisecond), truncatedText(e.Truncated), tailText(e.Tail))
}

// LostError is the end of a connection whose worker still runs but has closed a
// pipe: it can be spoken with no more and has to be stopped.
type LostError struct {
	Plugin string
	// Pipe is what the worker closed: "input" or "output".
	Pipe string
	// Tail and Truncated are as in ExitError.
	Tail      []string
	Truncated bool
}

// Error names the plugin, the pipe and the last log lines.
func (e *LostError) Error() string {
	return fmt.Sprintf("plugin %s: the worker closed its %s and runs on: it has to be stopped%s%s",
		e.Plugin, e.Pipe, truncatedText(e.Truncated), tailText(e.Tail))
}

func truncatedText(truncated bool) string {
	if truncated {
		return ", in the middle of a record"
	}
	return ""
}

const (
	// errorLines and errorLineBytes bound the log text in an error.
	errorLines     = 3
	errorLineBytes = 200
)

// tailText quotes the last lines that are not blank.
func tailText(tail []string) string {
	var quoted []string
	for i := len(tail) - 1; i >= 0 && len(quoted) < errorLines; i-- {
		line := strings.TrimSpace(tail[i])
		if line == "" {
			continue
		}
		if len(line) > errorLineBytes {
			line = string(wholeRunes([]byte(line[:errorLineBytes]))) + "…"
		}
		quoted = append([]string{fmt.Sprintf("%q", line)}, quoted...)
	}
	if len(quoted) == 0 {
		return ""
	}
	return "; its last words: " + strings.Join(quoted, ", ")
}

// ending is what the kernel says about an end.
type ending struct {
	code   int
	signal syscall.Signal
	err    error
	reaped bool // nothing is left of the process, its number may be given away
}

// status puts an ending in the owner's words.
func (e ending) status(uptime time.Duration, step Step, leftover bool) ExitStatus {
	s := ExitStatus{Code: e.code, Err: e.err, Uptime: uptime, Step: step, Leftover: leftover}
	switch {
	case e.err != nil:
		s.Code = -1
	case e.signal != 0:
		s.Code = -1
		s.Signal = unix.SignalName(e.signal)
		if s.Signal == "" {
			s.Signal = fmt.Sprintf("signal %d", int(e.signal)) // a real-time signal
		}
	}
	return s
}

// reap takes a dead child out of the kernel's table and tells how it ended.
func reap(pid int) ending {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(pid, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return ending{err: fmt.Errorf("wait4: %w", err), reaped: true}
		case status.Signaled():
			return ending{signal: status.Signal(), reaped: true}
		}
		return ending{code: status.ExitStatus(), reaped: true}
	}
}
