package eliza

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// run waits for init-complete in the setup step. The wire has no word for the other
// steps, nor for a configuration that has changed, so they are over at once.
func (d *driver) run(in protocol.Run, out []protocol.Effect) []protocol.Effect {
	switch {
	case d.running:
		return append(out, protocol.Ran{Step: in.Step, Err: d.settings.Fault(protocol.CodeInvalid, fmt.Sprintf(
			"step %s was asked for while setup runs; a worker passes through one step at a time", in.Step))})
	case in.Step != protocol.StepSetup || d.isReady:
		return append(out, protocol.Ran{Step: in.Step})
	case d.failed != nil: // it was faster than the question
		return append(out, protocol.Ran{Step: in.Step, Err: d.failed})
	}
	if in.Params != nil {
		out = append(out, protocol.Send{Message: Init{
			Manifest: member(in.Params, "manifest"), Context: withGranted(member(in.Params, "context"), d.plugin.Granted),
		}})
	}
	d.running = true
	return out
}

// setUp ends the setup step.
func (d *driver) setUp(err error, out []protocol.Effect) []protocol.Effect {
	d.failed = err
	if !d.running {
		return out
	}
	d.running = false
	return append(out, protocol.Ran{Step: protocol.StepSetup, Err: err})
}

// initialized takes init-complete: from now on the plugin may be called.
func (d *driver) initialized(out []protocol.Effect) []protocol.Effect {
	switch {
	case d.isReady || d.failed != nil:
		return append(out, protocol.Drop(DroppedOther, typeInitComplete))
	case d.name == "":
		return d.setUp(d.settings.Fault(protocol.CodeWire, fmt.Sprintf(
			"plugin %s sent init-complete before it announced itself: expected worker-announce-plugin first", d.settings.Plugin)), out)
	}
	d.isReady = true
	return d.setUp(nil, out)
}

// heard takes an event of the worker's: that its init has failed, or one of its own.
func (d *driver) heard(e Event, out []protocol.Effect) []protocol.Effect {
	name, ok := text(e.Name)
	if !ok {
		return append(out, protocol.Drop(DroppedOther, typeEvent+" without a name"))
	}
	if name == eventInitFailed && !d.isReady && d.failed == nil {
		return d.unannounce(remoteError(member(e.Payload, "error")), out)
	}
	return append(out, protocol.Emitted{Event: protocol.Event{Name: name, Payload: e.Payload}})
}

const eventInitFailed = "plugin.init.failed"

// unannounce ends the start: what was announced is withdrawn.
func (d *driver) unannounce(why error, out []protocol.Effect) []protocol.Effect {
	for _, key := range slices.Sorted(maps.Keys(d.targets)) {
		out = append(out, protocol.Retracted{Key: key, Reason: protocol.Cut(why.Error(), protocol.MaxStray)})
	}
	clear(d.targets)
	return d.setUp(why, out)
}

// announced takes an announcement of the worker's.
func (d *driver) announced(now time.Time, a Announce, out []protocol.Effect) []protocol.Effect {
	what := announceType(a.Dynamic)
	switch {
	case d.failed != nil:
		return append(out, protocol.Drop(DroppedAnnounce, what+" after a failed start"))
	case !a.Dynamic && d.name != "":
		return append(out, protocol.Drop(DroppedAnnounce, what+" came twice: the first one counts"))
	case a.Dynamic && d.name == "":
		return d.refuse(now, what+" received before plugin announce", out)
	case d.size+len(a.Descriptor) > MaxAnnounced:
		return d.refuse(now, fmt.Sprintf("%d bytes are announced, the limit is %d: announce less", d.size+len(a.Descriptor), MaxAnnounced), out)
	}
	got, err := readDescriptor(a.Descriptor)
	switch {
	case err != nil:
		return d.refuse(now, err.Error(), out)
	case a.Dynamic && got.name != d.name:
		return d.refuse(now, fmt.Sprintf("%s plugin mismatch: expected %s, got %s", what, protocol.Clip(d.name), protocol.Clip(got.name)), out)
	}
	if id, was := d.collision(got); id != "" {
		return d.collided(now, id, was, out)
	}
	if len(d.ids)+len(got.ids) > MaxHandlers {
		return d.refuse(now, fmt.Sprintf("%d handlers are announced, the limit is %d: announce fewer", len(d.ids)+len(got.ids), MaxHandlers), out)
	}
	d.name, d.size = got.name, d.size+len(a.Descriptor)
	return d.take(got, out)
}

// refuse does not take an announcement. While the worker starts, that ends the start. Later
// it is counted, and of a flood the log has the beginning.
func (d *driver) refuse(now time.Time, why string, out []protocol.Effect) []protocol.Effect {
	if d.isReady {
		if d.refusals.Show(now) {
			out = append(out, protocol.Logged{Level: slog.LevelError, Message: "the announcement is refused: " + why})
		}
		return append(out, protocol.Drop(DroppedAnnounce, why))
	}
	return d.unannounce(d.settings.Fault(protocol.CodeWire, "plugin "+d.settings.Plugin+": "+why), out)
}

// collision returns an id that a handler has already, and whose it is.
func (d *driver) collision(got descriptor) (id, was string) {
	for _, id := range got.ids {
		if key, taken := d.ids[id]; taken {
			return id, key
		}
	}
	return "", ""
}

// collided refuses an announcement one of whose handlers has taken the id of another:
// the reference's worker numbers what its init adds from 1 again, and has forgotten the
// first handler by then.
func (d *driver) collided(now time.Time, id, was string, out []protocol.Effect) []protocol.Effect {
	if _, offered := d.targets[was]; offered && d.isReady {
		delete(d.targets, was)
		out = append(out, protocol.Retracted{Key: was, Reason: "its handler's id was given to another one: " + protocol.Clip(id)})
	}
	return d.refuse(now, fmt.Sprintf("the handler %s was announced for %s and again by init, so that the first one can be called no more: "+
		"let the plugin have it before its init, or give it another name", protocol.Clip(id), protocol.Clip(was)), out)
}

// take keeps what was announced, and offers it.
func (d *driver) take(got descriptor, out []protocol.Effect) []protocol.Effect {
	for _, why := range got.skipped {
		out = append(out, protocol.Drop(DroppedAnnounce, why))
	}
	for _, id := range got.ids { // those of what is passed over are taken as well
		d.ids[id] = "what is passed over"
	}
	for _, e := range got.entries {
		key := e.offer.Key
		for _, id := range e.target.ids {
			d.ids[id] = key
		}
		before, known := d.targets[key]
		if known && e.target.surface != surfaceEvent {
			out = append(out, protocol.Drop(DroppedAnnounce, key+" is announced twice: the first one counts"))
			continue
		}
		if known {
			e.target.ids = append(slices.Clone(before.ids), e.target.ids...)
		}
		d.targets[key] = e.target.spelt()
		out = append(out, protocol.Offered{Offer: e.offer})
	}
	return out
}

// RawPrefix begins the key of a call that is no capability but one of a handler, by
// surface and id: "eliza:action action:GREET:1". Its input becomes the args as they are.
// They are for the host alone: no plugin offers one.
const RawPrefix = "eliza:"

// Answers tells that the host may call any handler by its id.
func (Dialect) Answers(c protocol.Call) bool {
	return c.Caller == "" && len(c.Key) > len(RawPrefix) && c.Key[:len(RawPrefix)] == RawPrefix
}

var _ protocol.Undeclared = Dialect{}
