package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// plugins is what services may ask of the host.
type plugins struct{ host *Host }

var _ protocol.Plugins = plugins{}

func (p plugins) Invoke(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	who, err := p.running(c.Caller)
	if err == nil {
		c, err = p.host.mayCross(who, callOf(who, c))
	}
	if err != nil {
		return nil, err
	}
	return p.host.invoke(ctx, &c)
}

func (p plugins) Publish(ctx context.Context, c protocol.Call) error {
	if err := capability.Key(c.Key).Validate(); err != nil {
		return failure(protocol.CodeInvalid, c.Caller, fmt.Sprintf("the event's name: %s", err))
	}
	if who := p.host.current(c.Caller); who != nil {
		var err error
		if c, err = p.host.mayTell(who, callOf(who, c)); err != nil {
			return err
		}
	}
	p.host.fanOut(ctx, c, time.Now())
	return nil
}

func (p plugins) Offer(ctx context.Context, plugin string, o protocol.Offer) error {
	who, err := p.running(plugin)
	if err != nil {
		return err
	}
	err, gone := ask(ctx, who.self, func(reply chan<- error) any { return offered{offer: o, joins: true, reply: reply} })
	if gone != nil {
		return errStopped(plugin)
	}
	return err
}

func (p plugins) Log(plugin string) *slog.Logger {
	who, err := p.running(plugin)
	if err != nil {
		return p.host.log.With("plugin", plugin)
	}
	return p.host.pluginLog(who)
}

func (p plugins) running(plugin string) (*handle, error) {
	if who := p.host.current(plugin); who != nil {
		return who, nil
	}
	return nil, failure(protocol.CodeNotFound, plugin, "plugin "+plugin+" does not run")
}

// serve answers a plugin's call of a method of its own wire, of a host service, or
// of another plugin's capability. The methods of a wire are guarded by its driver;
// the services are everybody's.
func (h *Host) serve(ctx context.Context, who *handle, c protocol.Call) (json.RawMessage, error) {
	c = callOf(who, c)
	if s := h.methods[who.man.Dialect][c.Key]; s != nil {
		result, err := h.serveWith(ctx, s, c)
		h.noteDenial(who, c, err)
		return result, err
	}
	if h.service(c.Key) == nil {
		var err error
		if c, err = h.mayCross(who, c); err != nil {
			return nil, err
		}
	}
	return h.invoke(ctx, &c)
}

// quick answers a call of a method of a plugin's own wire, if that can be done at once.
// Long inputs take time to read.
func (h *Host) quick(who *handle, c protocol.Call) (result json.RawMessage, done bool, err error) {
	if len(c.Input) > maxQuick {
		return nil, false, nil
	}
	s, ok := h.methods[who.man.Dialect][c.Key].(protocol.QuickService)
	if !ok {
		return nil, false, nil
	}
	c.Caller = who.Plugin
	if fault := contain(func() error { result, done, err = s.Quick(c); return nil }); fault != nil {
		return nil, true, fault
	}
	return result, done, err
}

// publishes tells whether a plugin's call publishes events, so that it is begun in its
// turn.
func (h *Host) publishes(who *handle, c protocol.Call) bool {
	s := h.methods[who.man.Dialect][c.Key]
	if s == nil {
		s = h.service(c.Key)
	}
	if s == nil {
		return capability.Key(c.Key).Is(capability.KindEvent)
	}
	_, ok := s.(protocol.PublishingService)
	return ok
}

// maxQuick is how long the input of a call may be that is served at once, in bytes.
const maxQuick = 4 << 10

// HandlesMethod tells whether plugins of a dialect may call a method of their own
// wire: one of Options.Methods.
func (h *Host) HandlesMethod(dialect, method string) bool { return h.methods[dialect][method] != nil }
