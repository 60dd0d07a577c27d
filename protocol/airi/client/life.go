package client

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// life is how far the plugin is, over all connections.
type life struct {
	// runs is the step that runs, "" for none; stale tells that setup is to run once more.
	runs  protocol.Step
	stale bool
	// prepared and setUp tell that init and a setup have ended well.
	prepared, setUp bool
	// needs is that a configuration is waited for, and why.
	needs  bool
	reason string
	// config is the one in force, nil for none; before is what it was while the setup that
	// takes it runs.
	config, before json.RawMessage
	// commits are the configurations that somebody waits to hear of.
	commits []commit
	// phase and why are of the last status; feels is what the plugin tells of itself.
	phase, why string
	feels      Feels
}

// commit is a configuration that was committed, as it came, with the id of its event.
type commit struct {
	config json.RawMessage
	parent string
}

// question is one about a configuration: plan tells which.
type question struct {
	parent string
	plan   bool
}

// run asks the plugin for a step.
func (c *Client) run(step protocol.Step, out []Effect) []Effect {
	c.life.runs = step
	return append(out, Run{step})
}

// restore says what a connection has not heard, or begins the plugin's life.
func (c *Client) restore(out []Effect) []Effect {
	l := &c.life
	if !l.prepared {
		if l.runs == "" {
			return c.run(protocol.StepInit, out)
		}
		return out
	}
	out = c.say("module:prepared", c.about(), "", out)
	if l.needs {
		return c.sayNeeds(out)
	}
	if !l.setUp {
		return c.setUp(out)
	}
	for _, key := range c.order {
		out = c.sayOffer(c.offers[key], out)
	}
	l.phase = ""
	return c.sayStatus(out)
}

// setUp runs setup, now or after the one that runs.
func (c *Client) setUp(out []Effect) []Effect {
	if c.life.runs != "" {
		c.life.stale = true
		return out
	}
	return c.run(protocol.StepSetup, out)
}

// ran takes the end of a step.
func (c *Client) ran(in Ran, out []Effect) []Effect {
	l := &c.life
	if l.runs != in.Step {
		return out
	}
	l.runs = ""
	if in.Err != nil && !l.setUp {
		out = c.status(PhaseFailed, in.Err.Error(), out)
		return c.fail(fmt.Errorf("%s: %w", in.Step, in.Err), out)
	}
	if in.Step == protocol.StepInit {
		return c.initialized(in.Err, out)
	}
	return c.wasSetUp(in.Err, out)
}

func (c *Client) initialized(err error, out []Effect) []Effect {
	l := &c.life
	if err != nil { // not the first time
		return c.status(PhaseFailed, err.Error(), out)
	}
	l.prepared = true
	out = c.tell("module:prepared", c.about(), "", out)
	l.stale = false
	if c.o.NeedsConfig && l.config == nil {
		return c.need("it needs a configuration", out)
	}
	return c.setUp(out)
}

// need has the module wait for a configuration.
func (c *Client) need(reason string, out []Effect) []Effect {
	c.life.needs, c.life.reason = true, reason
	if c.phase != announced {
		return out
	}
	return c.sayNeeds(out)
}

func (c *Client) sayNeeds(out []Effect) []Effect {
	fields := []field{{"reason", c.life.reason}}
	if c.o.ConfigSchema != nil {
		fields = append(fields, field{"schema", c.o.ConfigSchema})
	}
	return c.say("module:configuration:needed", c.about(fields...), "", out)
}

func (c *Client) wasSetUp(err error, out []Effect) []Effect {
	l := &c.life
	if l.stale {
		l.stale = false
		return c.setUp(out)
	}
	commits := l.commits
	l.commits = nil
	if err != nil {
		l.config = l.before
		out = append(out, Configured{l.config})
		for _, one := range commits {
			out = c.tell("module:configuration:commit:status", c.about(field{"state", "failed"}, field{"note", protocol.Cut(err.Error(), protocol.MaxReason)}), one.parent, out)
		}
		return c.status(PhaseFailed, err.Error(), out)
	}
	l.before = l.config
	if !l.setUp {
		l.setUp = true
		for _, key := range c.order {
			out = c.tellOffer(c.offers[key], out)
		}
	}
	for _, one := range commits {
		out = c.sayConfigured(one, out)
	}
	l.phase = ""
	return c.sayStatus(out)
}

func (c *Client) sayConfigured(one commit, out []Effect) []Effect {
	if one.config == nil {
		return out
	}
	return c.tell("module:configuration:configured", c.about(field{"config", one.config}), one.parent, out)
}

// sayStatus says that the module is ready, or what it feels instead.
func (c *Client) sayStatus(out []Effect) []Effect {
	if f := c.life.feels; f.Phase != "" {
		return c.status(f.Phase, f.Reason, out)
	}
	return c.status(PhaseReady, "", out)
}

// status says how the module is, once.
func (c *Client) status(phase, reason string, out []Effect) []Effect {
	l := &c.life
	reason = protocol.Cut(reason, protocol.MaxReason)
	if l.phase == phase && l.why == reason {
		return out
	}
	l.phase, l.why = phase, reason
	fields := []field{{"phase", phase}}
	if reason != "" {
		fields = append(fields, field{"reason", reason})
	}
	return c.tell("module:status", c.about(fields...), "", out)
}

