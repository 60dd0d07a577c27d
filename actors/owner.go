package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// Who answers a call.

// owner finds who answers the call, waiting for one that is still starting.
func (h *Host) owner(ctx context.Context, key capability.Key, c *protocol.Call, began time.Time) (*handle, error) {
	who, missing, err := h.lookUp(key, c)
	if missing == nil {
		return who, err
	}
	if who = h.starter(missing, c); who == nil {
		return nil, h.notFound(missing, c)
	}
	l := limitOf(ctx, c, who, began)
	ctx, cancel := context.WithDeadline(ctx, l.at)
	defer cancel()
	return h.await(ctx, key, c, who, l)
}

// await waits for a session that may yet offer the key, or for any other owner.
func (h *Host) await(ctx context.Context, key capability.Key, c *protocol.Call, who *handle, l limit) (*handle, error) {
	for {
		who = h.newest(who)
		at, changed := who.watch()
		found, missing, err := h.lookUp(key, c)
		if missing == nil {
			return found, err
		}
		switch next := h.starter(missing, c); {
		case next != nil && next != who:
			who = next
			continue
		case at.comeback == due || at.comeback == planned && c.Wait:
		case isUp(at.phase):
			return nil, h.notFound(missing, c)
		case !startingPhase(at.phase):
			return nil, notReady(who.Plugin, c.Key, at)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, gaveUp(ctx, who.Plugin, notReady(who.Plugin, c.Key, at).Error(), l)
		}
	}
}

// lookUp finds who answers the call at this moment; missing says why nobody does.
func (h *Host) lookUp(key capability.Key, c *protocol.Call) (who *handle, missing, err error) {
	if who = h.undeclared(c); who != nil {
		if who.draining.Load() {
			return nil, nil, failure(protocol.CodeNotReady, who.Plugin, fmt.Sprintf("plugin %s is being stopped: %s was not called", who.Plugin, c.Key))
		}
		return who, nil, nil
	}
	offer, missing := h.snapshot().Choose(key, capability.Filter{Plugin: c.Plugin, Instance: c.Instance})
	if missing != nil {
		return nil, missing, nil
	}
	if who, err = invocable(offer); err == nil {
		err = checkInput(offer, c)
	}
	return who, nil, err
}

// checkInput holds a call to the schema that the offer declares, before the plugin
// sees it. No input at all is an empty one. The items of a request stream are the
// plugin's own to check.
func checkInput(o capability.Offer, c *protocol.Call) error {
	if o.Schema == nil || c.Feed != nil {
		return nil
	}
	input := c.Input
	if input == nil {
		input = json.RawMessage(`{}`)
	}
	if err := o.Schema.Check(input); err != nil {
		return failure(protocol.CodeInvalid, o.Owner.Plugin, fmt.Sprintf("the input of %s of plugin %s: %s", o.Key, o.Owner.Plugin, err))
	}
	return nil
}

// undeclared returns the session of the plugin that the call names, if it is up and
// may have a handler for the call that nothing announces. Its plugins offer nothing
// of the kind, so that there is nothing to look up.
func (h *Host) undeclared(c *protocol.Call) *handle {
	if c.Plugin == "" {
		return nil
	}
	who := h.currentOf(c.Plugin, c.Instance)
	if who == nil || !who.up.Load() {
		return nil
	}
	if d, ok := who.dialect.(protocol.Undeclared); ok && d.Answers(*c) {
		return who
	}
	return nil
}

// isUp tells whether a session in the phase answers calls.
func isUp(p lifecycle.State) bool { return p == lifecycle.Ready || p == lifecycle.Degraded }

func invocable(o capability.Offer) (*handle, error) {
	who, ok := o.Target.(*handle)
	if !ok || !o.Invocable {
		return nil, failure(protocol.CodeInvalid, o.Owner.Plugin,
			fmt.Sprintf("%s of %s can be awaited, not called", o.Key, ownerName(o.Owner)))
	}
	return who, nil
}

func ownerName(o capability.Owner) string {
	if o == capability.HostOwner {
		return "the host"
	}
	return "plugin " + o.Plugin
}

// starter returns the session that may yet offer the key, or nil.
func (h *Host) starter(err error, c *protocol.Call) *handle {
	if wait, ok := errors.AsType[*capability.NotReadyError](err); ok {
		if who, ok := wait.Target.(*handle); ok {
			return h.newest(who)
		}
	}
	if c.Plugin == "" {
		return nil
	}
	return h.rising(c.Plugin, c.Instance)
}

// startingPhase tells whether a session in the phase is on its way to ready.
func startingPhase(p lifecycle.State) bool {
	switch p {
	case lifecycle.Ready, lifecycle.Degraded, lifecycle.ConfigurationNeeded, lifecycle.Failed, lifecycle.Stopped:
		return false
	default:
		return true
	}
}

func (h *Host) notFound(err error, c *protocol.Call) error {
	e := &protocol.Error{Code: protocol.CodeNotFound, Plugin: c.Plugin, Message: "nobody offers " + c.Key}
	if c.Plugin == "" && h.mayBeUndeclared(c) {
		e.Message += ": if a plugin has it that announces no such thing, name the plugin"
	}
	absent := h.absent(*c)
	if down := h.inherited(); c.Plugin == "" && down != "" && absent == "" {
		absent = down
	}
	if _, ok := errors.AsType[*capability.NotReadyError](err); ok {
		e.Code, e.Message = protocol.CodeNotReady, err.Error()
		return e
	}
	if _, ok := errors.AsType[*capability.AmbiguousError](err); ok {
		e.Code, e.Message = protocol.CodeAmbiguous, err.Error()
		return e
	}
	if c.Plugin != "" {
		e.Message = fmt.Sprintf("%s does not offer %s", capability.Owner{Plugin: c.Plugin, Instance: c.Instance}, c.Key)
	}
	if absent != "" {
		e.Message += ": " + absent
	}
	return e
}

func notReady(plugin, key string, at standing) *protocol.Error {
	text := fmt.Sprintf("%s of plugin %s is not ready: %s", key, plugin, at.phase)
	if at.reason != "" {
		text += " (" + at.reason + ")"
	}
	if at.comeback == planned {
		text += nextTry(at.nextTry, time.Now())
	}
	return failure(protocol.CodeNotReady, plugin, text)
}

// mayBeUndeclared tells whether a plugin of any ecosystem could answer the call if
// it were named.
func (h *Host) mayBeUndeclared(c *protocol.Call) bool {
	for _, d := range h.dialects {
		if u, ok := d.(protocol.Undeclared); ok && u.Answers(*c) {
			return true
		}
	}
	return false
}
