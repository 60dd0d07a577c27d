package evaluate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/process"
)

// answerOf runs a program and returns the record that it writes, once it has exited.
// Nothing that it has started is left when it returns, as far as the process is held.
func answerOf(ctx context.Context, spec process.Spec) (record []byte, err error) {
	p, err := process.Start(spec)
	if err != nil {
		return nil, fmt.Errorf("node cannot be started: %w", err)
	}
	defer func() {
		_ = p.Close() // it never fails
		if _, left := p.Stop(ctx, process.Ladder{}); err == nil && left != nil {
			record, err = nil, fmt.Errorf("has started what cannot be ended: %w", left)
		}
	}()
	defer context.AfterFunc(ctx, func() { _ = p.Close() })()
	record, err = p.Recv()
	if err != nil {
		return nil, silent(err)
	}
	record = bytes.Clone(record) // the next Recv may write over it
	_, err = p.Recv()
	if _, exited := errors.AsType[*process.ExitError](err); exited {
		return record, nil
	}
	if err == nil {
		return nil, foreign(record) // the script writes one, and exits
	}
	return nil, silent(err)
}

// silent says how a process ended that gave no answer.
func silent(err error) error {
	if _, long := errors.AsType[*transport.TooLongError](err); long {
		return fmt.Errorf("says more than %d bytes: move what is long into a file of its own", maxAnswer)
	}
	exit, exited := errors.AsType[*process.ExitError](err)
	if !exited {
		return err
	}
	if err := syntaxError(exit.Tail); err != nil {
		return err
	}
	how := "ended without an answer"
	if exit.Status.Code != 0 && exit.Status.Err == nil {
		how = "made Node.js end with " + words(exit.Status)
	}
	printed := strings.Join(exit.Tail, "\n")
	printed = printed[max(0, len(printed)-maxPrinted):]
	if text := oneLine(printed, maxQuoted); text != "" {
		return fmt.Errorf("%s, having written %s", how, strconv.Quote(text))
	}
	return errors.New(how)
}

// words tells an exit that was none with code 0, as package os would.
func words(exit process.ExitStatus) string {
	if exit.Signal == "" {
		return fmt.Sprintf("exit status %d", exit.Code)
	}
	if number := unix.SignalNum(exit.Signal); number != 0 {
		return "signal: " + number.String()
	}
	return "signal: " + exit.Signal // a real-time signal has no name
}

// foreign says that a record is none of the script's.
func foreign(record []byte) error {
	line := strconv.Quote(oneLine(string(record), 60))
	return fmt.Errorf("wrote %s on descriptor 4, which is the host's", line)
}
