package actors

import (
	"fmt"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// The routes of a peer: what their owners want goes to the driver, and what the driver
// says of them comes back, all of it under the peer's lock.

// route gives the driver what the owner of a route wants.
func (p *peer) route(in protocol.Input) {
	p.lock()
	defer p.unlock()
	p.step(in)
}

// openRoute asks the peer for a route.
func (p *peer) openRoute(r *Route, asked protocol.Route) error {
	if err := p.fits(asked.Params); err != nil {
		return sendFailure(p.h.Plugin, string(asked.Kind), err)
	}
	p.lock()
	defer p.unlock()
	if p.closed || p.routeless {
		return errEnding(p.h.Plugin, "plugin "+p.h.Plugin+" is ending")
	}
	p.lastRoute++
	r.id = p.lastRoute
	put(&p.routes, r.id, r)
	r.mu.Lock()
	r.fire(lifecycle.RouteAsk)
	r.mu.Unlock()
	p.recall() // what comes of routes does not wait
	p.step(protocol.OpenRoute{ID: r.id, Route: asked})
	return nil
}

// unasked refuses a route whose request could not be sent.
func (p *peer) unasked(in protocol.OpenRoute, why error) {
	if r := p.routes[in.ID]; r != nil {
		r.fail(sendFailure(p.h.Plugin, string(in.Route.Kind), why))
	}
	p.step(protocol.CloseRoute{ID: in.ID})
}

// routeEffect does what the driver says of a route.
func (p *peer) routeEffect(effect protocol.Effect) {
	id, isChunk := routeOf(effect)
	r := p.routes[id]
	if r == nil {
		if isChunk {
			p.host.drop(p.h, "chunk", fmt.Sprintf("no such route: %d", id), 1)
		}
		return
	}
	switch e := effect.(type) {
	case protocol.RouteOpened:
		r.onOpened(e.Room)
	case protocol.RouteRefused:
		r.onRefused(e.Err)
		r.onDone(e.Err)
	case protocol.Chunk:
		p.chunk(r, e.Data)
	case protocol.RouteWritten:
		r.onWritten(e.Writes, e.Bytes)
	case protocol.RouteExited:
		r.onExited(e.Exit)
	case protocol.RouteEnded:
		r.onEnded(e.Err)
		r.onDone(e.Err)
	case protocol.RouteClosed:
		delete(p.routes, id)
	}
}

// routeOf is the route that an effect is about.
func routeOf(effect protocol.Effect) (id protocol.RouteID, isChunk bool) {
	switch e := effect.(type) {
	case protocol.RouteOpened:
		id = e.ID
	case protocol.RouteRefused:
		id = e.ID
	case protocol.Chunk:
		return e.ID, true
	case protocol.RouteWritten:
		id = e.ID
	case protocol.RouteExited:
		id = e.ID
	case protocol.RouteEnded:
		id = e.ID
	case protocol.RouteClosed:
		id = e.ID
	}
	return id, false
}

// chunk queues what came of a route, or ends it where too much waits.
func (p *peer) chunk(r *Route, data []byte) {
	taken, full := r.onChunk(data)
	switch {
	case full != nil:
		p.host.drop(p.h, "chunk", r.text()+": it is read too slowly", 1)
		r.fail(failure(protocol.CodeOverloaded, p.h.Plugin, fmt.Sprintf(
			"%s sends faster than it is read: %s: read it faster, or raise the host's limit", r.text(), full)))
		p.step(protocol.CloseRoute{ID: r.id})
	case taken:
		p.crowd = r.chunks
	default:
		p.host.drop(p.h, "chunk", "its reader takes no more", 1)
	}
}

// endRoutes ends all routes, and lets none be opened any more.
func (p *peer) endRoutes(why error) {
	p.lock()
	defer p.unlock()
	p.routeless = true
	for id, r := range p.routes {
		r.fail(why)
		p.step(protocol.CloseRoute{ID: id})
	}
}

// forgetRoutes ends those that a driver forgot at its end.
func (p *peer) forgetRoutes(why error) {
	for id, r := range p.routes {
		delete(p.routes, id)
		r.forget(why)
	}
}

// forget ends a route of which the driver says no more.
func (r *Route) forget(why error) {
	err := failure(protocol.CodeOutcomeUnknown, r.Plugin(), r.text()+" has ended")
	err.Err = why
	select {
	case <-r.begun:
		r.onEnded(err)
	default:
		r.onRefused(err)
	}
	r.onDone(err)
}

// retire ends the peer by force, for good: what it did leaves no doubt that it cannot be
// trusted with its routes.
func (p *peer) retire(why error) {
	p.retired = true
	p.breakOff(why)
}
