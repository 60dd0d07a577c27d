package jobs

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

const keyPrefix = "job:"

func keyOf(job string) string { return keyPrefix + job }

var _ protocol.Service = (*Scheduler)(nil)

// Serve answers a call of "job:KEY" of the plugin that the call names, as [Scheduler.Trigger]
// does: the run is one of the job's, by whoever's hand, and is refused while another one has
// not ended. It is for a host that asks it before the plugin, and has made sure that the
// plugin has the job, followed here or not. The call's trigger is a retry if it says so,
// else manual; its scope is the run's company.
func (s *Scheduler) Serve(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	id := name{c.Plugin, strings.TrimPrefix(c.Key, keyPrefix)}
	if err := s.take(id); err != nil {
		return nil, err
	}
	var asked protocol.JobInput
	_ = json.Unmarshal(c.Input, &asked) // what is no input of a job was refused before
	trigger := protocol.TriggerManual
	if asked.Trigger == protocol.TriggerRetry {
		trigger = asked.Trigger
	}
	t := turn{id: id, run: newRun(id, trigger, s.limits.Now()), call: c}
	t.run.Company = c.Scope
	return nil, s.byHand(ctx, t)
}
