package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/peers"
	"github.com/airi-host/airi-host/peers/load"
	"github.com/airi-host/airi-host/protocol"
)

// remotePlugin is a remote plugin of elizaOS.
//
//go:embed remote
var remotePlugin embed.FS

// remoteHost is this host, wired for all ecosystems, with a remote plugin of elizaOS and,
// if there is a second worker, one of Paperclip that calls it.
type remoteHost struct {
	// signs has the host sign what it calls.
	signs bool
	host  *ecosystems.Host
	state string
}

var _ load.Subject = (*remoteHost)(nil)

// Start runs the workers as plugins of one host.
func (r *remoteHost) Start(ctx context.Context, workers []load.Worker) (err error) {
	debug.SetGCPercent(400) // as the binary does
	if r.state, err = os.MkdirTemp("", "airi-host-bench-state-"); err != nil {
		return err
	}
	dirs := make([]string, len(workers))
	for i, w := range workers {
		dirs[i] = w.Dir
	}
	r.host, err = ecosystems.Open(dirs, ecosystems.Options{
		StateDir: func(string) (string, error) { return r.state, nil },
		Signs:    func(string) bool { return r.signs },
	})
	if err != nil {
		return err
	}
	if len(r.host.Found.Problems) > 0 || len(r.host.Found.Manifests) != len(workers) {
		return fmt.Errorf("expected %d plugins, found %d: %v", len(workers), len(r.host.Found.Manifests), r.host.Found.Problems)
	}
	for _, one := range r.host.StartAll(ctx, r.host.Found.Manifests, nil, nil) {
		err = errors.Join(err, one.Err)
	}
	return err
}

// Call invokes a capability.
func (r *remoteHost) Call(ctx context.Context, key string, input json.RawMessage) (json.RawMessage, error) {
	call := protocol.Call{Key: key, Input: input}
	if key == "action:cross" {
		call.Plugin, call.Deadline = "echo", time.Now().Add(askTime)
	}
	return r.host.Invoke(ctx, call)
}

// Close stops the workers and the host.
func (r *remoteHost) Close() error {
	if r.host == nil {
		return errors.New("it was never started")
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	return errors.Join(r.host.Close(ctx), os.RemoveAll(r.state))
}

// remoteWorkers makes the remote plugin and, where there are modules, one of Paperclip
// that calls it.
func remoteWorkers(dir, modules string) ([]load.Worker, error) {
	if err := os.CopyFS(dir, remotePlugin); err != nil {
		return nil, err
	}
	list := []load.Worker{{Dir: filepath.Join(dir, "remote"), Command: []string{"node", "worker.mjs"}}}
	if modules == "" {
		return list, nil
	}
	asks := load.Worker{Dir: filepath.Join(dir, "echo")}
	err := makeFixture(asks.Dir, modules, "echo", peers.Changes{Host: map[string]any{"invoke": []string{"model:*"}}})
	return append(list, asks), err
}
