package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

var now = time.UnixMilli(1_700_000_000_000)

// rig is a client whose effects are lines.
type rig struct {
	*testing.T
	c *Client
	// asked is the id of the last question for compatibility.
	asked string
}

func newRig(t *testing.T, o Options, offers ...protocol.Offer) *rig {
	t.Helper()
	o.Name, o.Instance, o.Seed = "hello", "one", "s"
	return &rig{T: t, c: New(o, offers)}
}

func (r *rig) step(in Input) []string {
	r.Helper()
	lines := []string{}
	for _, e := range r.c.Step(now, in, nil) {
		lines = append(lines, r.line(e))
	}
	return lines
}

// hear gives an event.
func (r *rig) hear(name, data string) []string {
	r.Helper()
	return r.record(fmt.Sprintf(`{"json":{"type":%q,"data":%s,"metadata":{"event":{"id":"e"}}}}`, name, data))
}

func (r *rig) record(record string) []string {
	r.Helper()
	return r.step(Arrived{[]byte(record)})
}

func (r *rig) line(e Effect) string {
	r.Helper()
	switch e := e.(type) {
	case Send:
		return r.sent(e.Record)
	case Hangup:
		return "hang up: " + e.Err.Error()
	case Announced:
		return fmt.Sprintf("announced negotiates:%v again:%v unanswered:%v", e.Negotiates, e.Again, e.Unanswered)
	case Configured:
		return "configured " + string(e.Config)
	case Run:
		return "run " + string(e.Step)
	case Validate:
		return fmt.Sprintf("validate %d %s", e.ID, e.Config)
	case Heard:
		return fmt.Sprintf("heard %s %s", e.Name, e.Data)
	case protocol.Fail:
		return "fail: " + e.Err.Error()
	case protocol.SetTimer:
		return fmt.Sprintf("timer %d %s", e.Timer, e.After)
	case protocol.StopTimer:
		return fmt.Sprintf("stop %d", e.Timer)
	case protocol.Serve:
		return fmt.Sprintf("serve %d %s %s", e.ID&0xff, e.Call.Key, e.Call.Input)
	case protocol.Abandon:
		return fmt.Sprintf("abandon %d", e.ID&0xff)
	case protocol.Complete:
		return fmt.Sprintf("complete %d %s %s %v", e.ID, e.Result, protocol.CodeOf(e.Err), e.Err)
	case protocol.Progress:
		return fmt.Sprintf("progress %d %s", e.ID, e.Item)
	case protocol.Dropped:
		return "dropped " + e.What
	}
	return fmt.Sprintf("%T", e)
}

// sent is a record as "say TYPE DATA[ answers ID]", without the identity, or "eventa ID BODY".
func (r *rig) sent(record []byte) string {
	r.Helper()
	if f, err := airi.ReadFrame(record); err == nil {
		return fmt.Sprintf("eventa %s %s", f.ID, f.Body)
	}
	e, _, _, err := read(record)
	require.NoError(r, err)
	if e.name == "module:compatibility:request" {
		r.asked = e.id
	}
	var said struct {
		Metadata struct{ Source struct{ ID string } }
	}
	require.NoError(r, json.Unmarshal(record, &said))
	require.Equal(r, r.c.o.Instance, said.Metadata.Source.ID, "everything says who says it")
	data := strings.Replace(string(e.data), `"identity":`+string(encoded(r.c.identity())), `"identity":me`, 1)
	line := fmt.Sprintf("say %s %s", e.name, data)
	if e.parent != "" {
		line += " answers " + e.parent
	}
	return line
}

// sync is a list of modules with this one.
func (r *rig) sync() string {
	return `{"modules":[{"name":"other","identity":{"id":"x","plugin":{"id":"y"}}},{"name":"hello","identity":` + string(encoded(r.c.identity())) + `}]}`
}

// connect goes as far as announced, under a host or under AIRI's own server.
func (r *rig) connect(host bool) []string {
	r.Helper()
	r.step(Opened{})
	r.hear("module:authenticated", `{"authenticated":true}`)
	if host {
		r.record(fmt.Sprintf(`{"type":"module:compatibility:result","data":{"mode":"exact"},"metadata":{"event":{"id":"e","parentId":%q}}}`, r.asked))
	} else {
		r.step(protocol.Fired{Timer: timerPhase})
	}
	return r.hear("registry:modules:sync", r.sync())
}

// ready goes on until the module is.
func (r *rig) ready(host bool) []string {
	r.Helper()
	r.connect(host)
	r.step(Ran{Step: protocol.StepInit})
	return r.step(Ran{Step: protocol.StepSetup})
}