// feels takes it how the plugin says it is. It is told once the module is ready.
func (c *Client) feels(in Feels, out []Effect) []Effect {
	if in.Phase == PhaseReady {
		in = Feels{}
	}
	c.life.feels = in
	if l := &c.life; !l.setUp || l.runs != "" || l.needs || l.phase == "" {
		return out
	}
	return c.sayStatus(out)
}

// tell is say for what a later connection hears again, or can do without.
func (c *Client) tell(name string, data any, parent string, out []Effect) []Effect {
	if c.phase != announced {
		return out
	}
	return c.say(name, data, parent, out)
}

// wants is that the plugin has asked for another phase.
func (c *Client) wants(phase string, out []Effect) []Effect {
	l := &c.life
	switch {
	case !l.setUp || l.runs != "":
		return out // the host does not heed it either
	case phase == "announced":
		l.prepared, l.needs, l.phase = false, false, ""
		return c.run(protocol.StepInit, out)
	case phase == "configuration-needed":
		l.needs, l.reason, l.phase = true, "it has asked for another configuration", ""
	}
	return out
}

// lived takes what an event says to the module of its configuration.
func (c *Client) lived(e event, out []Effect) []Effect {
	switch e.name {
	case "module:configure":
		return c.configure(commit{}, e.data, out)
	case "module:configuration:commit":
		if c.isAbout(e.data) {
			return c.commit(e, out)
		}
	case "module:configuration:validate:request":
		if c.isAbout(e.data) {
			return c.question(e, member(e.data, "current"), false, out)
		}
	case "module:configuration:plan:request":
		if c.isAbout(e.data) {
			return c.question(e, member(e.data, "current"), true, out)
		}
	}
	return out
}

// commit takes a configuration: {configId, revision, schemaVersion, full? or patch?}.
func (c *Client) commit(e event, out []Effect) []Effect {
	config := member(e.data, "config")
	full := member(config, "full")
	if full == nil {
		full = protocol.MergePatch(c.life.config, member(config, "patch"))
	}
	return c.configure(commit{bytes.Clone(config), e.id}, encoded(struct {
		Config json.RawMessage `json:"config"`
	}{full}), out)
}

// maxCommits is how many configurations wait to be answered; of more the oldest is not.
const maxCommits = 64

// configure puts a configuration in force, and runs setup with it, unless it is the one that
// is.
func (c *Client) configure(one commit, data json.RawMessage, out []Effect) []Effect {
	l := &c.life
	config := member(data, "config")
	if !isObject(config) {
		return append(out, protocol.Drop(DroppedFrame, "a configuration that is no object"))
	}
	config, _ = protocol.AppendValue(nil, config)
	if l.runs == "" && l.setUp && !l.needs && bytes.Equal(config, l.config) {
		return c.sayStatus(c.sayConfigured(one, out))
	}
	if l.commits = append(l.commits, one); len(l.commits) > maxCommits {
		l.commits = l.commits[1:]
	}
	l.config, l.needs = config, false
	out = append(out, Configured{config})
	if !l.prepared {
		return out // its setup is still to come
	}
	return c.setUp(out)
}

// question asks the plugin about a configuration.
func (c *Client) question(e event, current json.RawMessage, plan bool, out []Effect) []Effect {
	if len(c.questions) >= c.o.pending() {
		return append(out, protocol.Drop(DroppedQuestion, e.name))
	}
	if full := member(current, "full"); full != nil {
		current = full
	}
	c.lastQuestion++
	c.questions[c.lastQuestion] = question{e.id, plan}
	return append(out, Validate{c.lastQuestion, bytes.Clone(current)})
}

// validated answers a question.
func (c *Client) validated(in Validated, out []Effect) []Effect {
	q, ok := c.questions[in.ID]
	if !ok {
		return append(out, protocol.Drop(DroppedAway, "an answer about a configuration"))
	}
	delete(c.questions, in.ID)
	v := in.Validation
	if in.Err != nil {
		v = protocol.Validation{Invalid: []protocol.ConfigProblem{{Reason: in.Err.Error()}}}
	}
	v = v.Bounded()
	said := verdict{Status: "valid", Missing: v.Missing, Invalid: v.Invalid, Warnings: v.Warnings}
	switch {
	case len(v.Invalid) > 0:
		said.Status = "invalid"
	case len(v.Missing) > 0:
		said.Status = "partial"
	}
	if !q.plan {
		return c.say("module:configuration:validate:response", c.about(field{"validation", said}), q.parent, out)
	}
	said.Status = ""
	if said.Schema = c.o.ConfigSchema; said.Schema == nil {
		said.Schema = encoded(struct {
			ID      string `json:"id"`
			Version int    `json:"version"`
		}{c.o.Name, 1})
	}
	return c.say("module:configuration:plan:response", c.about(field{"plan", said}), q.parent, out)
}

// verdict is a validation, or without a status the plan for it.
type verdict struct {
	Status   string                   `json:"status,omitempty"`
	Schema   json.RawMessage          `json:"schema,omitempty"`
	Missing  []string                 `json:"missing,omitempty"`
	Invalid  []protocol.ConfigProblem `json:"invalid,omitempty"`
	Warnings []string                 `json:"warnings,omitempty"`
}
