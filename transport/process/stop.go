package process

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// Step is a rung of the ladder that ends a worker.
type Step string

// The steps, from the gentle to the sure.
const (
	// StepNone: the worker and its tree were gone before anything was done.
	StepNone Step = ""
	// StepStdin: its input was closed.
	StepStdin Step = "stdin"
	// StepTerm: SIGTERM went to its tree.
	StepTerm Step = "term"
	// StepKill: SIGKILL went to its tree.
	StepKill Step = "kill"
)

// The default waits of a Ladder.
const (
	DefaultStdinWait = 2 * time.Second
	DefaultTermWait  = 3 * time.Second
	DefaultKillWait  = 2 * time.Second
)

// Ladder says how long each step of Stop may take before the next. Zero or less
// means the default.
type Ladder struct {
	// CloseStdin is the wait after the worker's input was closed. Up to half of
	// it goes into writing what was still queued for the worker.
	CloseStdin time.Duration
	// Term is the wait after SIGTERM.
	Term time.Duration
	// Kill is the wait after SIGKILL, which only a process that hangs in the
	// kernel survives.
	Kill time.Duration
}

func (l Ladder) resolved() Ladder {
	orDefault(&l.CloseStdin, DefaultStdinWait)
	orDefault(&l.Term, DefaultTermWait)
	orDefault(&l.Kill, DefaultKillWait)
	return l
}

// StopReport says how a Stop went.
type StopReport struct {
	// Step is the one that worked, or the last one tried.
	Step Step
	// Took is the time from the first step to the end of the tree.
	Took time.Duration
	// Left is the processes of the tree that live on, when Stop failed.
	Left []int
}

// stopping is one run of the ladder, which any number of callers wait for.
type stopping struct {
	done   chan struct{}
	report StopReport
	err    error
}

const (
	// firstLook and lastLook are the shortest and longest pause between two looks
	// at a tree whose leader is gone.
	firstLook = 2 * time.Millisecond
	lastLook  = 100 * time.Millisecond
)

// Stop ends the worker and its whole tree, as far as Containment says that it is
// held, step by step: it closes the worker's input, sends SIGTERM, sends SIGKILL,
// and waits after each. Records that were sent before are written if the worker
// takes them in time; later ones are refused with transport.ErrClosed. Recv goes on
// and returns what the worker still says.
//
// Stop returns when no process of the tree lives, also when the worker itself had
// exited long before. When ctx ends first, SIGKILL is sent at once. It fails only
// when something survives that, and may be called again then.
//
// Any number of goroutines may call it at any time: they share one run, with the
// ladder of the first, and get one report.
func (p *Process) Stop(ctx context.Context, ladder Ladder) (StopReport, error) {
	run := p.beginStop(ladder)
	select {
	case <-run.done:
	case <-ctx.Done():
		p.hurry()
		<-run.done // bounded: the wait of the last step
	}
	return run.report, run.err
}

// beginStop starts a run, or joins the one there is.
func (p *Process) beginStop(ladder Ladder) *stopping {
	p.mu.Lock()
	defer p.mu.Unlock()
	if run := p.stop; run != nil && !run.failed() {
		return run
	}
	run := &stopping{done: make(chan struct{})}
	p.stop = run
	go p.climb(run, ladder.resolved())
	return run
}

// failed tells whether the run is over and something lives.
func (s *stopping) failed() bool {
	select {
	case <-s.done:
		return s.err != nil
	default:
		return false
	}
}

// climb runs the ladder.
func (p *Process) climb(run *stopping, ladder Ladder) {
	defer close(run.done)
	began := time.Now()
	defer func() { run.report.Took = time.Since(began) }()
	p.writer.Close()
	defer p.closeInput()
	if p.gone() {
		return
	}
	rungs := []struct {
		step Step
		wait time.Duration
		act  func(context.Context)
	}{
		{StepStdin, ladder.CloseStdin, p.endInput},
		{StepTerm, ladder.Term, func(context.Context) { p.signal(syscall.SIGTERM) }},
		{StepKill, ladder.Kill, p.kill},
	}
	for _, rung := range rungs {
		parent := p.hurried
		if rung.step == StepKill {
			parent = context.Background()
		}
		if parent.Err() != nil {
			continue
		}
		run.report.Step = rung.step
		p.step.Store(rung.step)
		if p.try(parent, rung.wait, rung.act) {
			return
		}
	}
	if p.gone() {
		return // at the last moment
	}
	run.report.Left = p.living()
	run.err = fmt.Errorf("plugin %s: %d processes of worker %d have survived SIGKILL for %s, pids %v: they hang in the kernel, or belong to another user; stop again later",
		p.spec.Plugin, len(run.report.Left), p.pid, ladder.Kill, run.report.Left)
}

// try takes one step and tells whether it ended the group within the wait.
func (p *Process) try(parent context.Context, wait time.Duration, act func(context.Context)) bool {
	ctx, cancel := context.WithTimeout(parent, wait)
	defer cancel()
	act(ctx)
	return p.awaitGone(ctx)
}

// endInput lets what is queued go out, for half of the time, and closes the
// worker's input.
func (p *Process) endInput(ctx context.Context) {
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	_ = p.writer.Flush(ctx)
	p.closeInput()
}

// kill sends SIGKILL, again and again: without a cgroup a process that forks all the
// time is met between two looks only.
func (p *Process) kill(ctx context.Context) {
	p.signal(syscall.SIGKILL)
	p.look(ctx, func() bool {
		if p.gone() {
			return true
		}
		p.signal(syscall.SIGKILL)
		return false
	})
}

// awaitGone waits until the tree is gone.
func (p *Process) awaitGone(ctx context.Context) bool { return p.look(ctx, p.gone) }

// look looks until it is done, or ctx ends. While the leader lives it cannot be, so
// that looking begins with the exit.
func (p *Process) look(ctx context.Context, done func() bool) bool {
	select {
	case <-p.exited:
	case <-ctx.Done():
		return false
	}
	for pause := firstLook; !done(); pause = min(2*pause, lastLook) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// gone tells whether nothing of the tree lives, and then buries the leader.
func (p *Process) gone() bool {
	select {
	case <-p.exited:
	default:
		return false
	}
	return p.bury()
}

// bury reaps the leader if it was the last of its tree, and reports that. A process
// of its group that was forked while it was looked for may have been missed; the
// signal reaches it, and nobody else, because the zombie keeps the number.
func (p *Process) bury() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buried {
		return true
	}
	if !p.tree.over(!p.reaped) {
		return false
	}
	if !p.reaped {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		reap(p.pid)
	}
	p.tree.fell()
	p.buried = true
	return true
}

// living lists what lives of the tree.
func (p *Process) living() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buried {
		return nil
	}
	return p.tree.living(!p.reaped)
}

// signal sends sig to the tree. Once that is gone, its numbers may be somebody
// else's: then nothing is sent.
func (p *Process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.buried {
		p.tree.signal(sig, !p.reaped)
	}
}
