package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/internal/logtest"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// told is an event as a peer was sent it, with what it is an answer to.
type told struct {
	Type     string
	Data     json.RawMessage
	Metadata struct {
		Event struct{ ID, ParentID string }
	}
}

// hearAll waits for an event of a type, passing over others.
func (p *peer) hearAll(kind string) (e told) {
	p.r.Helper()
	p.until(func(record []byte) (json.RawMessage, bool) {
		var in struct{ JSON told }
		require.NoError(p.r, json.Unmarshal(record, &in))
		e = in.JSON
		return nil, e.Type == kind
	})
	return e
}

// ask sends an event with an id, and answer one with a parent.
func (p *peer) ask(kind, id, data string, a ...any) {
	p.r.Helper()
	p.event(kind, `"id":"`+id+`"`, data, a...)
}

func (p *peer) answer(to told, kind, data string, a ...any) {
	p.r.Helper()
	p.event(kind, `"id":"a","parentId":"`+to.Metadata.Event.ID+`"`, data, a...)
}

func (p *peer) event(kind, ids, data string, a ...any) {
	p.r.Helper()
	p.raw(fmt.Sprintf(`{"type":%q,"data":%s,"metadata":{"event":{%s}}}`, kind, fmt.Sprintf(data, a...), ids))
}

const (
	bot    = `"identity":{"kind":"plugin","plugin":{"id":"bot"},"id":"1"}`
	config = `{"configId":"bot:1","revision":3,"schemaVersion":1,"full":{"tone":"dry"}}`
	schema = `{"type":"object","required":["tone"]}`
)

// needy starts a module that has no configuration and says so.
func (r *rig) needy() *peer {
	r.Helper()
	p := r.dial()
	p.negotiate()
	p.announce("bot", "1")
	p.say("module:prepared", `{%s}`, bot)
	p.say("module:configuration:needed", `{%s,"schema":{"id":"bot","version":1,"schema":%s},"reason":"no tone yet"}`, bot, schema)
	return p
}

// Steps 8 to 13 and 16: a Configurator has a module take a configuration, and the host goes
// by what the module says.
func TestConfigure_byAConfigurator(t *testing.T) {
	kept := make(chan protocol.Config, 1)
	r := start(t, Options{Keep: func(_ context.Context, plugin string, c protocol.Config) error {
		require.Equal(t, "bot", plugin)
		kept <- c
		return nil
	}})
	configurator := r.watch()
	p := r.needy()
	require.Equal(t, "no tone yet", configurator.hearStatus("configuration-needed").Reason)
	info := r.wantPhase("bot", lifecycle.ConfigurationNeeded)
	require.Equal(t, "no tone yet", info.Reason)
	is, err := r.host.Inspect("bot")
	require.NoError(t, err)
	require.JSONEq(t, schema, string(is.Schema))

	for _, step := range []struct{ what, data, answer string }{
		{"validate", `"current":` + config, `"validation":{"status":"valid"}`},
		{"plan", `"plan":{},"current":` + config, `"plan":{"schema":{"id":"bot","version":1}}`},
	} {
		event := "module:configuration:" + step.what
		configurator.ask(event+":request", "c-"+step.what, `{%s,%s}`, bot, step.data)
		asked := p.hearAll(event + ":request")
		require.Equal(t, "c-"+step.what, asked.Metadata.Event.ID)
		p.answer(asked, event+":status", `{%s,"state":"working","progress":0.5}`, bot)
		p.answer(asked, event+":response", `{%s,%s}`, bot, step.answer)
		require.Equal(t, "c-"+step.what, configurator.hearAll(event+":status").Metadata.Event.ParentID)
		require.Equal(t, "c-"+step.what, configurator.hearAll(event+":response").Metadata.Event.ParentID)
	}
	configurator.ask("module:configuration:commit", "c-commit", `{%s,"config":%s}`, bot, config)
	asked := p.hearAll("module:configuration:commit")
	p.answer(asked, "module:configuration:commit:status", `{%s,"state":"done"}`, bot)
	p.answer(asked, "module:configuration:configured", `{%s,"config":%s}`, bot, config)
	require.Equal(t, "c-commit", configurator.hearAll("module:configuration:commit:status").Metadata.Event.ParentID)
	require.Equal(t, "c-commit", configurator.hearAll("module:configuration:configured").Metadata.Event.ParentID)
	r.wantPhase("bot", lifecycle.Configured)
	require.JSONEq(t, `{"tone":"dry"}`, string((<-kept).Full))
	p.say("module:status", `{%s,"phase":"ready"}`, bot)
	configurator.hearStatus("ready")
	r.wantPhase("bot", lifecycle.Ready)
	r.wantConfig("bot", `{"tone":"dry"}`)

	// One that is ready is configured without leaving that.
	configurator.say("module:configuration:commit", `{%s,"config":{"configId":"bot:1","revision":4,"schemaVersion":1,"patch":{"volume":2}}}`, bot)
	p.hear("module:configuration:commit")
	p.say("module:configuration:configured", `{%s,"config":{"configId":"bot:1","revision":4,"schemaVersion":1,"patch":{"volume":2}}}`, bot)
	require.JSONEq(t, `{"tone":"dry","volume":2}`, string((<-kept).Full))
	r.wantConfig("bot", `{"tone":"dry","volume":2}`)
	r.wantPhase("bot", lifecycle.Ready)
}

