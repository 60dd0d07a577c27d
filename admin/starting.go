package admin

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// Starting makes a server for a host that is still to be made: one that has yet to read
// its manifests, which may take long. It can serve at once. Until Run it says that it lives
// (/healthz) and is not ready (/readyz), and answers everything else as not ready. Call
// Shutdown when done, also without Run.
func Starting(limits Limits, log *slog.Logger) *Server {
	s := &Server{limits: limits.withDefaults(), log: log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.requests = make(chan struct{}, s.limits.Requests)
	s.followers.limits, s.followers.feeds = s.limits, map[*feed]bool{}
	s.alive, s.end = context.WithCancel(context.Background())
	s.attends, s.detach = context.WithCancel(context.Background())
	s.admits, s.expel = context.WithCancel(context.Background())
	return s
}

// handler answers who is let in by a guard, as far as there is a host.
func (s *Server) handler(g Guard) http.Handler {
	before := g.around(s.answering(s.getStarting))
	after := sync.OnceValue(func() http.Handler { return s.endpoints.before(g, g.around(s.bounded(s.mux))) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.running.Load():
			before.ServeHTTP(w, r)
		case s.upgrades(g, r):
			s.opts.Websockets.ServeHTTP(leaver{w}, r)
		case g.isOpenToAll():
			after().ServeHTTP(w, r)
		default:
			after().ServeHTTP(w, s.admit(r))
		}
	})
}

// getStarting answers while there is no host.
func (s *Server) getStarting(w http.ResponseWriter, r *http.Request) error {
	switch {
	case r.Method != http.MethodGet:
	case r.URL.Path == pathHealth:
		return s.getHealth(w, r)
	case r.URL.Path == pathReady:
		return answer(w, http.StatusServiceUnavailable, Readiness{Starting: true})
	}
	return &protocol.Error{
		Code: protocol.CodeNotReady, Message: "the host is starting: it reads its plugins' manifests; try again in a moment",
	}
}

// Run gives a server that was starting its host, whose events it keeps from now on. It is
// called once. The limits and the log are those that Starting was given.
func (s *Server) Run(host *actors.Host, opts Options) {
	s.host, s.opts = host, opts
	s.begin()
	s.running.Store(true)
}
