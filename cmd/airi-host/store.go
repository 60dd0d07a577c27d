package main

import (
	"context"

	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/store"
)

// openStore opens what outlives the host in a state directory, and holds the directory
// until it is closed, which is after all plugins have stopped.
func openStore(ctx context.Context, dir string, o store.Options) (*store.DB, error) {
	return store.Open(ctx, dir, o)
}

// stateIn is where Paperclip's workers keep their state, for services.Options.Store:
// in memory, within the limits, if the host has no store.
func stateIn(db *store.DB, limits services.MemoryLimits) services.Store {
	if db == nil {
		return services.NewMemory(limits)
	}
	return db.State()
}
