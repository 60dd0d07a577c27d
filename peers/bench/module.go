package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/peers/load"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
)

// modules is an AIRI module, and a script for the bare loop that does the same.
//
//go:embed module/*.mjs
var modules embed.FS

// moduleHost is this host with a plugin in Go, compiled in, and an AIRI module in Node.
type moduleHost struct {
	host *actors.Host
	node bridge.Node
}

var _ load.Subject = (*moduleHost)(nil)

// Start runs the plugin, and the module of each worker.
func (m *moduleHost) Start(ctx context.Context, workers []load.Worker) error {
	debug.SetGCPercent(400) // as the binary does
	host, err := actors.New(actors.Options{
		Dialects: []protocol.Dialect{airi.Dialect{}},
		Programs: map[string]protocol.Program{"say": sayer()},
		Launch:   actors.CommandLauncher(m.node.Command),
	})
	if err != nil {
		return err
	}
	m.host = host
	list := []*manifest.Manifest{moduleManifest("say", manifest.Entrypoints{Go: new("builtin:say")})}
	for i, w := range workers {
		one := moduleManifest(fmt.Sprintf("bench-%d", i), manifest.Entrypoints{Node: new("./module.mjs")})
		one.Dir = w.Dir
		list = append(list, one)
	}
	for _, one := range list {
		info, err := host.Start(ctx, one, actors.StartOptions{})
		if err != nil {
			return err
		}
		if info.Phase != lifecycle.Ready {
			return fmt.Errorf("plugin %s is %s, expected it to be ready", info.Plugin, info.Phase)
		}
	}
	return nil
}

// sayer is the plugin in Go, as its author would write it.
func sayer() *plugin.Definition {
	p := plugin.Define("say")
	plugin.Tool(p, "say", func(_ context.Context, in echoed) (plugin.Result, error) { return plugin.Text(in.Text), nil })
	return p
}

func moduleManifest(name string, entries manifest.Entrypoints) *manifest.Manifest {
	return &manifest.Manifest{
		Dialect: manifest.DialectAIRI, APIVersion: manifest.APIVersionAIRI, Kind: manifest.KindAIRI,
		Name: name, Entrypoints: entries,
	}
}

// Call invokes a handler of the first module.
func (m *moduleHost) Call(ctx context.Context, key string, input json.RawMessage) (json.RawMessage, error) {
	call := protocol.Call{Key: "tool:echo", Input: input}
	if key != "data:echo" {
		call.Key, call.Deadline = "bench:fan", time.Now().Add(askTime)
	}
	return m.host.Invoke(ctx, call)
}

// Close stops the module and the host.
func (m *moduleHost) Close() error {
	if m.host == nil {
		return errors.New("it was never started")
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	return errors.Join(m.host.Shutdown(ctx), m.node.Close())
}

// eventaFile is Eventa, as modules get it that have none.
const eventaFile = "eventa.mjs"

// moduleWorkers writes the module, the script of the bare loop, and Eventa to dir.
func moduleWorkers(dir string) ([]load.Worker, error) {
	names, err := fs.Glob(modules, "module/*.mjs")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := modules.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600); err != nil {
			return nil, err
		}
	}
	main, err := bridge.Install(dir)
	if err != nil {
		return nil, err
	}
	err = os.Rename(filepath.Join(filepath.Dir(main), eventaFile), filepath.Join(dir, eventaFile))
	return []load.Worker{{Dir: dir, Command: []string{"node", "bare.mjs"}}}, err
}
