package plugin

import "context"

// Health asks the plugin how it is, by its OnHealth; ok is false where it has none. It is for
// ends of other wires than this package's, as plugin/ws is one.
func (s *Session) Health(ctx context.Context) (h Health, ok bool, err error) {
	if s.definition.health == nil {
		return Health{}, false, nil
	}
	h, err = s.definition.health(s.within(ctx), s)
	return h, true, err
}

// Hearers are the keys of what the plugin offers that hears an event, in the order in which
// they were offered: "event:NAME", and each "event:PREFIX.*" that the name fits.
func (s *Session) Hearers(event string) []string { return s.hearers(event) }

// HasHandler tells whether the plugin offers a key, now.
func (s *Session) HasHandler(key string) bool { return s.handler(key) != nil }
