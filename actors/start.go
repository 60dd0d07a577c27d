package actors

import (
	"context"
	"fmt"
	"sync"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// Load makes a session for a manifest and reads the plugin's code. It returns
// when that is done; a session whose load failed is returned with the error, and
// stays listed. A plugin that has a session already is refused.
func (h *Host) Load(ctx context.Context, m *manifest.Manifest, opts StartOptions) (SessionInfo, error) {
	who, loaded, err := h.begin(ctx, m, begin{runtime: opts.Runtime})
	if err != nil {
		return SessionInfo{}, err
	}
	return h.outcome(ctx, who, loaded)
}

// begin makes a session; the channel gets the outcome of its load. what.start, if any,
// is how the caller will take it to ready then.
func (h *Host) begin(ctx context.Context, m *manifest.Manifest, what begin) (*handle, <-chan error, error) {
	if what.runtime == "" {
		what.runtime = h.runtime
	}
	loaded := make(chan error, 1)
	if ctx.Err() != nil { // else there would be a session of which its caller knows nothing
		return nil, nil, context.Cause(ctx)
	}
	for {
		sup, err := h.supervisor(m, what.guest)
		if err != nil {
			return nil, nil, err
		}
		got, err := ask(ctx, sup, func(reply chan<- made) any {
			what.man, what.made, what.loaded = m, reply, loaded
			return what
		})
		if err == nil {
			err = got.err
		}
		if err != errGone { //nolint:errorlint // the value itself: the plugin was removed meanwhile
			return got.h, loaded, err
		}
	}
}

// outcome waits for what a session answers.
func (h *Host) outcome(ctx context.Context, who *handle, answer <-chan error) (SessionInfo, error) {
	select {
	case err := <-answer:
		return who.info(), err
	case <-ctx.Done():
		return who.info(), fmt.Errorf("plugin %s is still %s: %w", who.Plugin, who.phaseNow(), context.Cause(ctx))
	case <-who.self.gone:
	}
	select {
	case err := <-answer:
		return who.info(), err
	default:
		return who.info(), errStopped(who.Plugin)
	}
}

// Init takes a loaded session towards ready. It returns when the session is
// ready, or waits for its configuration, or has failed.
func (h *Host) Init(ctx context.Context, session string, opts StartOptions) (SessionInfo, error) {
	who, err := h.known(session, "Unable to initialize plugin session: %s")
	if err != nil {
		return SessionInfo{}, err
	}
	return h.request(ctx, who, func(reply chan<- error) any { return initialize{opts: opts, reply: reply} })
}

func (h *Host) request(ctx context.Context, who *handle, build func(chan<- error) any) (SessionInfo, error) {
	answer := make(chan error, 1)
	who.self.tell(build(answer))
	return h.outcome(ctx, who, answer)
}

// Start is Load and Init. A plugin that crashes on the way fails the start, and is
// started again by its supervisor (Options.Restart).
func (h *Host) Start(ctx context.Context, m *manifest.Manifest, opts StartOptions) (SessionInfo, error) {
	who, loaded, err := h.begin(ctx, m, begin{runtime: opts.Runtime, start: &opts})
	if err != nil {
		return SessionInfo{}, err
	}
	return h.finishStart(ctx, who, loaded, opts)
}

// Outcome is how one of several starts ended.
type Outcome struct {
	Manifest *manifest.Manifest
	Info     SessionInfo
	Err      error
}

// StartAll starts many plugins side by side; their sessions are numbered in the
// order given. options gives each its own; nil means the defaults. done is
// called once a plugin, as each start ends, from several goroutines; it may be
// nil. StartAll returns all outcomes, in the order given.
func (h *Host) StartAll(ctx context.Context, list []*manifest.Manifest, options func(*manifest.Manifest) StartOptions, done func(Outcome)) []Outcome {
	outcomes := make([]Outcome, len(list))
	var all sync.WaitGroup
	for i, m := range list {
		var opts StartOptions
		if options != nil {
			opts = options(m)
		}
		who, loaded, err := h.begin(ctx, m, begin{runtime: opts.Runtime, start: &opts})
		all.Go(func() {
			o := Outcome{Manifest: m, Err: err}
			if err == nil {
				o.Info, o.Err = h.finishStart(ctx, who, loaded, opts)
			}
			outcomes[i] = o
			if done != nil {
				done(o)
			}
		})
	}
	all.Wait()
	return outcomes
}

func (h *Host) finishStart(ctx context.Context, who *handle, loaded <-chan error, opts StartOptions) (SessionInfo, error) {
	answer := make(chan error, 1)
	who.self.tell(initialize{opts: opts, reply: answer, starts: true})
	if info, err := h.outcome(ctx, who, loaded); err != nil {
		return info, err
	}
	return h.outcome(ctx, who, answer)
}

// Stop ends a session in good order: its stop hook, its capabilities, its
// process; or cancels its restart, if it has crashed. It returns when nothing of
// the plugin runs any more. A session that is not there is no error.
func (h *Host) Stop(ctx context.Context, session string) (SessionInfo, error) {
	who := h.find(session)
	if who == nil {
		return SessionInfo{}, nil
	}
	info, err := h.request(ctx, who, func(reply chan<- error) any { return stop{reply} })
	if err != nil && protocol.CodeOf(err) != protocol.CodeCancelled { // it may have ended while we asked
		return info, err
	}
	// The supervisor knows of the end by now, and whether another session had just
	// taken the place of this one.
	heir, gone := ask(ctx, who.sup, func(reply chan<- made) any { return heirOf{who.Session, reply} })
	switch {
	case gone != nil:
	case heir.err != nil:
		return info, heir.err
	case heir.h != nil:
		return h.Stop(ctx, heir.h.Session)
	}
	return who.info(), nil
}

// Reload stops a session and starts its manifest again, as a new session. A guest's is
// refused, and goes on.
func (h *Host) Reload(ctx context.Context, session string, opts StartOptions) (SessionInfo, error) {
	who, err := h.known(session, "Unable to reload missing plugin session: %s")
	if err != nil {
		return SessionInfo{}, err
	}
	if who.guest != nil {
		return who.info(), failure(protocol.CodeInvalid, who.Plugin, "plugin "+who.Plugin+" is a guest, which the host cannot start: stop it, and it may come again")
	}
	if info, err := h.Stop(ctx, session); err != nil {
		return info, err
	}
	return h.Start(ctx, who.man, opts)
}

// ApplyConfiguration gives a session its configuration. It returns when the
// session is ready with it, or has failed.
func (h *Host) ApplyConfiguration(ctx context.Context, session string, c protocol.Config) (SessionInfo, error) {
	who, err := h.known(session, "Unable to configure plugin session: %s")
	if err != nil {
		return SessionInfo{}, err
	}
	return h.request(ctx, who, func(reply chan<- error) any { return configure{c, reply, false} })
}

// MarkConfigurationNeeded sends a session back to configuration-needed: until it
// gets one, nothing of it can be called.
func (h *Host) MarkConfigurationNeeded(ctx context.Context, session, reason string) (SessionInfo, error) {
	who, err := h.known(session, "Unable to update plugin session: %s")
	if err != nil {
		return SessionInfo{}, err
	}
	return h.request(ctx, who, func(reply chan<- error) any { return needConfiguration{reason, reply} })
}
