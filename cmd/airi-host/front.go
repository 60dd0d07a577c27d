package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/admin"
)

// front is where a running host is asked: its control socket, and HTTP.
type front struct {
	dir     string
	control *steadyControl
	http    net.Listener
	server  *admin.Server
	// listen is what http listens by, guards has who may ask there, which may change.
	listen listenOptions
	guards atomic.Pointer[admin.Guard]
	// drain is how long those that are asking may take once the host has ended.
	drain time.Duration
	// reloader changes settings; nil for a host that is asked once.
	reloader *reloader
}

// frontDrain is how long those that are asking may take once the host has ended, unless the
// settings say otherwise.
const frontDrain = time.Second

// openFront opens the sockets of a host that serves, before anything is started, the code
// of manifests too. One that is asked once has only those that it was told of. Its close
// must follow.
func (c *cli) openFront(ctx context.Context, st *state, opts runOptions) (*front, error) {
	log, err := c.logger()
	if err != nil {
		return nil, err
	}
	f := &front{listen: opts.listen, drain: c.settings.ends().front}
	f.guards.Store(&admin.Guard{})
	if !opts.once || !st.temporary {
		dir, err := st.path()
		if err != nil {
			return nil, err
		}
		f.dir = dir
		socket, err := listenControl(ctx, dir)
		if err != nil {
			return nil, err
		}
		f.control = keepControl(dir, socket, controlLook, log)
	}
	if !opts.once || opts.listen.was(flagListen) {
		var guard admin.Guard
		if f.http, guard, err = opts.listen.listenHTTP(ctx, log); err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.guards.Store(&guard)
	}
	return f, f.begin(c)
}

// begin lets the host be asked whether it lives, over HTTP. Who asks through the socket
// waits for an answer until it knows its plugins.
func (f *front) begin(c *cli) error {
	if f.control == nil && f.http == nil {
		return nil
	}
	log, err := c.logger()
	if err != nil {
		return errors.Join(err, f.close())
	}
	c.metrics = admin.NewMetrics()
	f.server = admin.Starting(c.settings.api(), log)
	if f.http != nil {
		f.server.Serve(f.http, admin.Guard{Current: func() admin.Guard { return *f.guards.Load() }})
	}
	return nil
}

// serve lets the host be asked.
func (f *front) serve(c *cli, h *house, st *state) {
	if c.metrics == nil {
		return
	}
	o := admin.Options{
		Version: version(), State: f.dir, Roster: h.roster.list, Metrics: c.metrics, Log: h.log, Endpoints: c.settings.endpoints(),
		Start: func(ctx context.Context, plugin string) (actors.SessionInfo, error) {
			return h.start(ctx, plugin)
		},
		Reload: func(ctx context.Context, plugin, _ string) (actors.SessionInfo, error) {
			return h.reload(ctx, plugin)
		},
	}
	if h.kept != nil {
		o.LogFiles = h.kept
	}
	var configs *configuration.Configurator
	if st.db != nil {
		configs = h.configurator(st.db)
	}
	if h.gateway = f.openGateway(c, h, configs); h.gateway != nil { // else the interface would hold a nil pointer
		o.Websockets = h.gateway
	}
	countStore(c.metrics, st.db)
	countJobs(c.metrics, h.jobs)
	if st.db != nil {
		o.Configurations, o.Forget = configuring{forAll{configs, h}, st.trail}, h.forget(configs, st, c.logRemover(h.kept, st))
		f.reloader = newReloader(c, h, f, configs)
		o.ReloadSettings = f.reloader.reload
		o.Granting, o.Ordered, o.Attached = approvals{h, &st.grants}, st.ordered, st.attached
		o.Audit, o.AuditCounts = st.searchAudit, st.auditCounts
		o.Jobs = newJobList(h, st.db).list
		o.Disabled = st.disabled.has
		o.SetDisabled = func(ctx context.Context, plugin string, is bool) error {
			return st.disabled.set(ctx, st.db, plugin, is)
		}
	}
	f.server.Run(h.Host, o)
	if f.control != nil {
		f.server.Serve(f.control, admin.Guard{})
	}
}

// guardOf says who may ask over HTTP by settings, where it listens already.
func (f *front) guardOf(s *settings) (admin.Guard, error) {
	if f.http == nil {
		return admin.Guard{}, nil
	}
	o := f.listen
	o.Token, o.Origins, o.Hosts = s.Listen.Token, s.Listen.Origins, s.Listen.Hosts
	return o.guard()
}

// tell tells where the host can be asked over HTTP.
func (f *front) tell(c *cli) {
	if f.http == nil {
		return
	}
	if c.json() {
		c.encode(listeningLine{"listening", f.http.Addr().String(), f.dir})
	}
	scheme := "http"
	if f.listen.TLS.Cert != "" {
		scheme = "https"
	}
	c.say("listening on %s://%s", scheme, f.http.Addr())
}

type listeningLine struct {
	Event   string `json:"event"`
	Address string `json:"address"`
	State   string `json:"state,omitempty"`
}

// close lets those who ask end, after the host has. It may be called again.
func (f *front) close() error {
	var errs []error
	if f.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), f.drain)
		defer cancel()
		errs = append(errs, f.server.Shutdown(ctx))
	}
	for _, l := range f.listeners() {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, fmt.Errorf("closing %s: %w", l.Addr(), err))
		}
	}
	return errors.Join(errs...)
}

func (f *front) listeners() (list []net.Listener) {
	if f.control != nil {
		list = append(list, f.control)
	}
	if f.http != nil {
		list = append(list, f.http)
	}
	return list
}
