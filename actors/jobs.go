package actors

import (
	"context"
	"encoding/json"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// SetJobs has a service stand before the owners of all jobs: it is asked in place of the
// owner, with the owner's name in Call.Plugin, and runs the job by InvokeOwner. So that
// whoever runs jobs by a schedule knows of the runs by hand, whoever asked for them. Nil
// takes it away.
func (h *Host) SetJobs(s protocol.Service) {
	if s == nil {
		h.jobs.Store(nil)
		return
	}
	h.jobs.Store(&s)
}

// InvokeOwner is Invoke past what SetJobs has put before the owners of jobs.
func (h *Host) InvokeOwner(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	if err := h.alive(); err != nil {
		return nil, err
	}
	return h.followed(ctx, &c)
}

// runner is who runs the job that a call is for; nil if it is for none, or the owner does.
func (h *Host) runner(c *protocol.Call) protocol.Service {
	s := h.jobs.Load()
	if s == nil || !capability.Key(c.Key).Is(capability.KindJob) {
		return nil
	}
	return *s
}

// throughRunner makes a call of a job by its runner. The owner is chosen before, and what
// is wrong with the call is told: that is not a run.
func (h *Host) throughRunner(ctx context.Context, s protocol.Service, c protocol.Call) (json.RawMessage, error) {
	began, key := time.Now(), capability.Key(c.Key)
	if c.Feed != nil {
		return nil, failure(protocol.CodeInvalid, "", c.Key+": a job has one input: give it as the input, not as a request stream")
	}
	if err := key.Validate(); err != nil {
		return nil, &protocol.Error{Code: protocol.CodeInvalid, Message: "the capability's key", Err: err}
	}
	var err error
	if c.Input, err = inputOf(key, &c); err != nil {
		return nil, err
	}
	who, err := h.owner(ctx, key, &c, began)
	if err != nil {
		return nil, err
	}
	c.Plugin = who.Plugin
	return h.serveWith(ctx, s, c)
}
