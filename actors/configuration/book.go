package configuration

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// Store keeps revisions, so that they outlive the host. Its methods may be called from any
// goroutine.
type Store interface {
	// SetConfiguration puts a revision in the place of the one with the number base, 0
	// being none, and returns it as it was kept. It fails with protocol.CodeConflict if
	// another one is the newest, and with protocol.CodeOutcomeUnknown if it may be kept yet.
	SetConfiguration(ctx context.Context, base int64, r Kept) (Kept, error)
	// ConfigurationHistory returns those that were kept for exactly this company, the
	// newest first.
	ConfigurationHistory(ctx context.Context, plugin, company string) ([]Kept, error)
}

// Kept is one configuration that was kept for a plugin and a company.
type Kept struct {
	Plugin string
	// Company is "" for what holds where a company has none of its own.
	Company string
	// Revision counts from 1; 0 is none.
	Revision int64
	// SchemaVersion is the version of the plugin's schema that Value was written for.
	SchemaVersion int64
	// Value is a JSON object, or null: then what was kept before has ended.
	Value json.RawMessage
	At    time.Time
}

// nothing is the value of a revision that ends what was kept before.
var nothing = json.RawMessage("null")

// stands tells whether there is a configuration.
func (r Kept) stands() bool { return r.Revision > 0 && string(r.Value) != "null" }

// Book has the configurations that are in force. The zero value has none. Any goroutine
// may use it.
type Book struct {
	// Defaults returns what whoever runs the host has given a plugin beforehand, e.g. in
	// a file, for a company, "" being none: nil for nothing. own tells that it is for this
	// company alone. A nil Defaults has nothing.
	Defaults func(plugin, company string) (value json.RawMessage, own bool)

	mu     sync.Mutex
	newest map[whose]Kept
	// tried are those that plugins are trying.
	tried map[whose]Kept
}

// whose says whom a configuration is for.
type whose struct{ plugin, company string }

// Put enters what was kept; one without a number takes it out.
func (b *Book) Put(r Kept) { b.enter(&b.newest, r) }

// try answers the plugin with a revision; leave ends that.
func (b *Book) try(r Kept)   { b.enter(&b.tried, r) }
func (b *Book) leave(r Kept) { r.Revision = 0; b.enter(&b.tried, r) }

func (b *Book) enter(in *map[whose]Kept, r Kept) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if *in == nil {
		*in = map[whose]Kept{}
	}
	who := whose{r.Plugin, r.Company}
	if r.Revision == 0 {
		delete(*in, who)
		return
	}
	(*in)[who] = r
}

// Forget takes out what there is of a plugin, or of a company; the other of the two is "".
func (b *Book) Forget(plugin, company string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for who := range b.newest {
		if plugin != "" && who.plugin == plugin || company != "" && who.company == company {
			delete(b.newest, who)
		}
	}
}

// Sizes are the bytes of the newest revisions of each plugin of which something was kept.
func (b *Book) Sizes() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	sizes := map[string]int{}
	for who, r := range b.newest {
		sizes[who.plugin] += len(r.Value)
	}
	return sizes
}

// Newest returns the newest revision for exactly this company; its Revision is 0 if there is
// none.
func (b *Book) Newest(plugin, company string) Kept {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r, ok := b.newest[whose{plugin, company}]; ok {
		return r
	}
	return Kept{Plugin: plugin, Company: company}
}

// InForce returns what a plugin has for a company. Its Company is whose it is, its Revision
// that of what was kept, else 0; a Value of nil stands for none.
func (b *Book) InForce(plugin, company string) Configuration {
	return b.look(plugin, company, func(company string) Kept { return b.Newest(plugin, company) })
}

// Value returns the configuration with which a plugin is answered that asks for a
// company's, "" being none; nil for none.
func (b *Book) Value(plugin, company string) json.RawMessage { return b.answer(plugin, company).Value }

// answer is InForce for the plugin itself, which may be trying another one.
func (b *Book) answer(plugin, company string) Configuration {
	return b.look(plugin, company, func(company string) Kept {
		b.mu.Lock()
		defer b.mu.Unlock()
		who := whose{plugin, company}
		if r, ok := b.tried[who]; ok {
			return r
		}
		return b.newest[who]
	})
}

// after is InForce as it would be with a revision.
func (b *Book) after(next Kept, company string) Configuration {
	return b.look(next.Plugin, company, func(company string) Kept {
		if company == next.Company {
			return next
		}
		return b.Newest(next.Plugin, company)
	})
}

// look goes by what was kept and the defaults: what is a company's own goes first.
func (b *Book) look(plugin, company string, kept func(company string) Kept) Configuration {
	if r := kept(company); r.stands() {
		return told(r)
	}
	var value json.RawMessage
	var own bool
	if b.Defaults != nil {
		value, own = b.Defaults(plugin, company)
	}
	if !own {
		company = ""
		if r := kept(""); r.stands() {
			return told(r)
		}
	}
	if value == nil {
		return Configuration{Plugin: plugin, Source: FromNobody}
	}
	return Configuration{Plugin: plugin, Company: company, Source: FromDefaults, Value: value}
}

func told(r Kept) Configuration {
	return Configuration{Plugin: r.Plugin, Company: r.Company, Revision: r.Revision, Source: FromStore, Value: r.Value, At: r.At}
}

// Start says how a plugin is started for a company: with the configuration that is in force,
// where there is one, also while its former session tries another.
func (b *Book) Start(plugin, company string) actors.StartOptions {
	return startWith(b.InForce(plugin, company))
}

func startWith(c Configuration) actors.StartOptions {
	if c.Value == nil {
		return actors.StartOptions{}
	}
	config := configOf(c)
	return actors.StartOptions{Config: &config}
}

// configOf is a configuration as a plugin is given it; none is {}.
func configOf(c Configuration) protocol.Config {
	config := protocol.Config{
		ID: c.Plugin + ":" + c.Source, Revision: max(c.Revision, 1), SchemaVersion: 1, Source: c.Source, Full: c.Value,
	}
	if c.Value == nil {
		config.ID, config.Source, config.Full = c.Plugin+":default", "", json.RawMessage("{}")
	}
	return config
}
