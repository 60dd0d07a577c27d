package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// What a host does for whoever changes a configuration (package configuration), and
// what it tells of that.

// ConfigurationStep is one of the steps in which a plugin comes by a configuration.
type ConfigurationStep string

// The steps, in their order.
const (
	// StepValidate holds it to the schemas, and asks the plugin.
	StepValidate ConfigurationStep = "validate"
	// StepPlan finds out what would change.
	StepPlan ConfigurationStep = "plan"
	// StepCommit gives it to the plugin and keeps it.
	StepCommit ConfigurationStep = "commit"
)

// ConfigurationState is how far a step is.
type ConfigurationState string

// The states. A step ends with one of the last two.
const (
	// StepQueued: another change of the same plugin is under way.
	StepQueued ConfigurationState = "queued"
	// StepWorking: it is at it.
	StepWorking ConfigurationState = "working"
	// StepDone: it has gone well.
	StepDone ConfigurationState = "done"
	// StepRefused: nothing has changed; the note says why.
	StepRefused ConfigurationState = "failed"
)

// ConfigurationStatus tells how a change of a plugin's configuration goes on. It has no
// value of the configuration.
type ConfigurationStatus struct {
	// Origin has no session where the plugin has none.
	Origin
	// Company is whom it is for, "" for all that have none of their own.
	Company string             `json:"company,omitempty"`
	Step    ConfigurationStep  `json:"step"`
	State   ConfigurationState `json:"state"`
	// Progress goes from 0 to 1 within the step.
	Progress float64 `json:"progress"`
	// Note says what is being done, or why the step failed.
	Note string `json:"note,omitempty"`
	// Revision is the one that there will be or, at the end of a commit, is.
	Revision int64     `json:"revision,omitempty"`
	At       time.Time `json:"at"`
}

// Kind is KindConfiguration.
func (ConfigurationStatus) Kind() Kind { return KindConfiguration }

// Log writes the status; a refusal is a warning, the end of a commit is for everybody.
func (e ConfigurationStatus) Log(log *slog.Logger) {
	level := slog.LevelDebug
	switch {
	case e.State == StepRefused:
		level = slog.LevelWarn
	case e.State == StepDone && e.Step == StepCommit:
		level = slog.LevelInfo
	}
	log.Log(context.Background(), level, "configuring", e.attrs(), slog.String("company", e.Company),
		slog.String("step", string(e.Step)), slog.String("state", string(e.State)), slog.Float64("progress", e.Progress),
		slog.Int64("revision", e.Revision), slog.String("note", e.Note))
}

// PublishConfiguration tells subscribers how a change of a configuration goes on.
func (h *Host) PublishConfiguration(e ConfigurationStatus) { h.publish(e) }

// AskConfiguration asks a session's plugin whether it would take a configuration, and
// changes nothing. A plugin that cannot be asked, since its wire has no word for that, it
// has no hook, or it does not run yet, is no error: see protocol.Validation. The question
// is a call, bound as all calls.
func (h *Host) AskConfiguration(ctx context.Context, session string, c protocol.Config) (protocol.Validation, error) {
	who, err := h.known(session, "Unable to ask plugin session: %s")
	if err != nil {
		return protocol.Validation{}, err
	}
	if phase := who.phaseNow(); !isUp(phase) && phase != lifecycle.ConfigurationNeeded {
		return protocol.Validation{Note: "it is " + string(phase)}, nil
	}
	v, err := h.askWho(ctx, who, c)
	return v.Bounded(), err
}

// Refusal is the error of a plugin that does not take a configuration, in its own words;
// nil for one that does.
func Refusal(plugin string, v protocol.Validation) error {
	problems := v.Problems()
	if problems == "" {
		return nil
	}
	head := "the configuration of plugin " + plugin
	if v.Asked {
		head = "plugin " + plugin + " refuses its configuration"
	}
	return failure(protocol.CodeConfiguration, plugin, head+": "+problems)
}

