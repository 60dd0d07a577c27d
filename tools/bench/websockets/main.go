package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// plan is what the clients are to do.
type plan struct {
	Address   string
	Idle      int
	Receivers int
	Messages  int
	Size      int
}

func main() {
	var p plan
	libs := flag.String("lib", "host,gobwas,gws,gorilla,coder", "the libraries, with commas")
	role := flag.String("role", "", "what this process is; set by itself")
	flag.IntVar(&p.Idle, "idle", 5000, "how many peers say nothing")
	flag.IntVar(&p.Receivers, "receivers", 100, "how many hear each message")
	flag.IntVar(&p.Messages, "messages", 3000, "how many messages are sent")
	flag.IntVar(&p.Size, "size", 200, "how long each is, in bytes")
	flag.Parse()
	var err error
	switch *role {
	case "client":
		err = client(os.Stdin, os.Stdout)
	case "server":
		err = measure(*libs, p)
	default:
		err = all(strings.Split(*libs, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// all runs a process for each library, so that none inherits another's heap.
func all(libs []string) error {
	fmt.Printf("%-8s %9s %9s   %14s %10s   %14s %10s\n", "", "idle peer", "idle peer", "window 1: CPU", "", "window 64: CPU", "")
	fmt.Printf("%-8s %9s %9s   %14s %10s   %14s %10s\n", "library", "RSS", "heap+stk", "/1,000 deliv.", "deliv./s", "/1,000 deliv.", "deliv./s")
	for _, lib := range libs {
		cmd := exec.Command(os.Args[0], append(append([]string{}, os.Args[1:]...), "-role", "server", "-lib", lib)...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", lib, err)
		}
	}
	return nil
}

// measure serves the clients of one library and prints a row.
func measure(lib string, p plan) error {
	crowd := &crowd{}
	handler, ok := libraries[lib]
	if !ok {
		return fmt.Errorf("there is no library %q", lib)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler(crowd)}
	go func() { _ = server.Serve(listener) }()
	p.Address = listener.Addr().String()

	cmd := exec.Command(os.Args[0], "-role", "client")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = os.Stderr
	before := memory()
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := json.NewEncoder(in).Encode(p); err != nil {
		return err
	}
	steps := bufio.NewScanner(out)
	next := func() string { steps.Scan(); return steps.Text() }

	fmt.Printf("%-8s ", lib)
	next() // all idle peers are connected
	after := memory()
	fmt.Printf("%5.1f KiB %5.1f KiB ", per(after.rss-before.rss, p.Idle), per(after.own-before.own, p.Idle))
	fmt.Fprintln(in)
	for range 2 {
		next() // the receivers are connected, the window is set
		began, used := time.Now(), cpu()
		fmt.Fprintln(in)
		next() // all was delivered
		deliveries := float64(p.Messages * p.Receivers)
		spent, took := cpu()-used, time.Since(began)
		fmt.Printf("  %11.2f ms %10.0f ", spent.Seconds()*1e6/deliveries, deliveries/took.Seconds())
		fmt.Fprintln(in)
	}
	fmt.Println()
	return cmd.Wait()
}

type usage struct{ rss, own float64 }

// memory is what this process has, when what can be given back has been.
func memory() usage {
	for range 3 {
		debug.FreeOSMemory()
		time.Sleep(200 * time.Millisecond)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, _ := os.ReadFile("/proc/self/status")
	var kib float64
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, _ = fmt.Sscan(rest, &kib)
		}
	}
	return usage{rss: kib, own: float64(m.HeapInuse+m.StackInuse) / 1024}
}

func per(kib float64, n int) float64 { return kib / float64(max(n, 1)) }

// cpu is the time that this process has had of all processors.
func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
