package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

// client does what a plan says, a step whenever it is told to.
func client(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Scan()
	var p plan
	if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
		return err
	}
	step := func(said string) {
		fmt.Fprintln(out, said)
		lines.Scan()
	}
	var idle []net.Conn // which are closed when nobody holds them
	for range p.Idle {
		socket, err := connect(p, "idle")
		if err != nil {
			return err
		}
		_, _ = socket.Write(message(p)) // each has said something once
		idle = append(idle, socket)
	}
	time.Sleep(300 * time.Millisecond)
	step("idle")

	sender, err := connect(p, "sender")
	if err != nil {
		return err
	}
	delivered := make(chan struct{}, p.Receivers*p.Messages)
	for range p.Receivers {
		socket, err := connect(p, "receiver")
		if err != nil {
			return err
		}
		go receive(socket, p.Size+4, delivered) // a header of 4 bytes: 126 ≤ size < 64 KiB
	}
	for _, window := range []int{1, 64} {
		step("ready")
		send(sender, p, window, delivered)
		step("done")
	}
	runtime.KeepAlive(idle)
	return nil
}

func connect(p plan, role string) (net.Conn, error) {
	socket, early, _, err := ws.Dial(context.Background(), "ws://"+p.Address+"/"+role)
	if early != nil {
		return nil, fmt.Errorf("%s: something came with the upgrade", role)
	}
	return socket, err
}

// receive counts frames by their length.
func receive(socket net.Conn, frame int, delivered chan<- struct{}) {
	buffer, got := make([]byte, 64<<10), 0
	for {
		n, err := socket.Read(buffer)
		if err != nil {
			return
		}
		for got += n; got >= frame; got -= frame {
			delivered <- struct{}{}
		}
	}
}

func message(p plan) []byte {
	return ws.MustCompileFrame(ws.MaskFrame(ws.NewTextFrame(bytes.Repeat([]byte{'a'}, p.Size))))
}

// send has as many messages on the way as the window says.
func send(socket net.Conn, p plan, window int, delivered <-chan struct{}) {
	frame := message(p)
	room := make(chan struct{}, window)
	var group sync.WaitGroup
	group.Go(func() {
		for range p.Messages {
			for range p.Receivers {
				<-delivered
			}
			<-room
		}
	})
	for range p.Messages {
		room <- struct{}{}
		_, _ = socket.Write(frame)
	}
	group.Wait()
}
