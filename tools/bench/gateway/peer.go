package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/airi-host/airi-host/transport/websocket"
)

// peer is a client's connection to a server.
type peer struct {
	*websocket.Conn
	s    *server
	name string
}

// dial connects; a bare server is told what the peer is there for.
func (s *server) dial(path, name string) (*peer, error) {
	c, err := websocket.Dial(context.Background(), "ws://"+s.address+"/"+path, websocket.DialOptions{
		Options: websocket.Options{QueueRecords: 1 << 20},
	})
	if err != nil {
		return nil, err
	}
	return &peer{c, s, name}, nil
}

// until receives until a record has all words in it, and returns it.
func (p *peer) until(words ...string) ([]byte, error) {
	for {
		record, err := p.Recv()
		if err != nil {
			return nil, fmt.Errorf("%s waits for %q: %w", p.name, words, err)
		}
		if all(record, words) {
			return record, nil
		}
	}
}

func all(record []byte, words []string) bool {
	for _, word := range words {
		if !bytes.Contains(record, []byte(word)) {
			return false
		}
	}
	return true
}

// authenticate shows the token. A bare server repeats it.
func (p *peer) authenticate() error {
	if err := p.Send(fmt.Appendf(nil, `{"type":"module:authenticate","data":{"token":%q}}`, token)); err != nil {
		return err
	}
	_, err := p.until("module:authenticate")
	return err
}

const listOfModules = "registry:modules:sync"

// announce says who it is, and waits until that is in the list.
func (p *peer) announce() error {
	if err := p.Send([]byte(p.announcement())); err != nil {
		return err
	}
	_, err := p.until(p.listed()...)
	return err
}

func (p *peer) announcement() string {
	return fmt.Sprintf(`{"json":{"type":"module:announce","data":{"name":%q,"identity":%s,"possibleEvents":[]},"metadata":{"source":%s,"event":{"id":%q}}}}`,
		p.name, p.identity(), p.identity(), p.name+"-1")
}

func (p *peer) identity() string {
	return fmt.Sprintf(`{"kind":"plugin","plugin":{"id":"bench","version":"1.0.0"},"id":%q}`, p.name)
}

// listed is in the first list that has it.
func (p *peer) listed() []string {
	if p.s.kind == "bare" {
		return []string{"module:announce"}
	}
	return []string{listOfModules, fmt.Sprintf(`{"name":%q,`, p.name)}
}

// join is all that a peer does before it is there.
func (s *server) join(path, name string) (*peer, error) {
	p, err := s.dial(path, name)
	if err != nil {
		return nil, err
	}
	if err := p.authenticate(); err != nil {
		return nil, err
	}
	return p, p.announce()
}

// event is one of 200 bytes, as a client of AIRI's SDK sends it.
func (p *peer) event(to string) []byte {
	route := ""
	if to != "" {
		route = fmt.Sprintf(`,"route":{"destinations":["module:%s"]}`, to)
	}
	return fmt.Appendf(nil, `{"json":{"type":"bench:event","data":{"text":%q},"metadata":{"source":%s,"event":{"id":"V1StGXR8_Z5jdHi6B-myT"}}%s}}`,
		strings.Repeat("x", 200), p.identity(), route)
}

// swallow receives and forgets, and tells of each event on a channel that is not nil.
func (p *peer) swallow(heard chan<- struct{}) {
	for {
		record, err := p.Recv()
		if err != nil {
			return
		}
		if heard != nil && bytes.Contains(record, []byte("bench:event")) {
			heard <- struct{}{}
		}
	}
}

// settled waits until a server has as many ready sessions, for its own good.
func (s *server) settled(sessions int) error {
	deadline := time.Now().Add(2 * time.Minute)
	for {
		time.Sleep(300 * time.Millisecond)
		u, err := s.ask("use")
		if err != nil || s.kind == "bare" || u.Sessions == sessions {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d sessions are ready, expected %d: %+v", u.Sessions, sessions, u)
		}
	}
}
