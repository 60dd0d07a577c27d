package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

const (
	storms = 3
	// torturers and callers are how many there are of each.
	torturers = 8
	callers   = 12
	// calmTime is how long it may take until all is under way no more, and again
	// until everybody is ready.
	calmTime = 2 * time.Minute
	// shutdownTime is how long the host may take to end, and settleTime how long
	// what it held may take to be given back.
	shutdownTime = 2 * time.Minute
	settleTime   = 30 * time.Second
)

// soak is one run.
type soak struct {
	settings
	scratch *scratch
	flock   []*plugin
	log     io.Writer
	book    *book
	host    *actors.Host
	// heard closes when the book has all events of the host.
	heard chan struct{}

	// first are the sessions in which those left alone began.
	first map[string]string
	// before is what there was before the host, after what is left of it.
	before, after census
	// during is what there was while all workers ran.
	during census
	// calms is the memory after each storm.
	calms []memory
}

func newSoak(s settings, scratch *scratch, flock []*plugin, log io.Writer) *soak {
	return &soak{settings: s, scratch: scratch, flock: flock, log: log, book: newBook(), first: map[string]string{}}
}

// run does it all. What is wrong with the host stands in the book; an error is what
// keeps the run from going on.
func (k *soak) run(ctx context.Context) error {
	if err := k.rehearse(ctx); err != nil {
		return fmt.Errorf("rehearsal: %w", err)
	}
	k.before = k.scratch.census()
	if err := k.open(ctx, k.flock); err != nil {
		return errors.Join(err, k.close())
	}
	err := k.weather(ctx)
	if err == nil {
		k.wantUnharmed()
	}
	if stuck := k.close(); stuck != nil {
		return errors.Join(err, stuck)
	}
	k.settle()
	return err
}

// rehearse lets the process get what it has from then on, whatever runs in it: what
// is counted later is compared with what there is after that.
func (k *soak) rehearse(ctx context.Context) error {
	if err := k.open(ctx, k.flock[:1]); err != nil {
		return errors.Join(err, k.close())
	}
	_, err := k.echo(ctx, "rehearsal", k.flock[0], text{0, "hello"}, patience, false)
	return errors.Join(err, k.close())
}

// open makes the host and starts the plugins.
func (k *soak) open(ctx context.Context, flock []*plugin) (err error) {
	if k.host, err = newHost(k.scratch, errorLog{book: k.book}); err != nil {
		return err
	}
	sub := k.host.Subscribe(actors.KindsUsual, 1<<14)
	heard := make(chan struct{})
	k.heard = heard
	go func() {
		defer close(heard)
		k.book.follow(sub)
	}()
	ctx, cancel := context.WithTimeout(ctx, calmTime)
	defer cancel()
	for _, p := range flock {
		info, err := k.host.Start(ctx, p.man, actors.StartOptions{})
		if err != nil {
			return err
		}
		if info.Phase != lifecycle.Ready {
			return fmt.Errorf("plugin %s is %s, expected it to be ready", p.name, info.Phase)
		}
		k.first[p.name] = info.ID
	}
	return nil
}

// close ends the host, and waits for the last of its events.
func (k *soak) close() error {
	if k.host == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if err := k.host.Shutdown(ctx); err != nil {
		return err
	}
	<-k.heard
	if _, err := k.host.Inspect(k.flock[0].name); err == nil {
		k.book.fault("the host is shut down and still has a session of plugin %s", k.flock[0].name)
	}
	return nil
}

// weather is the storms, and the calm after each.
func (k *soak) weather(ctx context.Context) error {
	k.during = k.scratch.census()
	if err := k.during.found(len(k.flock)); err != nil {
		return err
	}
	for n := range storms {
		if err := k.storm(ctx, n); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := k.calm(ctx); err != nil {
			return err
		}
		if k.book.verdict() != nil {
			return nil
		}
		m := measure()
		k.calms = append(k.calms, m)
		fmt.Fprintf(k.log, "soak: storm %d of %d is over: %s deeds, %d crashes, heap %s, resident %s\n", n+1, storms,
			fmt.Sprint(k.book.total("deeds")), k.book.of("workers", "crashes"), mib(m.heap), mib(m.rss))
	}
	for _, much := range k.kept(ctx) {
		k.book.fault("%s", much)
	}
	return nil
}

// kept is what is more after the last storm than after the first, and stays so: what a
// worker that is behind has yet to take goes within settleTime.
func (k *soak) kept(ctx context.Context) (much []string) {
	last := &k.calms[storms-1]
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	for ; ; *last = measure() {
		much = last.grown(k.calms[0], residentCounts)
		if len(much) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return much
		case <-time.After(time.Second):
		}
	}
}

// storm lets everybody loose for a third of the time, or until something is wrong.
func (k *soak) storm(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, k.length/storms)
	defer cancel()
	var all sync.WaitGroup
	loose := func(who int, do func(context.Context, *rand.Rand)) {
		rng := rand.New(rand.NewPCG(k.seed, uint64(n)<<32|uint64(who)))
		all.Go(func() { do(ctx, rng) })
	}
	for i := range torturers {
		loose(i, k.torment)
	}
	for i := range callers {
		loose(torturers+i, k.callMany)
	}
	for i, p := range k.flock[:spared] {
		loose(torturers+callers+i, func(ctx context.Context, rng *rand.Rand) { k.callNeighbor(ctx, p, rng) })
	}
	over := make(chan struct{})
	go func() {
		all.Wait()
		close(over)
	}()
	select {
	case <-over:
		return nil
	case <-k.book.wrong:
		cancel()
	case <-ctx.Done():
	}
	return k.await(over)
}

// await waits for the end of a storm.
func (k *soak) await(over <-chan struct{}) error {
	select {
	case <-over:
		return nil
	case <-time.After(opTime + calmTime):
		k.book.hangs("what was under way has not ended %s after a storm", opTime+calmTime)
		return errors.New("the storm does not end")
	}
}

// calm waits until every plugin is ready and answers.
func (k *soak) calm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, calmTime)
	defer cancel()
	var all sync.WaitGroup
	for _, p := range k.flock {
		all.Go(func() {
			if err := k.revive(ctx, p); err != nil {
				k.book.fault("%w", err)
			}
		})
	}
	all.Wait()
	return nil
}

// wantUnharmed looks at those that were left alone.
func (k *soak) wantUnharmed() {
	for _, p := range k.flock[:spared] {
		info, err := k.host.Inspect(p.name)
		if err != nil || info.ID != k.first[p.name] || info.Phase != lifecycle.Ready || info.Worker.Crashes > 0 {
			k.book.fault("plugin %s, which is left alone, was ready as %s and is %s as %s: %s %w",
				p.name, k.first[p.name], info.Phase, info.ID, info.Reason, err)
		}
	}
}

// settle compares what there is after the host with what there was before it.
func (k *soak) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	for {
		k.after = k.scratch.census()
		left := k.after.since(k.before)
		if len(left) == 0 {
			return
		}
		if ctx.Err() != nil {
			k.book.hangs("%s after the shutdown there are still: %s", settleTime, strings.Join(left, "; "))
			return
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// undone are the deeds that were not done.
func (k *soak) undone() []string {
	var list []string
	for _, d := range deeds {
		if k.book.of("deeds", d.name) == 0 {
			list = append(list, d.name)
		}
	}
	slices.Sort(list)
	return list
}
