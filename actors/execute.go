package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// ExecuteRequest is a command to be run in an environment.
type ExecuteRequest struct {
	// Driver is the environment's driver, as in "environment:DRIVER.execute"; Plugin says
	// whose, where several plugins have one of that name.
	Driver, Plugin string
	// Scope is the tenant; "" is the configured default.
	Scope string
	// Params are those of the hook but for the driver and the tenant: for Paperclip
	// {environmentId, config, lease, command, args?, cwd?, env?, stdin?, timeoutMs?}.
	Params json.RawMessage
	// Deadline is when the host stops waiting; zero means the default of such calls.
	Deadline time.Time
	// Trace is a W3C traceparent value, or "".
	Trace string
}

// Executed is how a command ended.
type Executed struct {
	// ExitCode is its status; nil where there is none, for example since a signal ended it.
	ExitCode *int `json:"exitCode"`
	// Signal is the one that ended it, "" for none.
	Signal string `json:"signal"`
	// TimedOut tells that it was ended since its time was over.
	TimedOut bool `json:"timedOut"`
	// Stdout and Stderr are all that it wrote, as far as the driver kept it.
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	// Metadata is the driver's own, or nil.
	Metadata json.RawMessage `json:"metadata"`
	// Missed is how many chunks of the log sink has not taken: it failed, was too slow, or had
	// not come to them when the command was given up.
	// It is told beside an error as well.
	Missed uint64 `json:"-"`
}

// Execute runs a command by the driver of an environment, which is the capability
// environment:DRIVER.execute. What the command writes is given to sink, in order, on the
// caller's own goroutine and before Execute returns; nil is for who takes the result only.
//
// An error or a panic of sink, and a sink that is too slow (Limits.StreamItems and
// StreamBytes are what waits for it), cost it chunks, whose number is Executed.Missed; they are counted
// as dropped ("log-sink" and "progress"), too: the command goes on, and the result has what it wrote all
// the same. Errors are those of [Host.Invoke].
func (h *Host) Execute(ctx context.Context, r ExecuteRequest, sink func(protocol.LogChunk) error) (Executed, error) {
	call := protocol.Call{
		Key: string(capability.KindEnvironment) + ":" + r.Driver + ".execute", Plugin: r.Plugin, Scope: r.Scope, Input: r.Params,
		Deadline: r.Deadline, Trace: r.Trace,
	}
	var missed atomic.Uint64
	if sink != nil {
		call.Missed = &missed
		call.Progress = func(item json.RawMessage) error {
			if err := pour(sink, item); err != nil {
				missed.Add(1)
				h.dropOf(call, "log-sink", err.Error())
			}
			return nil
		}
	}
	raw, err := h.Invoke(ctx, call)
	if err != nil {
		return Executed{Missed: missed.Load()}, err
	}
	done := Executed{Missed: missed.Load()}
	if err := json.Unmarshal(raw, &done); err != nil {
		return Executed{Missed: done.Missed}, &protocol.Error{
			Code: protocol.CodeWire, Plugin: r.Plugin, Message: call.Key + " was answered with what is no result of a command", Err: err,
		}
	}
	return done, nil
}

// pour gives a chunk to somebody's sink.
func pour(sink func(protocol.LogChunk) error, item json.RawMessage) error {
	chunk, err := protocol.ReadLogChunk(item)
	if err != nil {
		return err
	}
	return contain(func() error { return sink(chunk) })
}

// dropOf counts what the caller did not take of a call, for the plugin that has it.
func (h *Host) dropOf(c protocol.Call, what, detail string) {
	offer, err := h.snapshot().Choose(capability.Key(c.Key), capability.Filter{Plugin: c.Plugin})
	if err != nil {
		return
	}
	if who, ok := offer.Target.(*handle); ok {
		h.drop(who, what, fmt.Sprintf("%s: %s", c.Key, detail), 1)
	}
}
