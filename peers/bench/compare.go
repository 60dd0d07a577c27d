package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/airi-host/airi-host/peers"
	"github.com/airi-host/airi-host/peers/load"
)

// contestant is a host in a process of its own.
type contestant struct {
	name string
	open func(dir string) (*load.Client, error)
	// kinds are the loads that it can take.
	kinds []load.Kind

	client *load.Client
}

func makeFixture(dir, modules, name string, c peers.Changes) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return peers.Unpack(dir, modules, name, c)
}

// bench is one comparison.
type bench struct {
	settings
	modules, program, dir string
	out, log              io.Writer
}

// compare measures everything and prints it.
func (s settings) compare(ctx context.Context, out, log io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "airi-host-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{settings: s, program: program, dir: dir, out: out, log: log}
	if s.airi {
		return b.module(ctx)
	}
	if b.modules, err = peers.Modules(ctx, s.set); err != nil {
		return err
	}
	if s.eliza {
		return b.remote(ctx)
	}
	return errors.Join(b.nodeWorker(ctx), b.routes(ctx), b.goWorker(ctx), b.memory(ctx))
}

var everything = []load.Kind{load.Echo, load.Ask}

func (b *bench) paperclip() *contestant {
	return &contestant{name: "paperclip", kinds: everything, open: func(dir string) (*load.Client, error) {
		return peers.OpenManager(dir, b.modules, nil)
	}}
}

// self is a host of this program.
func (b *bench) self(name, subject string, kinds ...load.Kind) *contestant {
	return &contestant{name: name, kinds: kinds, open: func(string) (*load.Client, error) {
		return load.Open(exec.Command(b.program, "-subject", subject), nil)
	}}
}

// plugin is go-plugin with one of its protocols.
func (b *bench) plugin(protocol string) *contestant {
	return &contestant{name: "go-plugin " + protocol, kinds: []load.Kind{load.Echo}, open: func(string) (*load.Client, error) {
		return load.Open(exec.Command(b.plugins, protocol), nil)
	}}
}

func (b *bench) nodeWorker(ctx context.Context) error {
	return b.race(ctx, "a worker written with Paperclip's SDK, in Node", b.loads(nodeLoads), []*contestant{
		b.paperclip(), b.self("airi-host", "airi-host", everything...), b.self("bare loop", "bare", everything...),
	}, func(dir string) ([]load.Worker, error) { return nodeWorkers(dir, b.modules, 1) })
}

// routes compares what routes cost, with the release that has all of them.
func (b *bench) routes(ctx context.Context) error {
	with := *b
	loads := b.loads(routeLoads)
	if len(loads) == 0 {
		return nil
	}
	var err error
	if with.modules, err = peers.Modules(ctx, peers.Paperclip916); err != nil {
		return err
	}
	kinds := []load.Kind{load.Log, load.Duplex}
	host := with.paperclip()
	host.kinds = kinds
	return with.race(ctx, "routes of a worker written with Paperclip's SDK, in Node; a call is a chunk", loads, []*contestant{
		host, with.self("airi-host", "airi-host", kinds...),
	}, func(dir string) ([]load.Worker, error) { return routeWorkers(dir, with.modules) })
}

func (b *bench) goWorker(ctx context.Context) error {
	hosts := []*contestant{b.self("airi-host", "airi-host", load.Echo), b.self("bare loop", "bare", load.Echo)}
	if b.plugins != "" {
		hosts = append(hosts, b.plugin("netrpc"), b.plugin("grpc"))
	}
	return b.race(ctx, "a worker written in Go", b.loads(goLoads), hosts,
		func(dir string) ([]load.Worker, error) { return goWorkers(dir, b.modules, b.program, 1) })
}

// module compares an AIRI module with the bare loop, and with what Eventa alone makes of
// that.
func (b *bench) module(ctx context.Context) error {
	return b.race(ctx, "an AIRI module in Node and a plugin in Go", b.loads(eventaLoads), []*contestant{
		b.self("bare loop", "bare-own", everything...), b.self("bare Eventa", "bare-eventa", everything...),
		b.self("airi-host", "module", everything...),
	}, moduleWorkers)
}

// remote compares a remote plugin of elizaOS with the bare loop, with and without
// signatures.
func (b *bench) remote(ctx context.Context) error {
	crossing := []load.Kind{load.Echo, load.Cross}
	return b.race(ctx, "a remote plugin of elizaOS in Node", b.loads(remoteLoads), []*contestant{
		b.self("bare loop", "remote-bare", load.Echo), b.self("airi-host", "remote", crossing...),
		b.self("airi-host, signing", "remote-sign", crossing...),
	}, func(dir string) ([]load.Worker, error) { return remoteWorkers(dir, b.modules) })
}

