package server

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// groupKey is what consumers register for.
type groupKey struct{ event, group string }

// group is those who have registered for one thing.
type group struct {
	// members are in the order of their choice: by priority, then by time.
	members []consumer
	// cursor is whose turn it is; it starts anew when somebody comes or goes.
	cursor int
	// sticky is whom a key belongs to, who may have gone; keys are in the order in which
	// they came.
	sticky map[string]Conn
	keys   []string
}

type consumer struct {
	conn     *conn
	priority float64
	entered  uint64
}

// registration reads what somebody registers for, or no more; false if it is wrong, and
// its sender has been told.
func (s *Server) registration(c *conn, f Frame) (key groupKey, priority float64, ok bool) {
	parts := members(f.Plain(), "event", "mode", "group", "priority")
	event, _ := text(parts[0])
	if event == "" {
		s.refuse(c, "the field 'event' must be a non-empty string for event consumer registration", f.id)
		return key, 0, false
	}
	mode, _ := text(parts[1])
	group, _ := text(parts[2])
	if mode == "" && group != "" {
		mode = modeGroup
	}
	key = groupKey{event, groupOf(mode, group)}
	if limit := s.o.Limits.Text; len(event) > limit || len(key.group) > limit {
		s.refuse(c, fmt.Sprintf("the fields 'event' and 'group' have more than %d bytes for event consumer registration", limit), f.id)
		s.drop(c, DroppedLimit)
		return key, 0, false
	}
	priority, _ = number(parts[3])
	if math.IsInf(priority, 0) || math.IsNaN(priority) {
		priority = 0
	}
	return key, priority, true
}

// groupOf is the name of the group that a mode means.
func groupOf(mode, group string) string {
	if mode != modeGroup || group == "" {
		return defaultGroup
	}
	return group
}

func (s *Server) register(c *conn, f Frame) {
	key, priority, ok := s.registration(c, f)
	if !ok {
		return
	}
	if !c.consumers[key] && len(c.consumers) >= s.o.Limits.Consumers {
		s.refuse(c, fmt.Sprintf("this connection has registered for %d events, the limit", len(c.consumers)), f.id)
		s.drop(c, DroppedLimit)
		return
	}
	g := s.groups[key]
	if g == nil {
		g = &group{sticky: make(map[string]Conn)}
		s.groups[key] = g
	}
	if c.consumers[key] {
		g.remove(c)
	} else {
		if c.consumers == nil {
			c.consumers = make(map[groupKey]bool)
		}
		c.consumers[key] = true
		g.cursor = 0
	}
	s.entered++
	g.members = append(g.members, consumer{c, priority, s.entered})
	slices.SortFunc(g.members, func(a, b consumer) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.entered, b.entered))
	})
}

func (s *Server) unregister(c *conn, f Frame) {
	if key, _, ok := s.registration(c, f); ok && c.consumers[key] {
		delete(c.consumers, key)
		s.leaveGroup(c, key)
	}
}

func (s *Server) leaveGroup(c *conn, key groupKey) {
	g := s.groups[key]
	if g == nil {
		return
	}
	g.remove(c)
	g.cursor = 0
	if len(g.members) == 0 {
		delete(s.groups, key)
	}
}

func (g *group) remove(c *conn) {
	g.members = slices.DeleteFunc(g.members, func(m consumer) bool { return m.conn == c })
}

// consume hands an event to exactly one of those who have registered for it.
func (s *Server) consume(from *conn, f Frame, d delivery) {
	to := s.consumer(from, f.Type, d)
	var sender Conn
	if from != nil {
		sender = from.id
	}
	if to == nil {
		if d.required && from != nil {
			s.refuse(from, "no consumer registered for requested event delivery", f.id)
		}
		s.add(Dropped{sender, DroppedNoConsumer})
		return
	}
	s.sendTo([]Conn{to.id}, f.Forward())
	s.add(Routed{Conn: sender, Frame: f, To: 1, Consumed: true})
}

// consumer chooses whose turn it is; nil if there is nobody.
func (s *Server) consumer(from *conn, event string, d delivery) *conn {
	g := s.groups[groupKey{event, groupOf(d.mode, d.group)}]
	if g == nil {
		return nil
	}
	var able []*conn
	for _, m := range g.members {
		if m.conn != from && m.conn.authenticated && !m.conn.late {
			able = append(able, m.conn)
		}
	}
	if len(able) == 0 {
		return nil
	}
	switch {
	case d.selection == "round-robin":
		chosen := able[g.cursor%len(able)]
		g.cursor = (g.cursor + 1) % len(able)
		return chosen
	case d.selection == "sticky" && d.key != "":
		return g.stick(d.key, able, s.o.Limits)
	}
	return able[0]
}

// stick is who has a key: whoever had it, while it can be reached. A key that is too long
// to be remembered is nobody's.
func (g *group) stick(key string, able []*conn, l Limits) *conn {
	if len(key) > l.Text {
		return able[0]
	}
	had, known := g.sticky[key]
	if i := slices.IndexFunc(able, func(c *conn) bool { return c.id == had }); i >= 0 {
		return able[i]
	}
	if !known {
		if len(g.keys) >= l.Sticky {
			delete(g.sticky, g.keys[0])
			g.keys = slices.Delete(g.keys, 0, 1)
		}
		g.keys = append(g.keys, key)
	}
	g.sticky[key] = able[0].id
	return able[0]
}