// wantConfig waits until a plugin's session has a configuration.
func (r *rig) wantConfig(plugin, want string) {
	r.Helper()
	var has protocol.Config
	require.Eventually(r, func() bool {
		is, err := r.host.Inspect(plugin)
		if err != nil {
			return false
		}
		has, _ = r.host.SessionConfiguration(is.ID)
		return string(has.Full) == want
	}, patience, time.Millisecond, "%s has %s", plugin, &has)
}

// knows starts modules with a configuration that is known beforehand, and a limit on calls.
func knows(full string) func(*actors.Guest) error {
	return func(g *actors.Guest) error {
		g.Start.Config = &protocol.Config{ID: "bot:stored", Revision: 7, SchemaVersion: 1, Full: json.RawMessage(full)}
		return nil
	}
}

// Step 12: what is known beforehand is validated, planned and committed by the host.
func TestConfigure_whatIsKnownBeforehand(t *testing.T) {
	r := start(t, Options{Prepare: knows(`{"tone":"dry"}`)})
	p := r.dial()
	p.negotiate()
	p.announce("bot", "1")
	p.say("module:prepared", `{%s}`, bot)
	asked := p.hearAll("module:configuration:validate:request")
	const known = `{"configId":"bot:stored","revision":7,"schemaVersion":1,"full":{"tone":"dry"}}`
	require.JSONEq(t, `{`+bot+`,"current":`+known+`}`, string(asked.Data))
	p.answer(asked, "module:configuration:validate:response", `{%s,"validation":{"status":"valid"}}`, bot)
	asked = p.hearAll("module:configuration:plan:request")
	p.answer(asked, "module:configuration:plan:response", `{%s,"plan":{}}`, bot)
	asked = p.hearAll("module:configuration:commit")
	require.JSONEq(t, `{`+bot+`,"config":`+known+`}`, string(asked.Data))
	r.wantPhase("bot", lifecycle.Configured)
	p.answer(asked, "module:configuration:configured", `{%s,"config":%s}`, bot, known)
	r.wantPhase("bot", lifecycle.Ready)
}

// A question of the host's is not answered by what answers a Configurator's.
func TestConfigure_answersAreToWhomAsked(t *testing.T) {
	r := start(t, Options{Prepare: knows(`{}`)})
	configurator, p := r.watch(), r.dial()
	p.negotiate()
	p.announce("bot", "1")
	p.say("module:prepared", `{%s}`, bot)
	ours := p.hearAll("module:configuration:validate:request")
	configurator.ask("module:configuration:validate:request", "theirs", `{%s}`, bot)
	theirs := p.hearAll("module:configuration:validate:request")
	p.answer(theirs, "module:configuration:validate:response", `{%s,"validation":{"status":"invalid"}}`, bot)
	p.answer(ours, "module:configuration:validate:response", `{%s,"validation":{"status":"valid"},"plan":{}}`, bot)
	p.hear("module:configuration:commit")
}

