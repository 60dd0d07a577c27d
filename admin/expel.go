package admin

import (
	"context"
	"net/http"
)

// admission is the key of what a request was let in by: a context that ends when that holds
// no longer.
type admission struct{}

// Expel ends what stays open of those who were let in by a guard: who follows, and who is attached.
// It is to be called when what they were let in by holds no longer; who may can come again.
// The control socket's are not among them.
func (s *Server) Expel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expel()
	s.admits, s.expel = context.WithCancel(context.Background())
}

// admit has a request know what it is let in by. It comes before the guard, so that nobody
// passes it by what has ended meanwhile.
func (s *Server) admit(r *http.Request) *http.Request {
	s.mu.Lock()
	admits := s.admits
	s.mu.Unlock()
	return r.WithContext(context.WithValue(r.Context(), admission{}, admits))
}

// admitted is what a request was let in by, which does not end for the control socket's.
func admitted(r *http.Request) context.Context {
	if admits, ok := r.Context().Value(admission{}).(context.Context); ok {
		return admits
	}
	return context.Background()
}
