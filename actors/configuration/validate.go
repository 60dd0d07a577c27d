package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// validate holds what a change comes to to the schemas, and asks the plugin.
func (s *step) validate(ctx context.Context) (v Validation, err error) {
	s.tell(actors.StepValidate, actors.StepWorking, 0, "held to its schema")
	v.Validation = s.checked()
	if v.status(); v.Status == Valid {
		v.Validation, err = s.asked(ctx)
		v.status()
	}
	switch {
	case err != nil:
		s.tell(actors.StepValidate, actors.StepRefused, 1, err.Error())
	case v.Status == Valid:
		s.tell(actors.StepValidate, actors.StepDone, 1, v.Note)
	default:
		s.tell(actors.StepValidate, actors.StepRefused, 1, s.refusal(v).Error())
	}
	return v, err
}

// checked is what the schemas say, in words that quote no value.
func (s *step) checked() (v protocol.Validation) {
	value := full(s.theirs())
	v.Note = "its schema refuses it already"
	if s.theirs().Value == nil && s.man.Host.Configuration.Required {
		v.Invalid = append(v.Invalid, protocol.ConfigProblem{Reason: "the plugin needs a configuration (airi-host.configuration.required)"})
	}
	err := s.man.CheckConfiguration(value)
	if err == nil {
		if v.Invalid == nil {
			v.Note = ""
		}
		return v
	}
	v.Missing = s.man.MissingConfiguration(value)
	for _, text := range problemsOf(err) {
		path, reason := placed(text)
		if slices.Contains(v.Missing, strings.TrimPrefix(path, "/")) {
			continue // it is in the list
		}
		v.Invalid = append(v.Invalid, protocol.ConfigProblem{Path: path, Reason: reason})
	}
	return v.Bounded()
}

// problemsOf are the single problems of a check.
func problemsOf(err error) []string {
	if found, ok := errors.AsType[*capability.InputError](err); ok {
		return found.Problems
	}
	return []string{err.Error()}
}

// placed takes the JSON pointer off the front of a problem.
func placed(text string) (path, reason string) {
	if at, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(at, "/") {
		return at, rest
	}
	return "", text
}

// asked is what the plugin says.
func (s *step) asked(ctx context.Context) (protocol.Validation, error) {
	c := s.theirs()
	switch {
	case s.was.ID == "":
		return protocol.Validation{Note: "it is stopped, and looks at it when it starts"}, nil
	case c.Value == nil:
		return protocol.Validation{Note: "there is nothing to ask about"}, nil
	}
	s.tell(actors.StepValidate, actors.StepWorking, 0.5, "the plugin is asked")
	config := configOf(c)
	config.Revision = s.next.Revision
	return s.Host.AskConfiguration(ctx, s.was.ID, config)
}

func (v *Validation) status() {
	switch {
	case len(v.Invalid) > 0:
		v.Status = Invalid
	case len(v.Missing) > 0:
		v.Status = Partial
	default:
		v.Status = Valid
	}
}

// refusal is the error of a configuration that is not valid, nil for one that is.
func (s *step) refusal(v Validation) error { return actors.Refusal(s.next.Plugin, v.Validation) }

func sentence(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// plan finds out what would change.
func (s *step) plan(v Validation) Plan {
	s.tell(actors.StepPlan, actors.StepWorking, 0, "")
	p := Plan{
		Plugin: s.next.Plugin, Company: s.next.Company, Validation: v,
		Revision: s.old.Revision, Next: s.next.Revision, Warnings: v.Warnings,
	}
	d := differences{}
	d.compare("", full(s.Book.InForce(s.next.Plugin, s.next.Company)), full(s.theirs()))
	p.Added, p.Changed, p.Removed = d.added, d.changed, d.removed
	p.Effect, p.Session, p.Restart = s.effect()
	p.Warnings = append(p.Warnings, s.warnings(p, d)...)
	s.tell(actors.StepPlan, actors.StepDone, 1, p.Effect)
	return p
}

// effect says when the plugin has it.
func (s *step) effect() (when, session string, restart bool) {
	switch {
	case !s.concerns():
		return WhenItAsks, "", false
	case s.was.ID == "" || s.was.Phase == stopped:
		return AtItsStart, "", false
	default:
		return Now, s.was.ID, s.was.Phase == failed
	}
}

func (s *step) warnings(p Plan, d differences) (list []string) {
	if len(p.Added)+len(p.Changed)+len(p.Removed) == 0 {
		list = append(list, "it is what is in force already")
	}
	if d.more > 0 {
		list = append(list, "more members than are listed would change")
	}
	if before, _ := s.ours(); p.Effect == WhenItAsks && s.next.Company == "" {
		list = append(list, "the plugin goes by its own configuration"+ofCompany(before.Company)+", which goes before this one")
	}
	if p.Effect == WhenItAsks && s.next.Company != "" && !s.Host.TellsCompanies(s.man.Dialect) {
		list = append(list, alone)
	}
	if p.Effect == Now && !s.takes() {
		list = append(list, "plugin "+p.Plugin+" is "+string(s.was.Phase)+": it takes none before it is ready")
	}
	if !p.Validation.Asked && p.Validation.Note != "" {
		list = append(list, "the plugin was not asked: "+p.Validation.Note)
	}
	return list
}

// differences are the innermost members in which two values differ, as JSON pointers.
type differences struct {
	added, changed, removed []string
	more                    int
}

func (d *differences) compare(at string, before, after json.RawMessage) {
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil || was == nil || is == nil {
		if !sameValue(before, after) {
			d.add(&d.changed, at)
		}
		return
	}
	for _, name := range sortedNames(was, is) {
		here := at + "/" + pointer.Replace(name)
		old, had := was[name]
		value, has := is[name]
		switch {
		case !had:
			d.add(&d.added, here)
		case !has:
			d.add(&d.removed, here)
		default:
			d.compare(here, old, value)
		}
	}
}

func (d *differences) add(to *[]string, at string) {
	if len(*to) == maxListed {
		d.more++
		return
	}
	*to = append(*to, at)
}

// pointer escapes a name in a JSON pointer.
var pointer = strings.NewReplacer("~", "~0", "/", "~1")
