package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// codeNotImplemented is what the SDK answers where a hook is not there.
const codeNotImplemented = "-32004"

// environment calls a hook of a driver.
func (w *paperclipWorker) environment(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	driver, _ := pick(params, "driverKey", "")
	if h := w.session.handler(environmentKey(driver, method)); h != nil {
		return h(ctx, params)
	}
	if _, err := w.driver(driver); err != nil {
		return nil, err
	}
	return nil, notImplemented(method, driver)
}

// driver finds an environment driver.
func (w *paperclipWorker) driver(key string) (EnvironmentHooks, error) {
	h, ok := w.definition.environments[key]
	if !ok {
		has := "it has none"
		if all := slices.Sorted(maps.Keys(w.definition.environments)); len(all) > 0 {
			has = "it has " + strings.Join(all, ", ")
		}
		return h, fmt.Errorf("no environment driver %q in plugin %s: %s", key, w.pluginName(), has)
	}
	return h, nil
}

func notImplemented(what, driver string) error {
	return &protocol.PeerError{
		Code: json.RawMessage(codeNotImplemented), Message: fmt.Sprintf("%s is not implemented by the driver %q of this plugin", what, driver),
	}
}

// logChunk tells the host what a command has written, and waits before if it is behind.
func (w *paperclipWorker) logChunk(ctx context.Context, task protocol.RequestID, item json.RawMessage) error {
	if w.out.room(ctx); ctx.Err() != nil {
		return ctx.Err()
	}
	w.step(protocol.Report{ID: task, Item: item})
	w.out.flush(false)
	return nil
}

// routeEffect does what comes of the machine for a route.
func (w *paperclipWorker) routeEffect(e protocol.Effect) {
	switch e := e.(type) {
	case paperclip.Opening:
		r, ctx := newRoute(w.worker, e.ID)
		w.routes[e.ID] = r
		w.running++
		go w.serveRoute(ctx, r, e)
	case protocol.Chunk:
		if r := w.routes[e.ID]; r != nil {
			r.arrive(e.Data)
		}
	case protocol.RouteStopped:
		if r := w.routes[e.ID]; r != nil {
			r.cancel(ErrRouteStopped)
		}
	case protocol.RouteClosing:
		if r := w.routes[e.ID]; r != nil {
			r.end()
			r.cancel(ErrRouteClosed)
		}
	}
}

// serveRoute runs the handler of a route, and tells the host how it ended.
func (w *paperclipWorker) serveRoute(ctx context.Context, r *Route, asked paperclip.Opening) {
	within := &handling{
		Context: ctx, session: w.session, scope: asked.Route.Scope, trace: asked.Route.Trace,
		request: asked.Route.Params, invocation: asked.Invocation, route: r,
	}
	exit, err := Exit{}, errNotReturned
	defer func() {
		if err == errNotReturned { //nolint:errorlint // this very value
			err = w.contain(within, "a "+string(asked.Route.Kind), recover())
		}
		w.leaveRoute(within, r, exit, err)
	}()
	exit, err = w.runRoute(within, r, asked.Route)
}

// runRoute calls the handler.
func (w *paperclipWorker) runRoute(ctx context.Context, r *Route, asked protocol.Route) (Exit, error) {
	key, _ := pick(asked.Params, "driverKey", "")
	driver, err := w.driver(key)
	switch {
	case err != nil:
		return Exit{}, err
	case asked.Kind == protocol.RoutePTY && driver.Terminal != nil:
		var in TerminalRequest
		if err := decode(asked.Params, &in); err != nil {
			return Exit{}, err
		}
		if in.Command != "" && in.LoginCommandKey == "" {
			in.LoginCommandKey = "claude" // the only one that there was
		}
		return driver.Terminal(ctx, in, r)
	case asked.Kind == protocol.RouteDuplex && driver.Channel != nil:
		var in ChannelRequest
		if err := decode(asked.Params, &in); err != nil {
			return Exit{}, err
		}
		return driver.Channel(ctx, in, r)
	}
	return Exit{}, notImplemented("a "+string(asked.Kind), key)
}

// leaveRoute ends a route whose handler has returned: nothing of it is left.
func (w *paperclipWorker) leaveRoute(ctx context.Context, r *Route, exit Exit, err error) {
	w.out.room(w.ctx)
	if accepted := r.accepted.Load(); accepted {
		if err != nil {
			w.log.ErrorContext(ctx, "the program of a route failed", "error", err)
			exit.Lost = exit.Lost || !exit.HasCode
		}
		w.step(protocol.ExitRoute{ID: r.id, Exit: exit})
	} else {
		if err == nil {
			err = fmt.Errorf("plugin %s: the handler has returned and not accepted the route", w.pluginName())
		}
		w.step(protocol.AcceptRoute{ID: r.id, Err: err})
	}
	w.step(protocol.CloseRoute{ID: r.id})
	r.cancel(nil)
	r.end()
	w.mu.Lock()
	delete(w.routes, r.id)
	w.mu.Unlock()
	w.out.flush(w.settle())
}
