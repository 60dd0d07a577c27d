package actors

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/process"
)

// connector makes the connection to a plugin that is not compiled in. worker is
// the process behind it, or nil.
type connector func(ctx context.Context, who *handle, entry manifest.Entry) (conn transport.Conn, worker *process.Process, err error)

// openPeer connects to a module; a linked message follows.
func (s *session) openPeer(entry manifest.Entry) {
	ctx, cancel := context.WithTimeout(context.Background(), s.h.timeouts.Load)
	s.dialing = cancel
	go func() {
		defer cancel()
		var l link
		err := contain(func() (err error) {
			l, err = s.host.dial(ctx, s.h, s.dialect, entry)
			return err
		})
		s.host.logPanic(s.h, err)
		s.self.tell(linked{l, err})
	}()
}

// dial connects to a plugin and makes the peer over the connection.
func (h *Host) dial(ctx context.Context, who *handle, d protocol.Dialect, entry manifest.Entry) (link, error) {
	if d == nil {
		return nil, cannotRun(who, entry, slices.Sorted(maps.Keys(h.dialects))...)
	}
	conn, worker, err := h.connect(ctx, who, entry)
	if err != nil {
		return nil, err
	}
	p := newPeer(h, who, d, conn)
	p.worker = worker
	h.warnLimits(who, worker)
	p.listen()
	return p, nil
}

// warnLimits tells, once a start, which limits that were asked for the system does not
// hold a worker to, and why.
func (h *Host) warnLimits(who *handle, worker *process.Process) {
	if worker == nil {
		return
	}
	var missing []string
	for _, l := range worker.Containment().Limits {
		if !l.InForce {
			missing = append(missing, l.String())
		}
	}
	if len(missing) > 0 {
		h.log.Warn("the worker runs without limits that were asked for", who.attrs(), "limits", missing)
	}
}

// cannotRun is why a plugin is not started: its ecosystem's dialect is none of those
// spoken here, or nothing can be launched.
func cannotRun(who *handle, entry manifest.Entry, spoken ...string) error {
	what := entry.Path
	if what == "" {
		what = strings.Join(entry.Command, " ")
	}
	if len(spoken) > 0 {
		return fmt.Errorf("plugin %s: this host runs no %s plugins, so that nothing of it was started (%s): it runs those of %s",
			who.Plugin, who.man.Dialect, what, strings.Join(spoken, " and "))
	}
	return fmt.Errorf("plugin %s: this host cannot run %s plugins from a file (%s): only what is compiled in",
		who.Plugin, who.man.Dialect, what)
}

// startWorker is the connector that starts a worker process.
func (h *Host) startWorker(ctx context.Context, who *handle, entry manifest.Entry) (transport.Conn, *process.Process, error) {
	if h.launch == nil {
		return nil, nil, cannotRun(who, entry)
	}
	spec, err := h.launch(ctx, who.man, entry)
	if err != nil {
		return nil, nil, err
	}
	spec.Plugin = who.Plugin
	spec.Log = func(line process.LogLine) { h.logLine(who, line) }
	spec.Owner = h.mark
	spec.MaxRecord = h.maxRecord(spec.MaxRecord, who)
	worker, err := process.Start(spec)
	if err != nil {
		return nil, nil, err
	}
	return worker, worker, nil
}

// maxRecord is the largest frame of a plugin: as its manifest says, else as the host
// was told, else as its ecosystem has it; 0 leaves it to the transport.
func (h *Host) maxRecord(own int, who *handle) int {
	framing, ok := who.dialect.(protocol.Framing)
	switch {
	case own > 0:
		return own
	case who.bounds.limits.Frame > 0 || !ok:
		return who.bounds.limits.Frame
	default:
		return framing.MaxFrame()
	}
}
