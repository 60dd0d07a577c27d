package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// Options are what a server knows beside its host. The zero value works.
type Options struct {
	// Version is the host's, "" means "dev"; State its state directory, "" for none.
	Version, State string
	// Plugins are the names of those that the host is to run, in the order in which
	// they are listed. Readiness is theirs. Others that run are listed behind them.
	Plugins []string
	// Roster returns the Plugins where they change while the host runs; nil for those above.
	Roster func() []string
	// Start starts one of the Plugins, as Host.Start does; nil refuses.
	Start func(ctx context.Context, plugin string) (actors.SessionInfo, error)
	// Reload starts the plugin of a session anew, as Host.Reload does; nil refuses.
	Reload func(ctx context.Context, plugin, session string) (actors.SessionInfo, error)
	// Disabled tells whether one of the Plugins is not to be started, which is not awaited
	// then; nil means that none is. SetDisabled changes that for good; nil refuses.
	Disabled    func(plugin string) bool
	SetDisabled func(ctx context.Context, plugin string, disabled bool) error
	// ReloadSettings reads the host's settings again; nil refuses.
	ReloadSettings func(context.Context) (SettingsReload, error)
	// Configurations can be looked at and changed; nil for none.
	Configurations Configurations
	// LogFiles are where plugins' logs are kept; nil for nowhere.
	LogFiles LogFiles
	// Forget removes what is kept of a plugin or for a company, the other of the two being
	// "", and fails where it is in use; nil refuses.
	Forget func(ctx context.Context, plugin, company string) (Forgotten, error)
	// Granting decides what plugins are permitted; nil where nobody does.
	Granting Granting
	// Audit searches audit records, and AuditCounts counts what became of them; nil where
	// none are kept. Ordered is told of every command that a plugin was given, and how it
	// ended; nil for nobody.
	Audit       func(ctx context.Context, s AuditSearch) ([]AuditRecord, error)
	AuditCounts func() AuditCounts
	Ordered     func(command, plugin string, err error)
	// Attached is told of everybody who was attached to a terminal or a channel of a plugin
	// for a tenant, "" being the default, or was refused that with an error; nil for nobody.
	Attached func(kind protocol.RouteKind, plugin, scope string, err error)
	// Jobs lists the jobs of a plugin, "" being all, with so many of their last runs; nil
	// for a host that remembers none.
	Jobs func(ctx context.Context, plugin string, runs int) ([]Job, error)
	// Websockets are AIRI's peers, which connect at /ws; nil for a host that serves none.
	Websockets Websockets
	// Metrics are served as /metrics; nil for none.
	Metrics *Metrics
	// Log is told what goes wrong; nil discards it.
	Log *slog.Logger
	// Limits bound what callers can make the server hold.
	Limits Limits
	// Endpoints bound what is asked of plugins.
	Endpoints Endpoints
}

// Limits bound what those who ask can make the server hold. Zero means the default.
type Limits struct {
	// Requests is how many requests are answered at a time, followers among them; the
	// next is refused as overloaded: 256. Followers is how many may follow: 64.
	Requests, Followers int
	// Connections is how many there may be at one listener: 512. The next takes the place
	// of the one that has been waited for longest, for a request, the rest of one, or its
	// body; where all requests are there, it waits.
	Connections int
	// FollowLines is how many lines may wait for one follower, FollowBytes how many
	// bytes they may have, beside one line: 4096 and 1 MiB.
	FollowLines, FollowBytes int
	// LogBytes is how many bytes of the end of logs are shown at once, beside one line: 4 MiB.
	// How many lines before them were asked for is told.
	LogBytes int
	// History is how many events are kept for who asks later: 1000.
	History int
	// Body is the largest body of a call, in bytes: 64 MiB.
	Body int64
	// Command bounds a start, a stop and a reload: 2 min.
	Command time.Duration
	// HeaderBytes is how long the header of a request may be: 16 KiB.
	HeaderBytes int
	// HeaderTime is how long that may take to come, BodyTime the body, and
	// AnswerTime is how long one who asks may take to read what they are answered at once:
	// 5 s, 30 s, 30 s. IdleTime is how long a connection is kept for the next request: 1 min.
	HeaderTime, BodyTime, AnswerTime, IdleTime time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Requests: cmp.Or(max(l.Requests, 0), 256), Followers: cmp.Or(max(l.Followers, 0), 64),
		Connections: cmp.Or(max(l.Connections, 0), 512),
		FollowLines: cmp.Or(max(l.FollowLines, 0), 4096), FollowBytes: cmp.Or(max(l.FollowBytes, 0), 1<<20),
		LogBytes: cmp.Or(max(l.LogBytes, 0), 4<<20),
		History:  cmp.Or(max(l.History, 0), 1000), Body: cmp.Or(max(l.Body, 0), 64<<20),
		Command:     cmp.Or(max(l.Command, 0), 2*time.Minute),
		HeaderBytes: cmp.Or(max(l.HeaderBytes, 0), 16<<10), HeaderTime: cmp.Or(max(l.HeaderTime, 0), 5*time.Second),
		BodyTime: cmp.Or(max(l.BodyTime, 0), 30*time.Second), AnswerTime: cmp.Or(max(l.AnswerTime, 0), 30*time.Second),
		IdleTime: cmp.Or(max(l.IdleTime, 0), time.Minute),
	}
}