func (h *Host) askWho(ctx context.Context, who *handle, c protocol.Config) (protocol.Validation, error) {
	link := who.through()
	if link == nil {
		return protocol.Validation{Note: "it is not running yet, and is asked when it begins"}, nil
	}
	if local, ok := link.(*port); ok {
		return local.validate(ctx, c.Full)
	}
	asks, ok := who.dialect.(protocol.Validating)
	if !ok {
		return protocol.Validation{Note: "its wire has no word for that"}, nil
	}
	call := asks.Validation(who.module, c)
	result, err := h.callOn(ctx, who, &call, limitOf(ctx, &call, who, time.Now()))
	return asks.Validated(result, err)
}

// validate asks a program, which may hang: then its caller is freed at the limit on calls.
func (p *port) validate(ctx context.Context, config json.RawMessage) (protocol.Validation, error) {
	validator, ok := p.inner.(protocol.Validator)
	if !ok {
		return protocol.Validation{Note: "it has no hook for that"}, nil
	}
	l := limitOf(ctx, &protocol.Call{}, p.h, time.Now())
	ctx, cancel := context.WithDeadline(ctx, l.at)
	defer cancel()
	inner, free := p.within(ctx)
	type said struct {
		protocol.Validation
		err error
	}
	done := make(chan said, 1)
	p.h.busy.Add(1)
	p.host.sys.servers.Schedule(func() {
		heard := said{err: errExited}
		defer func() {
			p.h.busy.Add(-1)
			free()
			p.host.logPanic(p.h, heard.err)
			done <- heard
		}()
		heard.err = contain(func() (err error) {
			heard.Validation, err = validator.Validate(inner, config)
			return err
		})
	})
	what := "plugin " + p.h.Plugin + " did not say whether it takes a configuration"
	select {
	case heard := <-done:
		return heard.Validation, heard.err
	case <-p.life.Done():
		return protocol.Validation{}, failure(protocol.CodeCancelled, p.h.Plugin, fmt.Sprintf("%s: %v", what, context.Cause(p.life)))
	case <-ctx.Done():
		return protocol.Validation{}, gaveUp(ctx, p.h.Plugin, what, l)
	}
}

// CommitConfiguration gives a session that is ready, degraded, or waits for one, its next
// configuration; nothing of it can be called meanwhile. It returns when the session is
// ready with it, waits for another one since the plugin refused it, or has failed.
func (h *Host) CommitConfiguration(ctx context.Context, session string, c protocol.Config) (SessionInfo, error) {
	who, err := h.known(session, "Unable to configure plugin session: %s")
	if err != nil {
		return SessionInfo{}, err
	}
	return h.request(ctx, who, func(reply chan<- error) any { return configure{c, reply, true} })
}

// SessionConfiguration returns the configuration that a session has; ok is false where it
// has none, or an empty one that nobody gave it, or is not there.
func (h *Host) SessionConfiguration(session string) (c protocol.Config, ok bool) {
	who := h.find(session)
	if who == nil {
		return protocol.Config{}, false
	}
	has := who.config.Load()
	if has == nil {
		return protocol.Config{}, false
	}
	return *has, true
}

// TellsCompanies tells whether plugins of a dialect are told the configurations of single
// tenants beside their own.
func (h *Host) TellsCompanies(dialect string) bool {
	_, ok := h.dialects[dialect].(protocol.CompanyConfiguring)
	return ok
}

// TellConfiguration tells a running plugin the configuration of one tenant, if TellsCompanies.
func (h *Host) TellConfiguration(ctx context.Context, session, company string, c protocol.Config) error {
	who, err := h.known(session, "Unable to configure plugin session: %s")
	if err != nil {
		return err
	}
	d, ok := who.dialect.(protocol.CompanyConfiguring)
	if !ok || !isUp(who.phaseNow()) || who.through() == nil {
		return failure(protocol.CodeNotReady, who.Plugin, "plugin "+who.Plugin+" cannot be told a configuration: it is "+string(who.phaseNow()))
	}
	call := d.CompanyConfiguration(company, c)
	_, err = h.callOn(ctx, who, &call, limitOf(ctx, &call, who, time.Now()))
	return err
}
