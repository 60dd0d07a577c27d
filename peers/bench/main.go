package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/airi-host/airi-host/peers"
	"github.com/airi-host/airi-host/peers/load"
	"github.com/airi-host/airi-host/plugin"
)

// subjects are the hosts that run in this program, by the name that -subject takes.
var subjects = map[string]func() load.Subject{
	"airi-host":   func() load.Subject { return &airiHost{} },
	"bare":        func() load.Subject { return &bare{} },
	"module":      func() load.Subject { return &moduleHost{} },
	"bare-own":    func() load.Subject { return &bare{own: true} },
	"remote":      func() load.Subject { return &remoteHost{} },
	"remote-sign": func() load.Subject { return &remoteHost{signs: true} },
	"remote-bare": func() load.Subject { return &bare{wire: remoteWire{}, alone: true} },
	"bare-eventa": func() load.Subject { return &bare{own: true, args: []string{"./" + eventaFile}} },
}

// settings are what the command line says.
type settings struct {
	set, only, plugins, subject string
	rounds, workers             int
	scale                       float64
	limit                       time.Duration
	airi, eliza, json, worker   bool
}

func main() { os.Exit(command(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func command(args []string, in io.Reader, out, log io.Writer) int {
	s, err := parse(args, log)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	if err := s.run(ctx, in, out, log); err != nil {
		fmt.Fprintln(log, "bench:", err)
		return 1
	}
	return 0
}

func parse(args []string, log io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(log)
	f.StringVar(&s.set, "set", peers.Paperclip, "the release of Paperclip: "+peers.Paperclip+" or "+peers.Paperclip916)
	f.StringVar(&s.only, "only", "", "the loads whose name has this in it")
	f.StringVar(&s.plugins, "plugins", "", "the program built from tools/bench, to compare with hashicorp/go-plugin")
	f.BoolVar(&s.airi, "airi", false, "compare an AIRI module with a bare loop instead; needs no network")
	f.BoolVar(&s.eliza, "eliza", false, "compare a remote plugin of elizaOS with a bare loop instead")
	f.IntVar(&s.rounds, "rounds", 5, "how often everything is measured")
	f.IntVar(&s.workers, "workers", 20, "how many idle workers the memory is measured with; 0 leaves it out")
	f.Float64Var(&s.scale, "scale", 1, "how many calls, as a part of the usual number")
	f.DurationVar(&s.limit, "limit", 15*time.Minute, "the longest time for all of it")
	f.BoolVar(&s.json, "json", false, "print one JSON object a line")
	f.StringVar(&s.subject, "subject", "", "be measured, as this host; for the program itself")
	f.BoolVar(&s.worker, "worker", false, "be a worker in Go; for the program itself")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 || s.rounds < 1 || s.scale <= 0 {
		fmt.Fprintln(log, "bench: expected no arguments, at least one round, a scale above 0")
		return s, errors.New("usage")
	}
	return s, nil
}

func (s settings) run(ctx context.Context, in io.Reader, out, log io.Writer) error {
	if s.worker {
		return echoWorker(plugin.PaperclipOptions{}) // on its own standard streams
	}
	if s.subject == "" {
		return s.compare(ctx, out, log)
	}
	open, ok := subjects[s.subject]
	if !ok {
		return fmt.Errorf("there is no host %q to be measured", s.subject)
	}
	return load.Serve(ctx, in, out, open())
}
