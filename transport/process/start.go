package process

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/airi-host/airi-host/transport/ndjson"
)

// heldWait is how long pipes may look held after an exit before a descendant is
// blamed.
const heldWait = 100 * time.Millisecond

// Start runs a worker. An error names the plugin and what is wrong with the Spec
// or the program; nothing runs then. It takes the time of a fork and an exec, and
// with a cgroup some 0.1 ms more.
func Start(spec Spec) (*Process, error) {
	p, err := begin(spec)
	if err != nil && spec.Ended != nil {
		spec.Ended()
	}
	return p, err
}

func begin(spec Spec) (*Process, error) {
	spec, err := spec.resolved()
	if err != nil {
		return nil, err
	}
	tree, err := newTree(spec)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: start: %w", spec.Plugin, err)
	}
	pipes, err := openPlumbing(spec.Wire)
	if err != nil {
		tree.fell()
		return nil, fmt.Errorf("plugin %s: start: %w", spec.Plugin, err)
	}
	p := assemble(spec, pipes, tree)
	p.pid, err = theSpawner.fork(func() (int, error) { return tree.fork(forkExec(spec, pipes)) })
	pipes.closeWorker()
	if err != nil {
		p.release()
		return nil, fmt.Errorf("plugin %s: start %s: %w", spec.Plugin, spec.Path, err)
	}
	p.started = time.Now()
	go p.readLogs()
	go p.watch()
	return p, nil
}

// launch starts a program in a given environment and way.
type launch func(env []string, sys *syscall.SysProcAttr) (pid int, err error)

// forkExec starts the program with the worker's ends of the pipes.
func forkExec(spec Spec, pipes *plumbing) launch {
	return func(env []string, sys *syscall.SysProcAttr) (int, error) {
		return syscall.ForkExec(spec.Path, append([]string{spec.Path}, spec.Args...), &syscall.ProcAttr{
			Dir:   spec.Dir,
			Env:   env,
			Files: pipes.files(),
			Sys:   sys,
		})
	}
}

// assemble builds everything around the pipes, whose host's ends it owns from now
// on.
func assemble(spec Spec, pipes *plumbing, tree *tree) *Process {
	p := &Process{
		spec:    spec,
		tree:    tree,
		input:   newInputFile(pipes.input, spec.Plugin+" input"),
		wire:    newWire(pipes.output, pipes.wakeRead, pipes.wakeEnd),
		book:    newLogbook(spec.Log, spec.Traces),
		exited:  make(chan struct{}),
		drained: make(chan struct{}),
		ended:   make(chan struct{}),
	}
	if pipes.stdin >= 0 {
		p.stdin = os.NewFile(uintptr(pipes.stdin), spec.Plugin+" stdin")
	}
	for _, pipe := range pipes.logs {
		p.logs = append(p.logs, newLogReader(pipe))
	}
	p.reader = ndjson.NewReader(p.wire, ndjson.ReaderOptions{MaxRecord: spec.MaxRecord})
	p.writer = ndjson.NewWriter(p.input, ndjson.WriterOptions{
		MaxRecord:    spec.MaxRecord,
		QueueRecords: spec.QueueRecords,
		QueueBytes:   spec.QueueBytes,
		OnFail:       p.inputFailed,
	})
	p.step.Store(StepNone)
	p.hurried, p.hurry = context.WithCancel(context.Background())
	return p
}

// release gives the host's ends back when no worker was started.
func (p *Process) release() {
	p.tree.fell()
	p.closeInput()
	p.wire.close()
	for _, r := range p.logs {
		_ = r.file.Close()
	}
}

// closeInput tells the worker that nothing more comes.
func (p *Process) closeInput() {
	_ = p.input.Close()
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
}

// readLogs reads all log pipes to their end.
func (p *Process) readLogs() {
	var group sync.WaitGroup
	for _, r := range p.logs {
		group.Go(func() { r.run(p.book) })
	}
	group.Wait()
	p.book.end()
	close(p.drained)
}

// watch waits for the exit, tells it, and sees to what the worker leaves behind.
func (p *Process) watch() {
	end := awaitExit(p.pid)
	at := time.Now()
	step := p.step.Load().(Step)
	theSpawner.release()

	limit := p.tree.reached(end, step)

	p.mu.Lock()
	p.reaped = end.reaped
	p.mu.Unlock()
	alone := p.bury() || len(p.living()) == 0
	sources := p.sources()
	held := anyHeld(sources, heldWait)
	p.exit = end.status(at.Sub(p.started), step, held || !alone)
	p.exit.Limit = limit
	if p.spec.Ended != nil {
		p.spec.Ended()
	}
	close(p.exited)
	if held {
		drain(sources, at, p.spec.DrainIdle, p.spec.DrainMost)
	}
}

// sources is every pipe from the worker.
func (p *Process) sources() []source {
	sources := []source{p.wire}
	for _, r := range p.logs {
		sources = append(sources, r)
	}
	return sources
}
