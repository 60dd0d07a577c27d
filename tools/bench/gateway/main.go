package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// settings are what the command line says.
type settings struct {
	role, only, pprof, kinds                string
	rounds, idle, sessions, messages, times int
}

func main() {
	var o settings
	flag.StringVar(&o.role, "role", "", "what this process is; set by itself")
	flag.StringVar(&o.only, "only", "", "the rows, with commas; all without")
	flag.StringVar(&o.kinds, "servers", "bare,host", "the servers, with commas")
	flag.StringVar(&o.pprof, "pprof", "", "where the profiles of the host go: FILE.cpu and FILE.heap")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each row is measured")
	flag.IntVar(&o.idle, "idle", 5000, "how many peers say nothing")
	flag.IntVar(&o.times, "times", 5, "how often twenty join in a round")
	flag.IntVar(&o.sessions, "sessions", 2000, "how many of them have a session; each is told to all others")
	flag.IntVar(&o.messages, "messages", 3000, "how many events are sent")
	flag.Parse()
	err := o.command()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o settings) command() error {
	if o.role != "" {
		if o.pprof != "" {
			runtime.MemProfileRate = 4096
		}
		return run(o.role)
	}
	fmt.Printf("%-38s %12s %12s %7s\n", "", "bare", "host", "ratio")
	for _, r := range rows {
		if !r.named(o.only) {
			continue
		}
		if err := o.measure(r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// measure runs a row on one server after the other, round by round, and prints medians.
func (o settings) measure(r row) error {
	got := map[string][][]number{}
	for range o.rounds {
		for _, kind := range strings.Split(o.kinds, ",") {
			if r.only != "" && r.only != kind {
				continue
			}
			numbers, err := o.once(r, kind)
			if err != nil {
				return err
			}
			got[kind] = append(got[kind], numbers)
		}
	}
	some := got["host"]
	if some == nil {
		some = got["bare"]
	}
	if some == nil {
		return nil
	}
	for i, n := range some[0] {
		bare, hasBare := middle(got["bare"], i)
		host, hasHost := middle(got["host"], i)
		fmt.Printf("%-38s %12s %12s", n.what, cell(bare, hasBare, n.unit), cell(host, hasHost, n.unit))
		if hasBare && hasHost {
			fmt.Printf(" %7.2f", host/bare)
		}
		fmt.Println()
	}
	return nil
}

func cell(value float64, has bool, unit string) string {
	if !has {
		return "–"
	}
	return strings.TrimSpace(fmt.Sprintf("%.2f %s", value, unit))
}

// middle is the median of one number over the rounds.
func middle(rounds [][]number, i int) (float64, bool) {
	if rounds == nil {
		return 0, false
	}
	var all []float64
	for _, numbers := range rounds {
		all = append(all, numbers[i].value)
	}
	return median(all), true
}

func (o settings) once(r row, kind string) (numbers []number, err error) {
	s, err := o.open(kind)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return r.run(s)
}

// server is the other process.
type server struct {
	settings
	kind, address string
	cmd           *exec.Cmd
	in            io.WriteCloser
	out           *bufio.Scanner
	profiled      bool
}

func (o settings) open(kind string) (*server, error) {
	s := &server{settings: o, kind: kind, cmd: exec.Command(os.Args[0], "-role", kind, "-pprof", o.pprof)}
	s.cmd.Stderr = os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewScanner(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	return s, s.read(&s.address)
}

func (s *server) read(into any) error {
	if !s.out.Scan() {
		return fmt.Errorf("the server has ended: %w", errors.Join(io.ErrUnexpectedEOF, s.out.Err()))
	}
	return json.Unmarshal(s.out.Bytes(), into)
}

func (s *server) ask(what string) (u usage, err error) {
	if _, err := fmt.Fprintln(s.in, what); err != nil {
		return u, err
	}
	return u, s.read(&u)
}

// profiles begins a profile of the host, if one is asked for.
func (s *server) profiles(suffix ...string) error {
	if s.pprof == "" || s.kind != "host" {
		return nil
	}
	if s.profiled {
		if _, err := s.ask("profile"); err != nil {
			return err
		}
	}
	s.profiled = true
	_, err := s.ask("profile " + s.pprof + strings.Join(suffix, ""))
	return err
}

func (s *server) close() error {
	if s.profiled {
		if _, err := s.ask("profile"); err != nil {
			return err
		}
	}
	_ = s.in.Close()
	return s.cmd.Wait()
}