// What a module refuses, or does not say, keeps it waiting for another configuration, and all
// are told why.
func TestConfigure_whatIsKnownBeforehandIsRefused(t *testing.T) {
	const valid = `"validation":{"status":"valid"}`
	for name, row := range map[string]struct{ validate, plan, step, note, reason string }{
		"invalid": {
			`"validation":{"status":"invalid","invalid":[{"path":"/tone","reason":"unheard of"}]}`, "", "validate",
			"/tone: unheard of", "plugin bot refuses its configuration: /tone: unheard of",
		},
		"unplanned":    {valid, `"plan":{"missing":["voice"]}`, "plan", "it lacks voice", "plugin bot refuses its configuration: it lacks voice"},
		"no answer":    {"", "", "validate", "it was not answered in time", "it did not answer module:configuration:validate:request or module:configuration:plan:request"},
		"plan ignored": {valid, "", "plan", "it was not answered in time", "before the deadline (the plugin's limit airi-host.timeouts.call)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, Options{Prepare: func(g *actors.Guest) error {
				if strings.HasPrefix(row.note, "it was not") {
					g.Manifest.Host.Timeouts.Call = 50 * time.Millisecond
				}
				return knows(`{"tone":"odd"}`)(g)
			}})
			configurator, p := r.watch(), r.dial()
			p.negotiate()
			p.announce("bot", "1")
			p.say("module:prepared", `{%s}`, bot)
			if row.validate != "" {
				p.answer(p.hearAll("module:configuration:validate:request"), "module:configuration:validate:response", `{%s,%s}`, bot, row.validate)
			}
			if row.plan != "" {
				p.answer(p.hearAll("module:configuration:plan:request"), "module:configuration:plan:response", `{%s,%s}`, bot, row.plan)
			}
			require.JSONEq(t, fmt.Sprintf(`{%s,"state":"failed","note":%q}`, bot, row.note), configurator.hear("module:configuration:"+row.step+":status"))
			require.Contains(t, configurator.hearStatus("configuration-needed").Reason, row.reason)
			require.Contains(t, r.wantPhase("bot", lifecycle.ConfigurationNeeded).Reason, row.reason)

			configurator.say("module:configuration:commit", `{%s,"config":%s}`, bot, config)
			p.hear("module:configuration:commit")
			p.say("module:configuration:configured", `{%s,"config":%s}`, bot, config)
			p.say("module:status", `{%s,"phase":"ready"}`, bot)
			r.wantPhase("bot", lifecycle.Ready)
		})
	}
}

// A module that asks again says what it lacks now.
func TestConfigure_whatIsNeededChanges(t *testing.T) {
	r := start(t, Options{})
	p := r.needy()
	r.wantPhase("bot", lifecycle.ConfigurationNeeded)
	p.say("module:configuration:needed", `{%s,"schema":{"type":"object"},"reason":"no voice either"}`, bot)
	require.Eventually(t, func() bool {
		is, err := r.host.Inspect("bot")
		return err == nil && is.Reason == "no voice either" && string(is.Schema) == `{"type":"object"}`
	}, patience, time.Millisecond)
	r.wantPhase("bot", lifecycle.ConfigurationNeeded)
}

// What a module announces of its configuration is shown before it needs one.
func TestConfigure_theAnnouncedSchemaIsShown(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.announce("bot", "1", `"configSchema":{"id":"bot","version":1,"schema":`+schema+`}`)
	r.wantPhase("bot", lifecycle.Ready)
	is, err := r.host.Inspect("bot")
	require.NoError(t, err)
	require.JSONEq(t, schema, string(is.Schema))
}

// A configuration that cannot be kept is the session's all the same, and the log says so.
func TestConfigure_whatIsNotKept(t *testing.T) {
	var log logtest.Buffer
	r := start(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Keep: func(context.Context, string, protocol.Config) error { return errors.New("the disk is full") }})
	p := r.needy()
	r.wantPhase("bot", lifecycle.ConfigurationNeeded)
	p.say("module:configuration:configured", `{%s,"config":%s}`, bot, config)
	r.wantConfig("bot", `{"tone":"dry"}`)
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "the disk is full") }, patience, time.Millisecond)

	r.gateway.keepOne("bot", protocol.Config{})
	require.EqualValues(t, 2, r.gateway.Counts().Dropped[droppedUnkept])
	require.Equal(t, 1, strings.Count(log.String(), "the disk is full"), "they may be many")
}

// Of configurations that come while one is being kept the newest is kept next.
func TestConfigure_theNewestIsKept(t *testing.T) {
	began, goOn := make(chan string, 3), make(chan struct{})
	r := start(t, Options{Keep: func(_ context.Context, _ string, c protocol.Config) error {
		began <- string(c.Full)
		<-goOn
		return nil
	}})
	p := r.dial()
	p.announce("bot", "1")
	r.wantPhase("bot", lifecycle.Ready)
	for i := range 4 {
		p.say("module:configuration:configured", `{%s,"config":{"configId":"c","revision":%d,"full":{"n":%d}}}`, bot, i, i)
		r.wantConfig("bot", fmt.Sprintf(`{"n":%d}`, i))
		if i == 0 {
			require.Equal(t, `{"n":0}`, <-began)
		}
	}
	goOn <- struct{}{}
	require.Equal(t, `{"n":3}`, <-began)
	goOn <- struct{}{}
}
