package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/peers"
	"github.com/airi-host/airi-host/peers/load"
)

// nodeLoads are the loads of the first table, goLoads those of the second.
var (
	nodeLoads = slices.Concat(echoes(100), large, []load.Load{
		{Name: "state.get by the worker, 128 in flight", Kind: load.Ask, Flight: 128, Calls: 30_000},
	})
	goLoads = slices.Concat(echoes(200), large)

	// routeLoads are those of the table of routes: 64 chunks of 16 KiB are a MiB.
	routeLoads = []load.Load{
		{Name: "execute.log, chunks of 16 KiB", Kind: load.Log, Size: 16 << 10, Flight: 1, Calls: 4000},
		{Name: "duplex echo, chunks of 64 KiB", Kind: load.Duplex, Size: 64 << 10, Flight: 4, Calls: 2000},
	}

	large = []load.Load{
		{Name: "echo 64 KiB, one at a time", Kind: load.Echo, Size: 64 << 10, Flight: 1, Calls: 800},
		{Name: "echo 64 KiB, 16 in flight", Kind: load.Echo, Size: 64 << 10, Flight: 16, Calls: 1600},
	}
)

func echoes(size int) []load.Load {
	return []load.Load{
		{Name: fmt.Sprintf("echo %d B, one at a time", size), Kind: load.Echo, Size: size, Flight: 1, Calls: 8000},
		{Name: fmt.Sprintf("echo %d B, 128 in flight", size), Kind: load.Echo, Size: size, Flight: 128, Calls: 60_000},
	}
}

// eventaLoads are the loads of the table of an AIRI module.
var eventaLoads = []load.Load{
	{Name: "module to plugin 100 B, one at a time", Kind: load.Ask, Size: 100, Flight: 1, Calls: 8000},
	{Name: "module to plugin 100 B, 128 in flight", Kind: load.Ask, Size: 100, Flight: 128, Calls: 60_000},
	{Name: "host to module 100 B, one at a time", Kind: load.Echo, Size: 100, Flight: 1, Calls: 8000},
	{Name: "host to module 100 B, 128 in flight", Kind: load.Echo, Size: 100, Flight: 128, Calls: 60_000},
}

// remoteLoads are the loads of the table of a remote plugin. A call's size is that of its
// frame.
var remoteLoads = []load.Load{
	named("model 184 B, one at a time", modelCalls(184, 1, 8000)),
	named("model 184 B, 128 in flight", modelCalls(184, 128, 60_000)),
	named("action 932 B, 128 in flight", actionCalls(932, 128, 30_000)),
	named("action 1024 B, one at a time", actionCalls(1024, 1, 8000)),
	named("action 1024 B, 128 in flight", actionCalls(1024, 128, 30_000)),
	{Name: "Paperclip to model, 128 in flight", Kind: load.Cross, Size: modelCalls(184, 1, 1).Size, Flight: 128, Calls: 20_000},
}

// loads are those that are to be measured.
func (s settings) loads(all []load.Load) []load.Load {
	var list []load.Load
	for _, l := range all {
		if !strings.Contains(l.Name, s.only) {
			continue
		}
		l.Calls = max(int(float64(l.Calls)*s.scale), 1)
		list = append(list, l)
	}
	return list
}

// warming is what a load begins with, so that nothing is measured that a host does
// only at first. A just-in-time compiler needs some thousand calls.
func warming(l load.Load) load.Load {
	l.Calls = max(l.Calls/4, 1)
	return l
}

// nodeWorkers makes n copies of the worker that is written with Paperclip's SDK.
func nodeWorkers(dir, modules string, n int) ([]load.Worker, error) {
	return workers(dir, modules, n, peers.Changes{}, nil)
}

// routeWorkers makes a worker that has routes.
func routeWorkers(dir, modules string) ([]load.Worker, error) {
	one := load.Worker{Dir: filepath.Join(dir, "porter")}
	return []load.Worker{one}, makeFixture(one.Dir, modules, "porter", peers.Changes{})
}

// goWorkers makes n workers that are this program.
func goWorkers(dir, modules, program string, n int) ([]load.Worker, error) {
	command := []string{program, "-worker"}
	return workers(dir, modules, n, peers.Changes{Host: map[string]any{"command": command}}, command)
}

func workers(dir, modules string, n int, c peers.Changes, command []string) ([]load.Worker, error) {
	list := make([]load.Worker, n)
	for i := range list {
		list[i] = load.Worker{Dir: filepath.Join(dir, fmt.Sprintf("echo-%d", i)), Command: command}
		c.ID = fmt.Sprintf("echo-%d", i)
		if err := makeFixture(list[i].Dir, modules, "echo", c); err != nil {
			return nil, err
		}
	}
	return list, nil
}