// race puts every load on every host, round by round.
func (b *bench) race(ctx context.Context, title string, loads []load.Load, hosts []*contestant, workers func(dir string) ([]load.Worker, error)) (err error) {
	if len(loads) == 0 {
		return nil
	}
	defer func() { err = errors.Join(err, end(hosts)) }()
	if err := b.start(ctx, hosts, workers); err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	t := newTable(title, loads, hosts)
	for n := range b.rounds {
		if err := round(ctx, n, hosts, t); err != nil {
			return fmt.Errorf("%s: %w", title, err)
		}
		fmt.Fprintf(b.log, "%s: round %d of %d\n", title, n+1, b.rounds)
	}
	return t.print(b.out, b.json)
}

// round measures everything once. Who comes first turns from round to round.
func round(ctx context.Context, n int, hosts []*contestant, t *table) error {
	for i, l := range t.loads {
		for j := range hosts {
			host := hosts[(j+n)%len(hosts)]
			if !slices.Contains(host.kinds, l.Kind) {
				continue
			}
			r, err := host.measure(ctx, l, n == 0)
			if err != nil {
				return fmt.Errorf("%s: %w", host.name, err)
			}
			t.add(i, host.name, r)
		}
	}
	return nil
}

// start starts the hosts, each with workers of its own.
func (b *bench) start(ctx context.Context, hosts []*contestant, workers func(dir string) ([]load.Worker, error)) error {
	for _, h := range hosts {
		if err := b.startOne(ctx, h, workers); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
	}
	return nil
}

// end ends the hosts that were started, and their workers.
func end(hosts []*contestant) error {
	var all []error
	for _, h := range hosts {
		if h.client != nil {
			all = append(all, h.client.Close())
		}
	}
	return errors.Join(all...)
}

func (b *bench) startOne(ctx context.Context, h *contestant, workers func(dir string) ([]load.Worker, error)) error {
	dir, err := os.MkdirTemp(b.dir, "host-")
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	list, err := workers(dir)
	if err != nil {
		return err
	}
	if h.client, err = h.open(dir); err != nil {
		return err
	}
	return h.client.Do(ctx, "workers", map[string]any{"workers": list}, nil)
}

func (c *contestant) measure(ctx context.Context, l load.Load, cold bool) (load.Result, error) {
	var r load.Result
	if cold {
		if err := c.client.Do(ctx, "run", map[string]any{"load": warming(l)}, nil); err != nil {
			return r, err
		}
	}
	return r, c.client.Do(ctx, "run", map[string]any{"load": l}, &r)
}

// memory is what the hosts take with workers that do nothing.
func (b *bench) memory(ctx context.Context) error {
	if b.workers == 0 || b.only != "" {
		return nil
	}
	var list []footprint
	for _, h := range []*contestant{b.paperclip(), b.self("airi-host", "airi-host"), b.self("bare loop", "bare")} {
		f, err := b.footprint(ctx, h)
		if err != nil {
			return fmt.Errorf("memory: %s: %w", h.name, err)
		}
		list = append(list, f)
	}
	return printFootprints(b.out, b.json, b.workers, list)
}

// footprint is the resident memory of a host, in MiB.
type footprint struct {
	Host  string  `json:"host"`
	Empty float64 `json:"emptyMiB"`
	Full  float64 `json:"fullMiB"`
}

func (b *bench) footprint(ctx context.Context, h *contestant) (f footprint, err error) {
	f.Host = h.name
	dir, err := os.MkdirTemp(b.dir, "host-")
	if err != nil {
		return f, err
	}
	list, err := nodeWorkers(dir, b.modules, b.workers)
	if err != nil {
		return f, err
	}
	client, err := h.open(dir)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if f.Empty, err = resident(ctx, client); err != nil {
		return f, err
	}
	if err := client.Do(ctx, "workers", map[string]any{"workers": list}, nil); err != nil {
		return f, err
	}
	f.Full, err = resident(ctx, client)
	return f, err
}

func resident(ctx context.Context, c *load.Client) (float64, error) {
	var m struct{ Bytes float64 }
	err := c.Do(ctx, "memory", nil, &m)
	return m.Bytes / (1 << 20), err
}
