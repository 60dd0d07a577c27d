package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/airi-host/airi-host/peers/load"
)

// The protocols of go-plugin.
const (
	netrpc  = "netrpc"
	viaGRPC = "grpc"
)

// subject is a host made with go-plugin. Its workers are always this program.
type subject struct {
	protocol string
	clients  []*plugin.Client
	first    echoer
}

var _ load.Subject = (*subject)(nil)

// Start starts as many workers as are asked for.
func (s *subject) Start(_ context.Context, workers []load.Worker) error {
	for range workers {
		worker, err := s.startWorker()
		if err != nil {
			return err
		}
		if s.first == nil {
			s.first = worker
		}
	}
	return nil
}

func (s *subject) startWorker() (echoer, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: handshake, Plugins: plugins(s.protocol, nil), Cmd: exec.Command(program, s.protocol),
		AllowedProtocols: []plugin.Protocol{plugin.Protocol(s.protocol)},
		Logger:           hclog.NewNullLogger(),
	})
	s.clients = append(s.clients, c)
	wire, err := c.Client()
	if err != nil {
		return nil, err
	}
	found, err := wire.Dispense(s.protocol)
	if err != nil {
		return nil, err
	}
	worker, ok := found.(echoer)
	if !ok {
		return nil, fmt.Errorf("go-plugin gave a %T", found)
	}
	return worker, nil
}

// Call echoes the input through the first worker.
func (s *subject) Call(ctx context.Context, key string, input json.RawMessage) (json.RawMessage, error) {
	if key != "data:echo" {
		return nil, fmt.Errorf("go-plugin's worker has no %s", key)
	}
	// A host made with go-plugin has a Go value in its hands: neither to read it out of
	// the load's JSON nor to write it back is at its cost.
	text, ok := strings.CutPrefix(string(input), head)
	if text, ok = strings.CutSuffix(text, tail); !ok {
		return nil, fmt.Errorf("expected %s…%s, got %s", head, tail, input)
	}
	out, err := s.first.echo(ctx, Echoed{text})
	if err == nil && out.Text != text {
		err = fmt.Errorf("%d bytes went out and %d others came back", len(text), len(out.Text))
	}
	return input, err
}

// head and tail are what package load puts around the text.
const head, tail = `{"text":"`, `"}`

// Close ends the workers.
func (s *subject) Close() error {
	for _, c := range s.clients {
		c.Kill()
	}
	return nil
}
