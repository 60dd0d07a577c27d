package configuration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// Options are what a Configurator works on; all but Company are required.
type Options struct {
	Host  *actors.Host
	Store Store
	// Book has what is in force, and what the Store had when the host began.
	Book *Book
	// Manifest returns a plugin's manifest, or nil.
	Manifest func(plugin string) *manifest.Manifest
	// Company says with whose configuration a plugin is started; nil means with its
	// manifest's airi-host.scope.
	Company func(*manifest.Manifest) string
}

// Configurator changes the configurations of a host's plugins. Any goroutine may use it.
type Configurator struct {
	Options

	mu sync.Mutex
	// turns are held by who changes a plugin: it may take as long as the plugin does.
	turns map[string]chan struct{}
	// doubts are whose revisions the Store may have newer than the Book.
	doubts map[whose]bool
}

// New makes one. It has nothing to close.
func New(o Options) *Configurator {
	if o.Company == nil {
		o.Company = func(m *manifest.Manifest) string { return m.Host.Scope }
	}
	return &Configurator{Options: o, turns: map[string]chan struct{}{}, doubts: map[whose]bool{}}
}

// Configuration returns what is in force for a plugin and a company, "" for none. Its
// Revision is that of exactly this company, which a change may name as its base.
func (c *Configurator) Configuration(_ context.Context, plugin, company string) (Configuration, error) {
	one := c.Book.InForce(plugin, company)
	one.Company, one.Revision = company, c.Book.Newest(plugin, company).Revision
	if one.Value == nil {
		one.Value = json.RawMessage("{}")
	}
	return one, nil
}

// ConfigurationHistory returns those that were kept, the newest first.
func (c *Configurator) ConfigurationHistory(ctx context.Context, plugin, company string) (list []Configuration, err error) {
	all, err := c.Store.ConfigurationHistory(ctx, plugin, company)
	for _, one := range all {
		list = append(list, told(one))
	}
	return list, err
}

// Validate tells what is wrong with what a change would come to, and changes nothing. The
// plugin is asked where that is possible, and not where the schemas refuse already. What
// is wrong is no error: errors are of the change (CodeInvalid, CodeConflict) and of the
// asking.
func (c *Configurator) Validate(ctx context.Context, plugin string, change Change) (Validation, error) {
	s, err := c.begin(plugin, change)
	if err != nil {
		return Validation{}, err
	}
	return s.validate(ctx)
}

// Plan tells what a change would do, and does nothing.
func (c *Configurator) Plan(ctx context.Context, plugin string, change Change) (Plan, error) {
	s, err := c.begin(plugin, change)
	if err != nil {
		return Plan{}, err
	}
	v, err := s.validate(ctx)
	if err != nil {
		return Plan{}, err
	}
	return s.plan(v), nil
}

// Commit validates and plans a change, gives the plugin its configuration, and keeps it.
// The last one that the plugin takes is in force. One that is refused (CodeConfiguration,
// with the reasons), that cannot be kept, or whose time is over changes nothing: where the
// plugin has it already it is given back what it had. Of one with CodeOutcomeUnknown the Store
// may have it all the same: the next change goes by what it has then, and so does the next
// host.
//
// A plugin that cannot be asked since it does not run is checked by its schemas alone, and
// looks at it when it starts. Another company's configuration is told to a running plugin
// by its wire's word for that, if it has one (Paperclip: configChanged with companyId,
// after that of the plugin's own company, so that a plugin for one company alone refuses
// instead of mixing them up); whether that went well stands in the Warnings.
func (c *Configurator) Commit(ctx context.Context, plugin string, change Change) (Configuration, error) {
	leave, err := c.enter(ctx, plugin, change)
	if err != nil {
		return Configuration{}, err
	}
	defer leave()
	if err := c.settle(ctx, whose{plugin, change.Company}); err != nil {
		return Configuration{}, err
	}
	s, err := c.begin(plugin, change)
	if err != nil {
		return Configuration{}, err
	}
	v, err := s.validate(ctx)
	if err == nil {
		err = s.refusal(v)
	}
	if err != nil {
		return Configuration{}, err
	}
	s.plan(v)
	s.tell(actors.StepCommit, actors.StepWorking, 0, "")
	kept, warnings, err := s.commit(ctx)
	if err != nil {
		s.tell(actors.StepCommit, actors.StepRefused, 1, err.Error())
		return Configuration{}, err
	}
	s.tell(actors.StepCommit, actors.StepDone, 1, "")
	done := told(kept)
	done.Warnings = append(v.Warnings, warnings...)
	return c.unsaid(done, kept), nil
}

