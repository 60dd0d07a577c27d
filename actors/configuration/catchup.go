package configuration

import (
	"context"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

// A plugin is started, or started anew, while its configuration is being changed.

// catchUp has a session take what is in force now that began, while the change was under
// way, with what was in force before. It is only a warning where it does not: what was kept
// is in force, and the plugin has it at its next start.
func (s *step) catchUp(ctx context.Context, c Configuration) (warnings []string) {
	if now := s.newest(s.next.Plugin); now.ID == "" || now.ID == s.was.ID {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, giveBackTime)
	defer cancel()
	now := s.onItsFeet(ctx)
	switch now.Phase {
	case "", stopped, failed:
		return nil
	default: // it has begun
	}
	if has, _ := s.Host.SessionConfiguration(now.ID); sameValue(full(c), full(Configuration{Value: has.Full})) {
		return nil
	}
	if err := s.give(ctx, now, c); err != nil && !isEnding(err) {
		return []string{"the plugin was started meanwhile with what was in force before, and has this one when it is started anew: " + err.Error()}
	}
	return nil
}

// onItsFeet waits until a plugin is not on its way to anywhere, or until ctx ends.
func (s *step) onItsFeet(ctx context.Context) actors.SessionInfo {
	phases := s.Host.Subscribe(actors.KindPhase, 0)
	defer phases.Close()
	for {
		now := s.newest(s.next.Plugin)
		switch now.Phase {
		case "", stopped, failed, lifecycle.Ready, lifecycle.Degraded, lifecycle.ConfigurationNeeded:
			return now
		default: // it is on its way
		}
		select {
		case _, open := <-phases.C:
			if !open {
				return now
			}
		case <-ctx.Done():
			return now
		}
	}
}
