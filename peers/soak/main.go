package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"github.com/airi-host/airi-host/peers"
)

// settings are what the command line says.
type settings struct {
	set     string
	length  time.Duration
	seed    uint64
	workers int
}

// fewest is how many workers there have to be: those left alone, and as many to be
// tortured.
const fewest = 2 * spared

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

func command(args []string, out, log io.Writer) int {
	s, err := parse(args, log)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s, out, log); err != nil {
		fmt.Fprintln(log, "soak:", err)
		return 1
	}
	return 0
}

func parse(args []string, log io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.SetOutput(log)
	f.StringVar(&s.set, "set", peers.Paperclip, "the release of Paperclip: "+peers.Paperclip+" or "+peers.Paperclip916)
	f.DurationVar(&s.length, "for", 3*time.Minute, "how long the storms last together")
	f.Uint64Var(&s.seed, "seed", 0, "decides what is done; 0 takes a random one")
	f.IntVar(&s.workers, "workers", 20, "how many workers there are; two of them are left alone")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 || s.length <= 0 || s.workers < fewest {
		fmt.Fprintf(log, "soak: expected no arguments, a time above 0 and at least %d workers\n", fewest)
		return s, errors.New("usage")
	}
	for s.seed == 0 {
		s.seed = rand.Uint64()
	}
	return s, nil
}

// run prepares what a soak needs, and prints its report.
func run(ctx context.Context, s settings, out, log io.Writer) (err error) {
	fmt.Fprintf(log, "soak: seed %d, %d workers for %s\n", s.seed, s.workers, s.length)
	modules, err := peers.Modules(ctx, s.set)
	if err != nil {
		return err
	}
	scratch, err := newScratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.remove()) }()
	flock, err := newFlock(ctx, scratch, modules, s.workers)
	if err != nil {
		return err
	}
	k := newSoak(s, scratch, flock, log)
	err = k.run(ctx)
	k.report(out)
	if wrong := k.book.verdict(); wrong != nil {
		return fmt.Errorf("seed %d: %w", s.seed, errors.Join(wrong, err))
	}
	return err
}
