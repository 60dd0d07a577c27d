package server

import (
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/superjson"
)

// order says how one event is to be delivered.
type delivery struct {
	mode, group, selection, key string
	required                    bool
}

const (
	modeConsumer = "consumer"
	modeGroup    = "consumer-group"
	defaultGroup = "default"
)

// usually is how the types of events are delivered that say nothing of it.
func usually(kind string) delivery {
	switch kind {
	case "input:text", "input:text:voice", "input:voice":
		return delivery{mode: modeGroup, group: "chat-ingestion", selection: "first"}
	}
	return delivery{}
}

// consumed tells that exactly one consumer gets the event.
func (d delivery) consumed() bool { return d.mode == modeConsumer || d.mode == modeGroup }

// plan is what an event says of its way.
type plan struct {
	delivery delivery
	bypass   bool
	// addressed tells that there are destinations, if only none.
	addressed bool
	terms     []term
}

// readPlan reads route, and data.destinations where that is a list.
func (s *Server) readPlan(f Frame) (p plan, err error) {
	p.delivery = usually(f.Type)
	destinations, order := []byte(nil), []byte(nil)
	if f.hasRoute {
		if !isObject(f.route) {
			return p, errEvent
		}
		parts := members(f.route, "destinations", "bypass", "delivery")
		destinations, order = parts[0], parts[2]
		p.bypass = isTrue(parts[1])
	}
	if destinations == nil {
		if list := members(f.Data, "destinations")[0]; isList(list) {
			destinations = list
		}
	}
	if destinations != nil {
		p.addressed = true
		if p.terms, err = readDestinations(destinations, s.o.Limits); err != nil {
			return p, err
		}
	}
	return p, p.delivery.override(order)
}

// override takes over what an event says of its delivery, field by field.
func (d *delivery) override(order []byte) error {
	if order == nil || isNull(order) {
		return nil
	}
	if !isObject(order) {
		return errEvent
	}
	protocol.EachMember(order, func(key, value []byte) {
		s, _ := text(value)
		switch string(key) {
		case "mode":
			d.mode = s
		case "group":
			d.group = s
		case "selection":
			d.selection = s
		case "stickyKey":
			d.key = s
		case "required":
			d.required = isTrue(value)
		}
	})
	return nil
}

// route passes an event on.
func (s *Server) route(c *conn, f Frame) {
	p, err := s.readPlan(f)
	if err != nil {
		s.refuse(c, err.Error(), nil)
		s.drop(c, DroppedMalformed)
		return
	}
	bypass := p.bypass && !s.o.NoBypass && c.devtools()
	if p.delivery.consumed() && !bypass {
		s.consume(c, f, p.delivery)
		return
	}
	to := s.recipients(c, p, bypass)
	s.sendTo(to, f.Forward())
	s.add(Routed{Conn: c.id, Frame: f, To: len(to)})
}

// recipients are those who get an event that is no consumer's, in the order in which they
// connected. Its sender, which is nil for the host, never does.
func (s *Server) recipients(from *conn, p plan, bypass bool) (to []Conn) {
	for _, c := range s.order {
		switch {
		case c == from || !c.authenticated:
			continue
		case bypass:
		case !s.o.Policy.empty():
			if !s.allowed(c) {
				continue
			}
		case p.addressed && !s.matches(c, p.terms):
			continue
		}
		to = append(to, c.id)
	}
	return to
}

// allowed tells whether the policy lets a connection have what is routed.
func (s *Server) allowed(c *conn) bool {
	p := s.o.Policy
	plugin := func(list []string) bool { return s.compares(c, term{kind: termPlugin, any: list}) }
	switch {
	case len(p.AllowPlugins) > 0 && !plugin(p.AllowPlugins),
		len(p.DenyPlugins) > 0 && plugin(p.DenyPlugins),
		len(p.AllowLabels) > 0 && !c.labelled(p.AllowLabels),
		len(p.DenyLabels) > 0 && c.labelled(p.DenyLabels):
		return false
	}
	return true
}

// devtools tells who may pass by the routing: by what it says it is, or, in the elder
// generation, by its module's name.
func (c *conn) devtools() bool {
	return slices.ContainsFunc(c.faces(), Identity.devtools) || slices.ContainsFunc(c.modules, func(m *module) bool {
		return m.Generation == Modules && strings.Contains(m.Name, "devtools")
	})
}

// emit routes an event of the host's.
func (s *Server) emit(in Emit) {
	if in.Data == nil {
		in.Data = []byte("{}")
	}
	f := Frame{Type: in.Type, Data: in.Data, route: in.Route, hasRoute: in.Route != nil}
	p, err := s.readPlan(f)
	if err != nil {
		s.add(Dropped{Reason: DroppedMalformed})
		return
	}
	f.Event = superjson.Frame{Text: s.hostEvent(in), Wrapped: true}
	if p.delivery.consumed() {
		s.consume(nil, f, p.delivery)
		return
	}
	to := s.recipients(nil, p, false)
	s.sendTo(to, f.Forward())
	s.add(Routed{Frame: Frame{Type: in.Type, Data: in.Data}, To: len(to)})
}

// hostEvent is the frame of an event that the host routes.
func (s *Server) hostEvent(in Emit) []byte {
	frame := s.make(in.Type, in.Data, nil, nil)
	if in.Route == nil {
		return frame
	}
	frame = append(frame[:len(frame)-2], `,"route":`...)
	return append(append(frame, in.Route...), "}}"...)
}
