package configuration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

const (
	stopped = lifecycle.Stopped
	failed  = lifecycle.Failed
)

// giveBackTime is how long a plugin may take to be again what it was.
const giveBackTime = time.Minute

// commit has the plugin take the next configuration, and keeps it. Where either fails, the
// old one is in force as before. While it is tried the plugin is answered with it.
func (s *step) commit(ctx context.Context) (kept Kept, warnings []string, err error) {
	before, after := s.ours()
	concerned := s.concerns() // else it is for others, whom the plugin asks about
	s.Book.try(s.next)
	if concerned {
		s.tell(actors.StepCommit, actors.StepWorking, 0.25, "given to the plugin")
		err = s.give(ctx, s.was, after)
	}
	if err == nil {
		s.tell(actors.StepCommit, actors.StepWorking, 0.75, "kept")
		kept, err = s.keep(ctx)
	}
	if err == nil {
		s.Book.Put(kept)
	}
	s.Book.leave(s.next)
	switch {
	case err == nil && !concerned:
		return kept, s.tellCompany(ctx), nil
	case err == nil:
		return kept, s.catchUp(ctx, after), nil
	case concerned && !isEnding(err): // else it never had it, or has it no more
		err = errors.Join(err, s.giveBack(before))
	}
	return kept, nil, err
}

// takes tells whether the plugin could be given a configuration when the change began.
func (s *step) takes() bool {
	switch s.was.Phase {
	case "", stopped, failed, lifecycle.Ready, lifecycle.Degraded, lifecycle.ConfigurationNeeded:
		return true
	default:
		return false
	}
}

// give asks a plugin to take a configuration. That it does not is an error, in its own
// words. One that is stopped takes it when it starts.
func (s *step) give(ctx context.Context, now actors.SessionInfo, c Configuration) (err error) {
	name := s.next.Plugin
	switch now.Phase {
	case lifecycle.Ready, lifecycle.Degraded, lifecycle.ConfigurationNeeded:
		given := now.ID
		now, err = s.Host.CommitConfiguration(ctx, given, configOf(c))
		err = s.meanwhile(ctx, given, err)
	case failed:
		before := now.ID
		now, err = s.Host.Start(ctx, s.man, startWith(c))
		err = s.overtaken(before, err)
	case "", stopped:
		return nil
	default:
		return &protocol.Error{Code: protocol.CodeNotReady, Plugin: name, Message: fmt.Sprintf(
			"plugin %s is %s: change its configuration when it is ready", name, now.Phase)}
	}
	if err != nil || isUp(now.Phase) {
		return err
	}
	return &protocol.Error{Code: protocol.CodeConfiguration, Plugin: name, Message: sentence(
		"plugin "+name+" has not taken the configuration, and is "+string(now.Phase), now.Reason)}
}

// meanwhile says why a session did not take its configuration, where that is because it was
// stopped.
func (s *step) meanwhile(ctx context.Context, session string, err error) error {
	if err == nil || isEnding(err) {
		return err
	}
	now := s.newest(s.next.Plugin)
	stops := protocol.CodeOf(err) == protocol.CodeCancelled && ctx.Err() == nil && now.Phase != failed
	if !stops && now.ID == session {
		return err
	}
	return s.ended("was stopped meanwhile")
}

// overtaken says why a plugin was not started with its configuration, where that is because
// somebody else has started it since.
func (s *step) overtaken(session string, err error) error {
	if now := s.newest(s.next.Plugin); err == nil || now.ID == session || now.ID == "" || now.Phase == failed {
		return err
	}
	return s.ended("was started by somebody else meanwhile")
}

func (s *step) ended(how string) error {
	return &protocol.Error{
		Code: protocol.CodeNotReady, Plugin: s.next.Plugin, Err: actors.ErrEnding,
		Message: "plugin " + s.next.Plugin + " " + how + ", and has what was in force before: repeat the change",
	}
}

// isEnding tells that a plugin was not given a configuration since it, or the host, ends.
func isEnding(err error) bool {
	return errors.Is(err, actors.ErrEnding) || errors.Is(err, actors.ErrShutdown)
}

func isUp(phase lifecycle.State) bool { return phase == lifecycle.Ready || phase == lifecycle.Degraded }

// giveBack makes a plugin what it was before it was given another configuration, also when
// nobody waits for that any more. One that was not up has only to be kept from starting
// again with what it did not take.
func (s *step) giveBack(before Configuration) error {
	now := s.newest(s.next.Plugin)
	wasUp := isUp(s.was.Phase)
	if !wasUp && (now.Phase != failed || now.Worker.NextRestart.IsZero()) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), giveBackTime)
	defer cancel()
	if err := s.give(ctx, now, before); err != nil && wasUp && !isEnding(err) {
		return fmt.Errorf("its former configuration could not be given back: %w", err)
	}
	return nil
}

// alone is what is said of another company's configuration where plugins have only one.
const alone = "plugins of its ecosystem have one configuration: this one is kept, and nobody asks for it"

// tellCompany tells a running plugin what another company's configuration is now.
func (s *step) tellCompany(ctx context.Context) (warnings []string) {
	own, other := s.Company(s.man), s.next.Company
	switch {
	case other == "":
		return nil
	case !s.Host.TellsCompanies(s.man.Dialect):
		return []string{alone}
	case !isUp(s.was.Phase):
		return nil
	case own == "":
		return []string{"the plugin was not told, since it has no company of its own and might take this one's for it: it has it when it asks"}
	}
	before, _ := s.ours()
	err := s.Host.TellConfiguration(ctx, s.was.ID, own, configOf(before))
	if err == nil {
		err = s.Host.TellConfiguration(ctx, s.was.ID, other, configOf(s.theirs()))
	}
	if err != nil {
		return []string{"the plugin did not take what it was told, and has it when it asks: " + err.Error()}
	}
	return nil
}

// sameValue compares two JSON values: the order of members means nothing.
func sameValue(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	if decode(a, &x) != nil || decode(b, &y) != nil {
		return false
	}
	first, _ := json.Marshal(x) // of JSON values
	second, _ := json.Marshal(y)
	return bytes.Equal(first, second)
}

// decode keeps the digits of numbers.
func decode(value json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	return d.Decode(into)
}

func sortedNames(a, b map[string]json.RawMessage) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
