package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/manifest/evaluate"
	"github.com/airi-host/airi-host/peers/load"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/store"
	"github.com/airi-host/airi-host/transport/process"
)

// stopTime is how long the host may take to end.
const stopTime = 30 * time.Second

// askTime is how long the worker may take for the calls that it makes.
const askTime = 2 * time.Minute

// airiHost is this host, as a program that embeds it has it, with the store on disk.
type airiHost struct {
	host *actors.Host
	dir  string
	db   *store.DB
	// plugin is the first worker's.
	plugin string
}

var _ load.Subject = (*airiHost)(nil)

// Start runs the workers as plugins of one host.
func (a *airiHost) Start(ctx context.Context, workers []load.Worker) error {
	debug.SetGCPercent(400) // as the binary does
	if err := a.open(ctx); err != nil {
		return err
	}
	host, err := actors.New(actors.Options{
		Dialects: []protocol.Dialect{paperclip.Dialect{Plugin: func(protocol.Settings) paperclip.Plugin {
			return paperclip.Plugin{Grants: []string{"plugin.state.read"}, Handles: handled}
		}}},
		Launch: actors.Runner{Command: node, Wire: process.Stdio}.Launch,
		Methods: func(p protocol.Plugins) map[string]map[string]protocol.Service {
			return map[string]map[string]protocol.Service{
				manifest.DialectPaperclip: services.Paperclip(p, services.Options{Store: a.db.State()}),
			}
		},
	})
	if err != nil {
		return err
	}
	a.host = host
	var node evaluate.Node
	for _, w := range workers {
		found := manifest.Discover([]string{w.Dir}, manifest.Options{Evaluate: node.Evaluate})
		if len(found.Manifests) != 1 {
			return fmt.Errorf("%s: expected one plugin, found %d: %v", w.Dir, len(found.Manifests), found.Problems)
		}
		info, err := host.Start(ctx, found.Manifests[0], actors.StartOptions{})
		if err != nil {
			return err
		}
		if info.Phase != lifecycle.Ready {
			return fmt.Errorf("plugin %s is %s, expected it to be ready", info.Plugin, info.Phase)
		}
		if a.plugin == "" {
			a.plugin = info.Plugin
		}
		if err := a.keep(ctx, info.Plugin); err != nil {
			return err
		}
	}
	return nil
}

// open opens the store.
func (a *airiHost) open(ctx context.Context) (err error) {
	if a.dir, err = os.MkdirTemp("", "airi-host-bench-state-"); err != nil {
		return err
	}
	a.db, err = store.Open(ctx, a.dir, store.Options{})
	return err
}

// keep sets the value that a worker asks for.
func (a *airiHost) keep(ctx context.Context, plugin string) error {
	key := services.StateKey{Plugin: plugin, ScopeKind: "instance", Namespace: "default", Key: "bench"}
	return a.db.State().Set(ctx, key, json.RawMessage(kept))
}

// node runs a worker's file.
func node(_ context.Context, file string) ([]string, error) { return []string{"node", file}, nil }

func handled(method string) bool { return method == "state.get" }

// kept is the state that every worker finds.
const kept = `"kept"`

// Call invokes a capability of the first worker.
func (a *airiHost) Call(ctx context.Context, key string, input json.RawMessage) (json.RawMessage, error) {
	call := protocol.Call{Key: key, Plugin: a.plugin, Input: input}
	if key != "data:echo" {
		call.Deadline = time.Now().Add(askTime)
	}
	return a.host.Invoke(ctx, call)
}

// Close stops the workers and the host.
func (a *airiHost) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	var all []error
	if a.host == nil {
		all = append(all, errors.New("it was never started"))
	} else {
		all = append(all, a.host.Shutdown(ctx))
	}
	if a.db != nil {
		all = append(all, a.db.Close())
	}
	if a.dir != "" {
		all = append(all, os.RemoveAll(a.dir))
	}
	return errors.Join(all...)
}
