package evaluate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// grace is how long pipes are read after the process has ended, which somebody who
// left its group may hold open.
const grace = time.Second

// answerOf runs a command in a group of its own and returns what it wrote on
// descriptor 3. Nothing of the group is left when it returns.
func answerOf(cmd *exec.Cmd) ([]byte, error) {
	// On Linux the process dies with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // it was only read
	printed := &tail{}
	cmd.Stdout, cmd.Stderr = printed, printed
	cmd.ExtraFiles = []*os.File{to}
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	cmd.WaitDelay = grace
	err = cmd.Start()
	_ = to.Close() // the process has its own
	if err != nil {
		return nil, fmt.Errorf("node cannot be started: %w", err)
	}
	answer := make(chan []byte, 1)
	go func() {
		said, _ := io.ReadAll(io.LimitReader(from, maxAnswer+1)) // what came is judged
		if len(said) > maxAnswer {
			_ = killGroup(cmd.Process.Pid) // nobody reads on
		}
		answer <- said
	}()
	err = cmd.Wait()
	// Who is left of the group keeps its number from being used again; when nobody
	// is, there is nobody to kill.
	_ = killGroup(cmd.Process.Pid)
	_ = from.SetReadDeadline(time.Now().Add(grace))
	said := <-answer
	if len(said) == 0 {
		return nil, silent(err, printed)
	}
	return said, nil
}

// silent says how a process ended that gave no answer.
func silent(err error, printed *tail) error {
	how := "ended without an answer"
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		how = "made Node.js end with " + exit.String()
	}
	if text := oneLine(string(printed.last), maxQuoted); text != "" {
		return fmt.Errorf("%s, having written %s", how, strconv.Quote(text))
	}
	return errors.New(how)
}

func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// tail keeps the end of what is written to it. It is written to by one goroutine: a
// command copies two outputs that are one writer in one.
type tail struct{ last []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if over := len(t.last) - maxPrinted; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return len(p), nil
}