// Server answers questions about one host, and passes on commands. All its methods may
// be called from any goroutine.
type Server struct {
	host    *actors.Host
	opts    Options
	limits  Limits
	log     *slog.Logger
	began   time.Time
	history *history
	byHand  stoppedByHand
	mux     http.Handler
	// requests is taken by those that are answered.
	requests  chan struct{}
	followers followers
	talk      talk
	endpoints *endpoints

	// running tells that there is a host: what belongs to it is set by then.
	running atomic.Bool

	// alive ends when followers are to go.
	alive context.Context
	end   context.CancelFunc
	// attends ends when those who are attached are broken off.
	attends context.Context
	detach  context.CancelFunc

	mu sync.Mutex
	// admits ends with what those who stay were let in by, a guard's listeners.
	admits  context.Context
	expel   context.CancelFunc
	servers []*http.Server
	limited []*limited
	down    bool
	serving sync.WaitGroup
	// pushed counts connections that were waited for, and made room for others.
	pushed atomic.Uint64
}

// New makes a server, which keeps the host's events from now on. Call Shutdown when
// done.
func New(host *actors.Host, opts Options) *Server {
	s := Starting(opts.Limits, opts.Log)
	s.Run(host, opts)
	return s
}

// begin makes what a server needs for its host.
func (s *Server) begin() {
	s.began = time.Now()
	s.opts.Version = cmp.Or(s.opts.Version, "dev")
	s.talk.host, s.talk.listeners = s.host, map[*feed]*listener{}
	s.history = newHistory(s.host, s.limits.History)
	s.mux = s.routes()
	s.endpoints = newEndpoints(s, s.opts.Endpoints)
	if s.opts.Metrics != nil {
		s.opts.Metrics.watch(s)
	}
}

// Serve answers who connects to the listener, as far as the guard lets them, until
// Shutdown. It returns at once; the listener is the server's from now on.
func (s *Server) Serve(l net.Listener, g Guard) {
	server := &http.Server{
		Handler:           working(s.contained(s.handler(g))),
		ReadHeaderTimeout: s.limits.HeaderTime,
		IdleTimeout:       s.limits.IdleTime,
		MaxHeaderBytes:    s.limits.HeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return s.alive },
		ConnContext:       withConnection,
		ConnState:         follow,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		_ = l.Close() // nobody is to connect
		return
	}
	bounded := limit(l, s.limits.Connections, &s.pushed)
	s.servers, s.limited = append(s.servers, server), append(s.limited, bounded)
	s.serving.Go(func() {
		if err := server.Serve(bounded); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the control API has stopped listening", "address", l.Addr().String(), "error", err)
		}
	})
}

// Shutdown takes no more requests, tells followers that it is over, and lets requests in
// flight end until ctx does; those that are left then are broken off. It is to be called
// after the host's own, whose end followers are then told.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.down = true
	servers := s.servers
	s.servers = nil
	s.mu.Unlock()
	if s.running.Load() {
		s.history.close()
	}
	s.followers.end()
	var errs []error
	var all sync.WaitGroup
	for _, one := range servers {
		all.Go(func() {
			if err := one.Shutdown(ctx); err != nil {
				s.end()
				err = one.Close()
				s.mu.Lock()
				errs = append(errs, err)
				s.mu.Unlock()
			}
		})
	}
	all.Wait()
	s.end()
	broken := context.AfterFunc(ctx, s.detach) // those who are attached are told why, if they take it
	s.serving.Wait()
	broken()
	s.detach()
	s.talk.pumping.Wait()
	return errors.Join(errs...)
}

// contained keeps a panic from breaking off a connection without a word.
func (s *Server) contained(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			caught := recover()
			if caught == nil {
				return
			}
			if caught == http.ErrAbortHandler { //nolint:errorlint // the value itself is what net/http asks for
				panic(caught)
			}
			s.log.Error("the control API panicked", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(caught), "stack", string(debug.Stack()))
			answerFailure(w, Failure{Code: codeInternal, Message: "the host's control API panicked; its log says where"})
		}()
		bodyBy(w, r, time.Now().Add(s.limits.BodyTime)) // whoever reads it, or nobody but the server
		next.ServeHTTP(&paced{w, s.limits.AnswerTime}, r)
	})
}

// bounded answers so many requests at a time. Whoever only asks whether the host lives
// is always answered.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != pathHealth {
			if !s.enter(r.Context(), s.requests, ofAPI) {
				answerFailure(w, Failure{Code: codeOverloaded, Message: fmt.Sprintf(
					"%d requests are being answered, the limit: try again later", s.limits.Requests)})
				return
			}
			defer func() { <-s.requests }()
			placed(r, placeAPI)
		}
		next.ServeHTTP(w, r)
	})
}

// placeAPI is the place of a request to the API; all others are plugins', by their names.
const placeAPI = "/"

func ofAPI(place string) bool { return place == placeAPI }

// HostInfo says who answers.
type HostInfo struct {
	// ID names the host among others.
	ID      string `json:"id"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
	// State is its state directory, "" if it has none.
	State   string    `json:"state,omitempty"`
	Started time.Time `json:"started"`
}

func (s *Server) info() HostInfo {
	return HostInfo{ID: s.host.ID(), Version: s.opts.Version, PID: os.Getpid(), State: s.opts.State, Started: s.began}
}
