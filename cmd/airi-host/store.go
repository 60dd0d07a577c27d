package main

import (
	"context"

	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/store"
)

// openStore opens what outlives the host in a state directory, and holds the directory
// until it is closed, which is after all plugins have stopped.
func openStore(ctx context.Context, dir string) (*store.DB, error) {
	return store.Open(ctx, dir, store.Options{})
}

// stateIn is where Paperclip's workers keep their state, for services.Options.Store:
// in memory, if the host has no store.
func stateIn(db *store.DB) services.Store {
	if db == nil {
		return nil
	}
	return db.State()
}