// unsaid tells what is in force behind a revision that ends what was kept.
func (c *Configurator) unsaid(done Configuration, kept Kept) Configuration {
	if kept.stands() {
		return done
	}
	after := c.Book.InForce(kept.Plugin, kept.Company)
	done.Source, done.Value = after.Source, after.Value
	if after.Value == nil {
		done.Value = json.RawMessage("{}")
	}
	return done
}

// enter waits for the turn of a change.
func (c *Configurator) enter(ctx context.Context, plugin string, change Change) (leave func(), err error) {
	c.mu.Lock()
	turn := c.turns[plugin]
	if turn == nil {
		turn = make(chan struct{}, 1)
		c.turns[plugin] = turn
	}
	c.mu.Unlock()
	leave = func() { <-turn }
	select {
	case turn <- struct{}{}:
		return leave, nil
	default:
	}
	queued := &step{Configurator: c, change: change, next: Kept{Plugin: plugin, Company: change.Company}}
	queued.tell(actors.StepCommit, actors.StepQueued, 0, "another change of this plugin is under way")
	select {
	case turn <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		err := &protocol.Error{Code: protocol.CodeCancelled, Plugin: plugin, Message: "its configuration was being changed by somebody else", Err: context.Cause(ctx)}
		queued.tell(actors.StepCommit, actors.StepRefused, 1, err.Error())
		return nil, err
	}
}

// Idle waits until nobody changes a plugin, and keeps others from it until leave.
func (c *Configurator) Idle(ctx context.Context, plugin string) (leave func(), err error) {
	return c.enter(ctx, plugin, Change{})
}

// step is one change on its way.
type step struct {
	*Configurator
	change Change
	man    *manifest.Manifest
	// old is the newest revision, next the one that there will be.
	old, next Kept
	// was is the plugin's newest session when it began.
	was actors.SessionInfo
}

// begin finds out what a change comes to.
func (c *Configurator) begin(plugin string, change Change) (*step, error) {
	m := c.Manifest(plugin)
	if m == nil {
		return nil, &protocol.Error{Code: protocol.CodeNotFound, Plugin: plugin, Message: fmt.Sprintf("no plugin is called %s", plugin)}
	}
	old, next, err := c.next(plugin, change)
	s := &step{Configurator: c, change: change, man: m, old: old, next: next, was: c.newest(plugin)}
	if err != nil {
		s.tell(actors.StepValidate, actors.StepRefused, 1, err.Error())
	}
	return s, err
}

// newest is a plugin's newest session; it has no ID if there is none.
func (c *Configurator) newest(plugin string) (newest actors.SessionInfo) {
	for _, one := range c.Host.Sessions() { // the oldest first
		if one.Plugin == plugin {
			newest = one
		}
	}
	return newest
}

// tell tells how far a step is.
func (s *step) tell(what actors.ConfigurationStep, state actors.ConfigurationState, progress float64, note string) {
	e := actors.ConfigurationStatus{
		Origin: actors.Origin{Session: s.was.ID, Plugin: s.next.Plugin}, Company: s.next.Company,
		Step: what, State: state, Progress: progress, Note: clip(note), Revision: s.next.Revision, At: time.Now(),
	}
	s.Host.PublishConfiguration(e)
	if s.change.Follow != nil {
		s.change.Follow(e)
	}
}

// clip keeps notes short.
func clip(note string) string {
	if len(note) <= protocol.MaxReason {
		return note
	}
	return note[:protocol.MaxReason] + "…"
}

// ours is what the plugin itself is given, before and after.
func (s *step) ours() (before, after Configuration) {
	own := s.Company(s.man)
	return s.Book.InForce(s.next.Plugin, own), s.Book.after(s.next, own)
}

// concerns tells whether the change is one of what the plugin was started with.
func (s *step) concerns() bool {
	before, after := s.ours()
	return s.isOf(before) || s.isOf(after)
}

func (s *step) isOf(c Configuration) bool {
	return c.Source == FromStore && c.Company == s.next.Company
}

// theirs is what the company of the change would have.
func (s *step) theirs() Configuration { return s.Book.after(s.next, s.next.Company) }

// full is a configuration's value, {} for none.
func full(c Configuration) json.RawMessage {
	return json.RawMessage(cmp.Or(string(c.Value), "{}"))
}
