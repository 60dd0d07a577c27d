package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

// service tells a service manager, systemd, how the host stands, where there is one: a
// unit with Type=notify, or notify-reload. A nil service tells nobody.
type service struct {
	log *slog.Logger
	// states wait to be sent; what does not fit is left out, since only the last one counts.
	states chan string
	// watchdog is how often the manager wants to hear that the host lives; 0 for never.
	watchdog time.Duration
	// over is closed by end; leaving tells that the host stops.
	over    <-chan struct{}
	end     context.CancelFunc
	leaving atomic.Bool
	// up tells that it was told that the host serves.
	up      atomic.Bool
	working sync.WaitGroup
}

const (
	// statusPause is the least time between two lines about how many plugins are ready.
	statusPause = time.Second
	// serviceTime is how long the manager may take to be told of the end.
	serviceTime = time.Second
)

// newService returns nil where nobody waits to be told anything. Its close must follow.
func newService(log *slog.Logger) *service {
	watchdog, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the watchdog of the service manager is not fed", "error", err)
	}
	told, err := daemon.SdNotify(false, "STATUS=reading manifests")
	if err != nil {
		log.Warn("the service manager is not told how the host stands", "error", err)
	}
	if !told {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &service{log: log, states: make(chan string, 16), watchdog: watchdog, over: ctx.Done(), end: cancel}
	s.working.Go(s.send)
	return s
}

// send sends states one after the other, until it is over and none waits.
func (s *service) send() {
	for {
		select {
		case state := <-s.states:
			s.deliver(state)
		case <-s.over:
			for {
				select {
				case state := <-s.states:
					s.deliver(state)
				default:
					return
				}
			}
		}
	}
}

func (s *service) deliver(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		s.log.Debug("the service manager was not told something", "state", state, "error", err)
	}
}

func (s *service) tell(state string) {
	if s == nil {
		return
	}
	select {
	case s.states <- state:
	default:
	}
}

// starting asks for the time that the start of plugins may take, beyond what the unit has.
func (s *service) starting(limit, margin time.Duration) {
	s.tell(fmt.Sprintf("STATUS=starting plugins\nEXTEND_TIMEOUT_USEC=%d", (limit + margin).Microseconds()))
}

// serving tells that the host serves, from then on how many of so many plugins are ready,
// and that it lives, as long as that is so.
func (s *service) serving(host *actors.Host, plugins int) {
	if s == nil {
		return
	}
	s.tell(daemon.SdNotifyReady + "\n" + statusOf(host, plugins))
	s.up.Store(true)
	changes := host.Subscribe(actors.KindPhase, 1)
	s.working.Go(func() { s.follow(host, plugins, changes) })
	if s.watchdog > 0 {
		ended := host.Subscribe(0, 1) // closed by the host's end
		s.working.Go(func() { s.feed(host, ended) })
	}
}

func statusOf(host *actors.Host, plugins int) string {
	ready := 0
	for _, one := range host.Sessions() {
		if one.Instance == "" && (one.Phase == lifecycle.Ready || one.Phase == lifecycle.Degraded) {
			ready++
		}
	}
	return fmt.Sprintf("STATUS=%d of %d plugins ready", ready, plugins)
}

// follow tells how many plugins are ready, whenever that changes, until the host ends.
func (s *service) follow(host *actors.Host, plugins int, changes *actors.Subscription) {
	last := ""
	for range changes.C {
		if now := statusOf(host, plugins); now != last && !s.leaving.Load() {
			s.tell(now)
			last = now
		}
		select {
		case <-time.After(statusPause):
		case <-s.over:
		}
	}
}

// feed tells that the host lives, whenever it does in truth, until it ends.
func (s *service) feed(host *actors.Host, ended *actors.Subscription) {
	every := time.NewTicker(s.watchdog / 3)
	defer every.Stop()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), s.watchdog/3)
		err := host.Probe(ctx)
		cancel()
		if err == nil || errors.Is(err, actors.ErrShutdown) {
			s.tell(daemon.SdNotifyWatchdog)
		} else {
			s.log.Error("the host does not answer itself: the service manager is not told that it lives", "error", err)
		}
		select {
		case <-every.C:
		case <-ended.C:
			return
		}
	}
}

// stopping tells that the host stops, within the drain time and what follows it.
func (s *service) stopping(drain, after time.Duration) {
	if s == nil {
		return
	}
	s.leaving.Store(true)
	s.tell(fmt.Sprintf("%s\nSTATUS=stopping plugins\nEXTEND_TIMEOUT_USEC=%d", daemon.SdNotifyStopping, (drain + after + stopMargin).Microseconds()))
}

// stopMargin is what the end of a host may take beyond the drain time and the ends of its
// parts: what is killed has to go, and the store is closed.
const stopMargin = 6 * time.Second

// reloading tells that the settings are read anew while something does so.
func (s *service) reloading(do func()) {
	if s == nil || !s.up.Load() || s.leaving.Load() {
		do()
		return
	}
	s.tell(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
	do()
	s.tell(daemon.SdNotifyReady)
}

// close sends what waits, once the host has ended.
func (s *service) close() {
	if s == nil {
		return
	}
	s.end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.working.Wait()
	}()
	late := time.NewTimer(serviceTime)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}
