package admin

import "github.com/airi-host/airi-host/actors"

// followCalls gives a feed all calls that end from now on, until stop. They are not kept
// for who asks later: telling of each one costs something, so it is done only while
// somebody follows them.
func (s *Server) followCalls(f *feed) (stop func()) {
	sub, done := s.host.Subscribe(actors.KindCall, 0), make(chan struct{})
	go func() {
		defer close(done)
		inTurns(sub, func(list []actors.Event, lost uint64) (followers int) {
			if lost > 0 {
				f.lose(lost)
			}
			for _, e := range list {
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
