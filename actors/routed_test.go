package actors

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// routed is the dialect "plain" with routes, whose driver holds to the promises of
// protocol.RouteID whatever the far end says.
//
//	host: open N KIND PARAMS, write N DATA, stop N, close N
//	far:  opened N, refused N TEXT, chunk N DATA, wrote N BYTES, exit N CODE, fail-route N TEXT, closed N, violate TEXT,
//	      stream PART ITEM, spare CALL ITEM
type routed struct{ plain }

func (routed) Routes() {}

var _ protocol.Routing = routed{}

func (d routed) NewDriver(s protocol.Settings) protocol.Driver {
	return &routedDriver{plainDriver: d.plain.NewDriver(s).(*plainDriver), routes: map[protocol.RouteID]*farRoute{}}
}

// The room that far routes have.
var farRoom = protocol.Room{Write: 8, Writes: 3, Bytes: 16}

type routedDriver struct {
	*plainDriver
	routes map[protocol.RouteID]*farRoute
}

type farRoute struct {
	isOpen, isExited, isClosing, isRead bool
	held                                []protocol.Effect
}

func (d *routedDriver) Step(now time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	if borrowed, ok := in.(*protocol.Received); ok {
		in = *borrowed
	}
	switch in := in.(type) {
	case protocol.OpenRoute:
		d.routes[in.ID] = &farRoute{}
		return append(out, send("open %d %s %s", in.ID, in.Route.Kind, in.Route.Params))
	case protocol.ReadRoute:
		if r := d.routes[in.ID]; r != nil {
			out, r.isRead, r.held = append(out, r.held...), true, nil
		}
		return out
	case protocol.WriteRoute:
		if r := d.routes[in.ID]; r != nil && r.isOpen {
			out = append(out, send("write %d %s", in.ID, in.Data))
		}
		return out
	case protocol.StopRoute:
		if d.routes[in.ID] != nil {
			out = append(out, send("stop %d", in.ID))
		}
		return out
	case protocol.CloseRoute:
		if r := d.routes[in.ID]; r != nil && !r.isClosing {
			return append(d.finish(in.ID, r, nil, out), send("close %d", in.ID))
		}
		return out
	case protocol.Closed:
		for _, id := range slices.Sorted(maps.Keys(d.routes)) {
			if r := d.routes[id]; !r.isClosing {
				out = d.finish(id, r, &protocol.Error{Code: protocol.CodeOutcomeUnknown, Message: "lost", Err: in.Err}, out)
			}
			out = append(out, protocol.RouteClosed{ID: id})
		}
		clear(d.routes)
	case protocol.Received:
		if word, rest, _ := strings.Cut(in.Message.(string), " "); isRouteWord(word) {
			return d.said(word, rest, out)
		}
	}
	return d.plainDriver.Step(now, in, out)
}

func isRouteWord(word string) bool {
	return slices.Contains([]string{"opened", "refused", "chunk", "wrote", "exit", "fail-route", "closed", "violate", "stream", "spare"}, word)
}

func (d *routedDriver) finish(id protocol.RouteID, r *farRoute, err error, out []protocol.Effect) []protocol.Effect {
	r.isClosing = true
	if !r.isOpen {
		if err == nil {
			err = errors.New("it was closed before")
		}
		return append(out, protocol.RouteRefused{ID: id, Err: err})
	}
	r.isOpen = false
	return append(append(out, r.held...), protocol.RouteEnded{ID: id, Err: err})
}

func (d *routedDriver) said(word, rest string, out []protocol.Effect) []protocol.Effect {
	var n uint64
	_, _ = fmt.Sscan(rest, &n)
	_, text, _ := strings.Cut(rest, " ")
	id := protocol.RouteID(n)
	switch word {
	case "violate":
		return append(out, protocol.Retire{Err: errors.New(rest)})
	case "spare":
		return append(out, protocol.Progress{ID: protocol.CallID(n), Item: []byte(text), Spare: true})
	case "stream":
		return append(out, protocol.Streamed{What: protocol.StreamPart(n), Channel: "c", Scope: "acme", Item: []byte(text)})
	}
	r := d.routes[id]
	if r == nil {
		if word == "chunk" {
			out = append(out, protocol.Chunk{ID: id, Data: []byte(text)})
		}
		return out
	}
	switch {
	case word == "closed" && r.isClosing:
		delete(d.routes, id)
		return append(out, protocol.RouteClosed{ID: id})
	case r.isClosing:
	case word == "opened" && !r.isOpen:
		r.isOpen = true
		return append(out, protocol.RouteOpened{ID: id, Room: farRoom})
	case word == "refused" && !r.isOpen:
		return append(d.finish(id, r, &protocol.PeerError{Message: text}, out), send("close %d", id))
	case !r.isOpen:
	case word == "chunk" && r.isRead:
		return append(out, protocol.Chunk{ID: id, Data: []byte(text)})
	case word == "chunk":
		r.held = append(r.held, protocol.Chunk{ID: id, Data: []byte(text)})
	case word == "wrote":
		var bytes int
		_, _ = fmt.Sscan(text, &bytes)
		return append(out, protocol.RouteWritten{ID: id, Writes: 1, Bytes: bytes})
	case word == "exit" && !r.isExited:
		r.isExited = true
		e := protocol.Exit{HasCode: text != "", Lost: text == ""}
		_, _ = fmt.Sscan(text, &e.Code)
		return append(out, protocol.RouteExited{ID: id, Exit: e})
	case word == "fail-route":
		return append(d.finish(id, r, &protocol.Error{Code: protocol.CodeOverloaded, Plugin: "far", Message: text}, out), send("close %d", id))
	}
	return out
}
