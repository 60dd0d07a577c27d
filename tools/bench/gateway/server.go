package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/peers/load"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	airiserver "github.com/airi-host/airi-host/protocol/airi/server"
	"github.com/airi-host/airi-host/transport/websocket"
)

const token = "a token of the benchmark"

// grace is short, so that those who left a row are gone in the next round.
const grace = 50 * time.Millisecond

// usage is what a server says of itself.
type usage struct {
	CPU time.Duration
	// RSS is what is resident, Heap and Stack what of it is in use, in bytes.
	RSS, Heap, Stack int64
	// Sessions are those that are ready.
	Sessions int
	// Slow counts the connections that were closed for being so, Dropped what was not sent.
	Slow    uint64
	Dropped map[string]uint64
}

// subject is a server under measurement.
type subject interface {
	http.Handler
	// tell adds what it knows of itself.
	tell(*usage)
}

// serve answers the lines of its standard input: "use", "rest", which is "use" when all
// memory was given back that can be, and "profile FILE" or "profile".
func serve(s subject, in io.Reader, out io.Writer) error {
	debug.SetGCPercent(400) // as the binary does
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = web.Serve(listener) }()
	answers := json.NewEncoder(out)
	if err := answers.Encode(listener.Addr().String()); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var word, file string
		_, _ = fmt.Sscan(lines.Text(), &word, &file)
		switch {
		case word == "rest":
			for range 3 {
				debug.FreeOSMemory()
				time.Sleep(200 * time.Millisecond)
			}
		case file != "":
			if err := profile(file); err != nil {
				return err
			}
		case word == "profile":
			pprof.StopCPUProfile()
		}
		u := usage{CPU: load.CPU()}
		if u.RSS, err = load.Memory(); err != nil {
			return err
		}
		if word == "rest" {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			u.Heap, u.Stack = int64(m.HeapInuse), int64(m.StackInuse)
		}
		s.tell(&u)
		if err := answers.Encode(u); err != nil {
			return err
		}
	}
	return lines.Err()
}

// profile writes the heap as it is and begins a profile of the processor.
func profile(file string) error {
	heap, err := os.Create(file + ".heap")
	if err != nil {
		return err
	}
	if err := pprof.WriteHeapProfile(heap); err != nil {
		return err
	}
	cpu, err := os.Create(file + ".cpu")
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(cpu)
}

// host is a gateway and the host behind it.
type host struct {
	*gateway.Gateway
	host *actors.Host
}

func newHost() (subject, error) {
	h, err := actors.New(actors.Options{ID: "bench", Dialects: []protocol.Dialect{airi.Dialect{}}})
	if err != nil {
		return nil, err
	}
	return &host{host: h, Gateway: gateway.New(gateway.Options{
		Host: h, Verify: func(given string) (string, bool) { return "bench", given == token },
		Socket: websocket.ServerOptions{Token: token, MaxEarly: 10_000},
		Server: airiserver.Options{Grace: grace},
	})}, nil
}

func (h *host) tell(u *usage) {
	for _, s := range h.host.Sessions() {
		if s.Phase == lifecycle.Ready {
			u.Sessions++
		}
	}
	n := h.Counts()
	u.Slow, u.Dropped = n.Slow, n.Dropped
}

// run is the server's process.
func run(kind string) error {
	switch kind {
	case "host":
		h, err := newHost()
		if err != nil {
			return err
		}
		return serve(h, os.Stdin, os.Stdout)
	case "bare":
		return serve(&bare{}, os.Stdin, os.Stdout)
	}
	return fmt.Errorf("there is no server %q", kind)
}
