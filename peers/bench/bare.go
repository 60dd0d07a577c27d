package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/peers/load"
)

// bare is no host at all: it writes lines to a worker and reads lines from it, with
// blocking system calls, and looks for the id in what it reads. What a host costs
// beyond that is what it does for its callers.
type bare struct {
	// own tells that the lines travel on descriptors of their own, 3 and 4, not on the
	// worker's standard streams.
	own bool
	// args are added to what the worker is started with.
	args []string
	// wire is how workers are called; nil means Paperclip's.
	wire wire
	// alone has only the first worker started: the others need a host.
	alone   bool
	workers []*pipes
}

// pipes are the ends of one worker's pipes.
type pipes struct {
	wire   wire
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	lines  *bufio.Reader
	line   []byte
	last   int
}

var (
	_ load.Subject = (*bare)(nil)
	_ load.Looper  = (*bare)(nil)
)

// Start starts the workers and initializes them.
func (b *bare) Start(_ context.Context, workers []load.Worker) error {
	if b.wire == nil {
		b.wire = jsonRPC{}
	}
	if b.alone {
		workers = workers[:1]
	}
	for i, w := range workers {
		w.Command = append(w.Argv(), b.args...)
		p, err := startPipes(w, b.own)
		if err != nil {
			return err
		}
		p.wire = b.wire
		b.workers = append(b.workers, p)
		if err := b.wire.greet(p, i); err != nil {
			return err
		}
	}
	return nil
}

func startPipes(w load.Worker, own bool) (*pipes, error) {
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	argv := w.Argv()
	p := &pipes{cmd: exec.Command(argv[0], argv[1:]...), stdin: stdin, stdout: stdout}
	p.cmd.Dir, p.cmd.Stderr = w.Dir, os.Stderr
	if own {
		p.cmd.ExtraFiles = []*os.File{in, out}
	} else {
		p.cmd.Stdin, p.cmd.Stdout = in, out
	}
	for _, f := range []*os.File{stdin, stdout} {
		f.Fd() // from here on it blocks: nobody else is to run meanwhile
		enlarge(f)
	}
	p.lines = bufio.NewReaderSize(stdout, 256<<10)
	err = p.cmd.Start()
	return p, errors.Join(err, in.Close(), out.Close())
}

// next is the line of a new request; it is overwritten by the next one.
func (p *pipes) next(method string, params []byte) (line []byte, id int) {
	p.last++
	p.line = p.wire.request(p.line[:0], p.last, method, params)
	return p.line, p.last
}

// exchange sends a request and returns the result of its answer, which holds until
// the next one.
func (p *pipes) exchange(line []byte, id int) ([]byte, error) {
	if _, err := p.stdin.Write(line); err != nil {
		return nil, err
	}
	for {
		got, result, err := p.answer()
		if err != nil || got == id {
			return result, err
		}
	}
}

// answer reads lines until one is an answer.
func (p *pipes) answer() (id int, result []byte, err error) {
	for {
		line, err := p.lines.ReadSlice('\n')
		if err != nil {
			return 0, nil, fmt.Errorf("the worker's line: %w", err)
		}
		if id, result, skip, err := p.wire.answer(line); !skip {
			return id, result, err
		}
	}
}

// Call makes one call; there must be no other at the time.
func (b *bare) Call(_ context.Context, key string, input json.RawMessage) (json.RawMessage, error) {
	p := b.workers[0]
	switch method := b.wire.method(key); {
	case method != "":
		result, err := p.exchange(p.next(method, b.wire.params(key, input)))
		return bytes.Clone(result), err
	case key == "action:fan" && b.own:
		return p.fan(input, "say", "")
	case key == "action:fan":
		return p.fan(fmt.Appendf([]byte(`{"key":"fan",`), "%s", input[1:]), "state.get", kept)
	}
	return nil, fmt.Errorf("a bare loop cannot call %s", key)
}

// Loop makes the calls of a load, one goroutine writing and one reading when several
// are in flight, else one that does both.
func (b *bare) Loop(_ context.Context, l load.Load) ([]time.Duration, error) {
	key := cmp.Or(l.Key, "data:echo")
	p, method, params := b.workers[0], b.wire.method(key), b.wire.params(key, l.Content())
	if l.Flight == 1 {
		return p.inTurn(method, params, l.Calls)
	}
	return p.inFlight(method, params, l)
}

func (p *pipes) inTurn(method string, params []byte, calls int) ([]time.Duration, error) {
	took := make([]time.Duration, calls)
	for i := range took {
		began := time.Now()
		if _, err := p.exchange(p.next(method, params)); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
	}
	return took, nil
}

func (p *pipes) inFlight(method string, params []byte, l load.Load) ([]time.Duration, error) {
	first, took := p.last+1, make([]time.Duration, l.Calls)
	epoch, began := time.Now(), make([]atomic.Int64, l.Calls) // in nanoseconds since then
	free := make(chan struct{}, l.Flight)
	wrote := make(chan error, 1)
	go func() { wrote <- p.writeAll(method, params, epoch, began, free) }()
	for range took {
		id, _, err := p.answer()
		if err != nil {
			_ = p.stdin.Close() // so that the writer ends
			return nil, errors.Join(err, <-wrote)
		}
		took[id-first] = time.Since(epoch) - time.Duration(began[id-first].Load())
		<-free
	}
	return took, <-wrote
}

// writeAll writes a request for each of began, as many together as there is room for
// in free.
func (p *pipes) writeAll(method string, params []byte, epoch time.Time, began []atomic.Int64, free chan struct{}) error {
	var batch []byte
	for i := 0; i < len(began); {
		free <- struct{}{}
		for batch = batch[:0]; ; {
			p.last++
			batch = p.wire.request(batch, p.last, method, params)
			began[i].Store(int64(time.Since(epoch)))
			if i++; i == len(began) || len(batch) > 128<<10 || !room(free) {
				break
			}
		}
		if _, err := p.stdin.Write(batch); err != nil {
			return err
		}
	}
	return nil
}

func room(free chan struct{}) bool {
	select {
	case free <- struct{}{}:
		return true
	default:
		return false
	}
}

// Close ends the workers by the end of their input, and by force if one stays.
func (b *bare) Close() error {
	var all []error
	for _, p := range b.workers {
		all = append(all, p.close())
	}
	return errors.Join(all...)
}

func (p *pipes) close() error {
	forced := time.AfterFunc(stopTime, func() { _ = p.cmd.Process.Kill() })
	defer forced.Stop()
	err := p.stdin.Close()
	_, _ = io.Copy(io.Discard, p.stdout) // until it has ended
	return errors.Join(err, p.cmd.Wait(), p.stdout.Close())
}
