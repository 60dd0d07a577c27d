package gateway

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// memory is a store of configurations.
type memory struct {
	mu  sync.Mutex
	all []configuration.Kept
}

func (m *memory) SetConfiguration(_ context.Context, base int64, k configuration.Kept) (configuration.Kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k.Revision = base + 1
	m.all = append([]configuration.Kept{k}, m.all...)
	return k, nil
}

func (m *memory) ConfigurationHistory(context.Context, string, string) ([]configuration.Kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all, nil
}

// configurator is wired to a gateway as a host does it.
type configurator struct {
	*rig
	*configuration.Configurator
	store *memory
}

func startConfigurator(t *testing.T) *configurator {
	t.Helper()
	c := &configurator{store: &memory{}}
	book := &configuration.Book{}
	c.rig = start(t, Options{
		Prepare: func(g *actors.Guest) error {
			g.Start = book.Start(g.Manifest.PluginName(), "")
			return nil
		},
		Keep: func(ctx context.Context, plugin string, taken protocol.Config) error {
			return c.Adopt(ctx, plugin, taken)
		},
	})
	c.Configurator = configuration.New(configuration.Options{Host: c.host, Store: c.store, Book: book, Manifest: func(plugin string) *manifest.Manifest {
		return &manifest.Manifest{Dialect: manifest.DialectAIRI, Name: plugin}
	}})
	return c
}

// set changes the configuration of bot, and returns what comes of it.
func (c *configurator) set(value string) (done chan error, got *configuration.Configuration) {
	done, got = make(chan error, 1), &configuration.Configuration{}
	go func() {
		var err error
		*got, err = c.Commit(c.Context(), "bot", configuration.Change{Value: json.RawMessage(value)})
		done <- err
	}()
	return done, got
}

// wantKept waits until the newest revision that is kept has a value.
func (c *configurator) wantKept(revision int64, want string) {
	c.Helper()
	c.wantConfig("bot", want)
	require.Eventually(c.rig, func() bool {
		kept := c.Book.Newest("bot", "")
		return kept.Revision == revision && string(kept.Value) == want
	}, patience, 1e6)
}

// takes answers what the host asks about a configuration, and takes it.
func (p *peer) takes(instance string) {
	p.r.Helper()
	id := of("bot", instance)
	p.answer(p.hearAll("module:configuration:validate:request"), "module:configuration:validate:response", `{%s,"validation":{"status":"valid"}}`, id)
	p.answer(p.hearAll("module:configuration:plan:request"), "module:configuration:plan:response", `{%s,"plan":{}}`, id)
	p.commits(instance)
}

func (p *peer) commits(instance string) {
	p.r.Helper()
	asked := p.hearAll("module:configuration:commit")
	var in struct{ Config json.RawMessage }
	require.NoError(p.r, json.Unmarshal(asked.Data, &in))
	p.answer(asked, "module:configuration:configured", `{%s,"config":%s}`, of("bot", instance), in.Config)
}

// Who changes configurations of the host changes a module's as any other: it is asked, it
// is given it, and has it again when it comes again.
func TestConfigurator_changesAModules(t *testing.T) {
	c := startConfigurator(t)
	watch, p := c.watch(), c.dial()
	p.negotiate()
	p.announce("bot", "1")
	p.ready("bot", "1")
	done, got := c.set(`{"tone":"dry"}`)
	p.takes("1")
	require.NoError(t, <-done)
	require.EqualValues(t, 1, got.Revision)
	require.Empty(t, got.Warnings)
	c.wantKept(1, `{"tone":"dry"}`)
	watch.hearStatus("configuration-needed")
	watch.hearStatus("ready")

	done, _ = c.set(`{"tone":"odd"}`)
	p.answer(p.hearAll("module:configuration:validate:request"), "module:configuration:validate:response",
		`{%s,"validation":{"status":"invalid","invalid":[{"path":"/tone","reason":"unheard of"}]}}`, bot)
	require.EqualError(t, <-done, "plugin bot refuses its configuration: /tone: unheard of")
	c.wantKept(1, `{"tone":"dry"}`)
	c.wantPhase("bot", lifecycle.Ready)

	// What a Configurator commits is the next revision, and is not given once more.
	watch.say("module:configuration:commit", `{%s,"config":%s}`, bot, `{"configId":"ui","revision":1,"schemaVersion":1,"full":{"tone":"warm"}}`)
	p.commits("1")
	c.wantKept(2, `{"tone":"warm"}`)

	require.NoError(t, c.gatewayStop("bot"))
	p.wantEnd(1008, "stopped by the host")
	p = c.dial()
	p.negotiate()
	p.announce("bot", "1")
	p.say("module:prepared", `{%s}`, bot)
	p.takes("1")
	c.wantPhase("bot", lifecycle.Ready)
	c.wantKept(2, `{"tone":"warm"}`)
}

// gatewayStop stops a module's session.
func (c *configurator) gatewayStop(plugin string) error {
	is, err := c.host.Inspect(plugin)
	if err == nil {
		_, err = c.host.Stop(c.Context(), is.ID)
	}
	return err
}

// A module that negotiates nothing is given its configuration as AIRI's servers do it.
func TestConfigurator_changesAModulesThatDoesNotNegotiate(t *testing.T) {
	c := startConfigurator(t)
	p := c.dial()
	p.announce("bot", "1")
	c.wantPhase("bot", lifecycle.Ready)
	done, got := c.set(`{"tone":"dry"}`)
	require.JSONEq(t, `{"config":{"tone":"dry"}}`, p.hear("module:configure"))
	require.NoError(t, <-done)
	require.EqualValues(t, 1, got.Revision)
	c.wantPhase("bot", lifecycle.Ready)

	other := c.dial()
	other.announce("bot", "2")
	require.JSONEq(t, `{"config":{"tone":"dry"}}`, other.hear("module:configure"), "it is known beforehand")
	c.wantPhase("bot", lifecycle.Ready)
	done, got = c.set(`{"tone":"warm"}`)
	require.JSONEq(t, `{"config":{"tone":"warm"}}`, other.hear("module:configure"), "the newest has it")
	require.NoError(t, <-done)
	require.Empty(t, got.Warnings)
}

// One that is away cannot be given anything; what it has stays in force.
func TestConfigurator_aModuleThatIsAway(t *testing.T) {
	c := startConfigurator(t)
	p := c.dial()
	p.negotiate()
	p.announce("bot", "1")
	p.ready("bot", "1")
	require.NoError(t, p.Close())
	c.wantPhase("bot", lifecycle.Degraded)
	done, _ := c.set(`{"tone":"dry"}`)
	require.ErrorContains(t, <-done, "plugin bot has no connection for now")
	require.Zero(t, c.Book.Newest("bot", "").Revision)
}

// A module that waits for its configuration takes it from either side.
func TestConfigurator_aModuleThatWaits(t *testing.T) {
	c := startConfigurator(t)
	p := c.needy()
	c.wantPhase("bot", lifecycle.ConfigurationNeeded)
	done, _ := c.set(`{"tone":"dry"}`)
	p.takes("1")
	require.NoError(t, <-done)
	c.wantPhase("bot", lifecycle.Ready)
}
