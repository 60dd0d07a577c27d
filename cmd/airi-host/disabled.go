package main

import (
	"context"
	"slices"
	"sync"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/services/store"
)

// disabled are the plugins that are not started with the host, as its store has them. The
// zero value has none. Any goroutine may use it.
type disabled struct {
	names sync.Map // of string, for those that are
	// writing is held while the store and names change.
	writing sync.Mutex
}

// load reads them.
func (d *disabled) load(ctx context.Context, db *store.DB) error {
	all, err := db.Plugins(ctx)
	for _, one := range all {
		if one.Disabled {
			d.names.Store(one.Name, true)
		}
	}
	return err
}

func (d *disabled) has(plugin string) bool {
	_, is := d.names.Load(plugin)
	return is
}

// set changes whether a plugin is among them; what cannot be kept is not changed.
func (d *disabled) set(ctx context.Context, db *store.DB, plugin string, is bool) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	if err := db.SetDisabled(ctx, plugin, is); err != nil {
		return err
	}
	if is {
		d.names.Store(plugin, true)
	} else {
		d.names.Delete(plugin)
	}
	return nil
}

// forget removes all that is kept of a plugin, that it is disabled among it.
func (d *disabled) forget(ctx context.Context, db *store.DB, plugin string) (store.Removed, error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	removed, err := db.RemovePlugin(ctx, plugin)
	if err == nil {
		d.names.Delete(plugin)
	}
	return removed, err
}

// split parts a list into those that are started and the names of those that are not.
func (d *disabled) split(list []*manifest.Manifest) (started []*manifest.Manifest, names []string) {
	for _, m := range list {
		if name := m.PluginName(); d.has(name) {
			names = append(names, name)
			continue
		}
		started = append(started, m)
	}
	return slices.Clip(started), names
}

// without leaves out of a list those that are not started.
func (d *disabled) without(list []*manifest.Manifest) []*manifest.Manifest {
	started, _ := d.split(list)
	return started
}

// printDisabled tells which plugins are passed over.
func (c *cli) printDisabled(names []string) {
	for _, name := range names {
		if c.json() {
			c.encode(disabledLine{"disabled", name})
		}
		c.say("%s is disabled; 'airi-host enable %s' starts it", printable(name), printable(name))
	}
}

type disabledLine struct {
	Event  string `json:"event"`
	Plugin string `json:"plugin"`
}
