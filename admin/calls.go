package admin

import "github.com/airi-host/airi-host/actors"

// followUnkept gives a feed what happens of some kinds from now on, as far as it is wanted,
// until stop. It is not kept for who asks later: telling of each call and of each item of a
// stream costs something, so it is done only while somebody follows them.
func (s *Server) followUnkept(kinds actors.Kind, f *feed, wants func(actors.Event) bool) (stop func()) {
	sub, done := s.host.Subscribe(kinds, 0), make(chan struct{})
	go func() {
		defer close(done)
		inTurns(sub, func(list []actors.Event, lost uint64) (followers int) {
			if lost > 0 {
				f.lose(lost)
			}
			for _, e := range list {
				if !wants(e) {
					continue
				}
				if text, err := actors.EncodeEvent(e); err == nil {
					f.put(func() []byte { return text })
				}
			}
			return 1
		})
	}()
	return func() {
		sub.Close()
		<-done
	}
}
