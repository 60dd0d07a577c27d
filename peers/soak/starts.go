package main

import (
	"context"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// opTime is how long a start, a stop or a reload may take.
const opTime = 2 * time.Minute

// operate asks for a start, a stop or a reload. It may fail, because others do the
// same, or because the worker is killed meanwhile; it must not take for ever.
func (k *soak) operate(p *plugin, what string, do func(context.Context) (actors.SessionInfo, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), opTime)
	defer cancel()
	began := time.Now()
	_, err := do(ctx)
	k.book.took(what, time.Since(began))
	switch class := classOf(err); {
	case ctx.Err() != nil:
		k.book.fault("a %s of plugin %s has not ended within %s: %w", what, p.name, opTime, err)
	case class == string(protocol.CodeInternal):
		k.book.fault("a %s of plugin %s: %w", what, p.name, err)
	case err != nil:
		k.book.count("workers", what+"s refused")
		k.book.note("%s: no %s: %s", p.name, what, err)
	default:
		k.book.count("workers", what+"s")
	}
	return err
}

func (t *torture) start() {
	_ = t.operate(t.p, "start", func(ctx context.Context) (actors.SessionInfo, error) {
		return t.host.Start(ctx, t.p.man, actors.StartOptions{})
	})
}

func (t *torture) stop(session string) {
	_ = t.operate(t.p, "stop", func(ctx context.Context) (actors.SessionInfo, error) { return t.host.Stop(ctx, session) })
}

func (t *torture) reload(session string) {
	_ = t.operate(t.p, "reload", func(ctx context.Context) (actors.SessionInfo, error) {
		return t.host.Reload(ctx, session, actors.StartOptions{})
	})
}

func (t *torture) startIt() { t.start() }

// stopIt mostly starts it again; else it is down until somebody else does.
func (t *torture) stopIt() {
	info, err := t.host.Inspect(t.p.name)
	if err != nil {
		t.start()
		return
	}
	t.stop(info.ID)
	if t.rng.IntN(4) > 0 {
		t.start()
	}
}

func (t *torture) reloadIt() {
	info, err := t.host.Inspect(t.p.name)
	if err != nil {
		t.start()
		return
	}
	t.reload(info.ID)
}

// revive waits until the plugin is ready and answers; what is down by somebody's wish
// is started, and what is up and mute, for its output is closed and somebody holds
// it, is reloaded.
func (k *soak) revive(ctx context.Context, p *plugin) error {
	t := &torture{soak: k, p: p}
	for ctx.Err() == nil {
		info, err := k.host.Inspect(p.name)
		switch {
		case err != nil:
			t.start()
		case info.Phase == lifecycle.Ready:
			class, err := k.echo(ctx, "calm", p, text{2, "still there?"}, shortly, true)
			if err == nil {
				return nil
			}
			k.want("an echo in the calm", p, class, err, string(protocol.CodeCancelled))
			if class == string(protocol.CodeTimeout) && !p.spared {
				k.book.count("workers", "mutes")
				t.reload(info.ID)
			}
		case isDown(info):
			k.book.count("workers", "failed for good")
			k.book.note("%s: failed for good: %s", p.name, info.Reason)
			t.start()
		}
		pause(ctx, 20*time.Millisecond)
	}
	info, err := k.host.Inspect(p.name)
	return fmt.Errorf("plugin %s is not back within %s: %s %q %w", p.name, calmTime, info.Phase, info.Reason, err)
}

// isDown tells whether the host will not start it again.
func isDown(info actors.Inspection) bool {
	return info.Phase == lifecycle.Failed && info.Worker.State == lifecycle.WorkerStopped
}
