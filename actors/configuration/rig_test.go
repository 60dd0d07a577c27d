package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// memory is a Store. broken makes it fail.
type memory struct {
	mu     sync.Mutex
	all    []Kept
	broken error
	// before is called before something is kept; nil for nothing.
	before func()
	// slow has it not known in time what is kept all the same.
	slow bool
}

func (m *memory) SetConfiguration(ctx context.Context, base int64, k Kept) (Kept, error) {
	if m.before != nil {
		m.before()
	}
	newest, _ := m.ConfigurationHistory(ctx, k.Plugin, k.Company)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return k, m.broken
	}
	if len(newest) > 0 && newest[0].Revision != base {
		return k, conflict(newest[0], base)
	}
	k.Revision = base + 1
	m.all = append([]Kept{k}, m.all...)
	if m.slow || ctx.Err() != nil {
		return k, &protocol.Error{Code: protocol.CodeOutcomeUnknown, Message: "the store was writing", Err: ctx.Err()}
	}
	return k, nil
}

func (m *memory) ConfigurationHistory(_ context.Context, plugin, company string) (list []Kept, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.all {
		if k.Plugin == plugin && k.Company == company {
			list = append(list, k)
		}
	}
	return list, nil
}

// rig is one host with one plugin, picky, and what changes its configuration.
type rig struct {
	*Configurator
	// t is the bubble's.
	t     *testing.T
	m     *manifest.Manifest
	store *memory

	mu sync.Mutex
	// seen are the configurations that its setup was run with.
	seen []string
	// validate and setup are what it does, by a configuration's members; nil for nothing.
	validate, setup func(ctx context.Context, config map[string]any) error
	// stop is its stop hook; nil for none.
	stop func(context.Context)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	builtin := "builtin:picky"
	r := &rig{t: t, store: &memory{}, m: &manifest.Manifest{
		Dialect: manifest.DialectAIRI, Name: "picky", File: "picky/plugin.json", Entrypoints: manifest.Entrypoints{Go: &builtin},
	}}
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"picky": r.plugin()}})
	require.NoError(t, err)
	r.Configurator = New(Options{Host: host, Store: r.store, Book: &Book{}, Manifest: func(name string) *manifest.Manifest {
		if name == "picky" {
			return r.m
		}
		return nil
	}})
	t.Cleanup(func() {
		require.NoError(t, host.Shutdown(context.Background()))
		time.Sleep(2 * time.Second) // the actor library's dead letters
	})
	return r
}

func (r *rig) plugin() *plugin.Definition {
	return plugin.Define("picky").OnSetup(func(ctx context.Context, s *plugin.Session) error {
		var config map[string]any
		if err := s.Config(&config); err != nil {
			return err
		}
		text, _ := json.Marshal(config)
		r.mu.Lock()
		r.seen = append(r.seen, string(text))
		r.mu.Unlock()
		if r.setup != nil {
			return r.setup(ctx, config)
		}
		return nil
	}).OnStop(func(ctx context.Context, _ *plugin.Session) error {
		if r.stop != nil {
			r.stop(ctx)
		}
		return nil
	}).OnValidate(func(ctx context.Context, _ *plugin.Session, text json.RawMessage) error {
		var config map[string]any
		_ = json.Unmarshal(text, &config) // it is an object
		if r.validate != nil {
			return r.validate(ctx, config)
		}
		return nil
	})
}

// noBad is a plugin that does not take what has "bad".
func noBad(_ context.Context, config map[string]any) error {
	if config["bad"] != nil {
		return errors.New("this is bad")
	}
	return nil
}

func (r *rig) start(t *testing.T) {
	t.Helper()
	_, err := r.Host.Start(t.Context(), r.m, r.Book.Start("picky", r.Company(r.m)))
	require.NoError(t, err)
}

func (r *rig) set(t *testing.T, value string) error {
	t.Helper()
	_, err := r.Commit(t.Context(), "picky", Change{Value: json.RawMessage(value)})
	return err
}

// wantIs checks where the plugin stands, and what is in force.
func (r *rig) wantIs(t *testing.T, phase lifecycle.State, value string) {
	t.Helper()
	require.Equal(t, phase, r.newest("picky").Phase)
	one, err := r.Configuration(t.Context(), "picky", "")
	require.NoError(t, err)
	require.Equal(t, value, string(one.Value))
}

func (r *rig) wantSeen(t *testing.T, configs ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Equal(t, configs, r.seen)
}

// wantKept checks how many revisions were kept.
func (r *rig) wantKept(t *testing.T, values ...string) {
	t.Helper()
	all, err := r.ConfigurationHistory(t.Context(), "picky", "")
	require.NoError(t, err)
	var kept []string
	for _, one := range slices.Backward(all) {
		kept = append(kept, string(one.Value))
	}
	require.Equal(t, values, kept)
}

func wantFault(t *testing.T, err error, code protocol.Code, text string) {
	t.Helper()
	require.ErrorContains(t, err, text)
	require.Equal(t, code, protocol.CodeOf(err))
}
