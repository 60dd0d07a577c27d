package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// RouteRequest says which plugin is asked for a route, and for what.
type RouteRequest struct {
	// Plugin is the plugin's name.
	Plugin string
	// Params say what is to be opened, a JSON object as the plugin's dialect documents it:
	// paperclip.Dialect.Routes.
	Params json.RawMessage
	// Scope is the tenant; "" is the configured default.
	Scope string
	// Trace is a W3C traceparent value, or "".
	Trace string
}

// OpenPTY opens a pseudo-terminal at a plugin: text, with a program at its far end.
//
//	terminal, err := host.OpenPTY(ctx, actors.RouteRequest{
//		Plugin: "cloud", Scope: "acme",
//		Params: json.RawMessage(`{"driverKey":"vm","environmentId":"e","providerLeaseId":"l","loginCommandKey":"claude"}`),
//	})
//
// While the plugin starts the request waits for it, at most for Timeouts.Call. The end of
// ctx closes the route, also when it is open. Errors are *protocol.Error with a code to
// branch on (CodeOverloaded where all plugins together have as many routes as they may),
// or the plugin's own words as *protocol.PeerError.
//
// No wire that this host speaks has a word for a terminal's size: it is the plugin's.
func (h *Host) OpenPTY(ctx context.Context, r RouteRequest) (*Route, error) {
	return h.openRoute(ctx, protocol.RoutePTY, r)
}

// OpenDuplex opens a channel of bytes in both directions to a program at a plugin, as
// OpenPTY does a pseudo-terminal.
func (h *Host) OpenDuplex(ctx context.Context, r RouteRequest) (*Route, error) {
	return h.openRoute(ctx, protocol.RouteDuplex, r)
}

func (h *Host) openRoute(ctx context.Context, kind protocol.RouteKind, asked RouteRequest) (*Route, error) {
	if err := h.alive(); err != nil {
		return nil, err
	}
	who, err := h.routeOwner(ctx, kind, asked.Plugin)
	var r *Route
	if err == nil {
		r, err = h.openAt(ctx, who, kind, asked)
	}
	if err != nil {
		h.tallyRoute(who, kind, routeRefused)
		return nil, err
	}
	context.AfterFunc(r.ctx, func() { // which leaves ctx when the route is over
		if ctx.Err() != nil {
			r.giveUp(ctx)
		}
	})
	return r, nil
}

// openAt opens a route at a session.
func (h *Host) openAt(ctx context.Context, who *handle, kind protocol.RouteKind, asked RouteRequest) (*Route, error) {
	p, isPeer := who.through().(*peer)
	if _, routing := who.dialect.(protocol.Routing); !isPeer || !routing {
		return nil, failure(protocol.CodeInvalid, who.Plugin, fmt.Sprintf(
			"no %s is opened at plugin %s: its wire has no routes; a Paperclip plugin can have them", kind, who.Plugin))
	}
	r := newRoute(ctx, p, kind)
	if err := p.openRoute(r, protocol.Route{Kind: kind, Scope: asked.Scope, Params: asked.Params, Trace: asked.Trace}); err != nil {
		r.cancel()
		return nil, err
	}
	if err := r.awaitBegin(); err != nil {
		return nil, err
	}
	return r, nil
}

// giveUp closes the route for its owner, whose context has ended.
func (r *Route) giveUp(ctx context.Context) {
	r.fail(&protocol.Error{
		Code: protocol.CodeCancelled, Plugin: r.Plugin(), Message: r.text() + " was closed: its context has ended", Err: context.Cause(ctx),
	})
	r.end()
}

// routeOwner finds the session that is asked for a route, and waits for one that is still
// starting.
func (h *Host) routeOwner(ctx context.Context, kind protocol.RouteKind, plugin string) (*handle, error) {
	what, began := "a "+string(kind), time.Now()
	for {
		who := h.current(plugin)
		if who == nil {
			return nil, failure(protocol.CodeNotFound, plugin, "no plugin "+plugin+" runs: no "+string(kind)+" is opened")
		}
		at, changed := who.watch()
		switch {
		case isUp(at.phase) && !who.draining.Load():
			return who, nil
		case !startingPhase(at.phase) && at.comeback != due:
			return nil, notReady(plugin, what, at)
		}
		l := limitOf(ctx, &protocol.Call{}, who, began)
		if err := awaitChange(ctx, changed, l, func() error { return gaveUp(ctx, plugin, notReady(plugin, what, at).Error(), l) }); err != nil {
			return nil, err
		}
	}
}

// awaitChange returns when something has changed, or what late says when the time is over.
func awaitChange(ctx context.Context, changed <-chan struct{}, l limit, late func() error) error {
	bell := time.NewTimer(time.Until(l.at))
	defer bell.Stop()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
	case <-bell.C:
	}
	return late()
}
