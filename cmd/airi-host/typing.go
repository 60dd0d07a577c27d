package main

import (
	"bytes"
	"io"
	"time"
)

const (
	// typedChunk is how many bytes are read of what is typed at once, typedChunks how often
	// that may wait for a program.
	typedChunk  = 4 << 10
	typedChunks = 64
	// typedPatience is how long a program is waited for that takes nothing of these.
	typedPatience = time.Second
)

// typing passes on what is typed at a terminal without standing in the way of the key that
// leaves, which comes behind all of it: of a program that takes nothing for a while, what is
// typed is let go of until it takes again. It is for one goroutine.
type typing struct {
	to    io.WriteCloser
	queue chan []byte
	// done closes when nothing more is written.
	done chan struct{}
	// failed is why that is, and is set before done.
	failed error
	// stuck tells that the program took nothing for a while, lost how many bytes it was not
	// given for that.
	stuck bool
	lost  int
}

func newTyping(to io.WriteCloser) *typing {
	t := &typing{to: to, queue: make(chan []byte, typedChunks), done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for text := range t.queue {
			if _, t.failed = to.Write(text); t.failed != nil {
				return
			}
		}
	}()
	return t
}

// Write hands on what was typed, or lets go of it.
func (t *typing) Write(text []byte) (int, error) {
	select {
	case <-t.done: // before all else: what waits then is for nobody
		return 0, t.failed
	default:
	}
	own := bytes.Clone(text)
	select {
	case t.queue <- own:
		t.stuck = false
		return len(text), nil
	default:
	}
	if !t.stuck {
		select {
		case <-t.done:
			return 0, t.failed
		case t.queue <- own:
			return len(text), nil
		case <-time.After(typedPatience):
		}
	}
	t.stuck = true
	t.lost += len(text)
	return len(text), nil
}

// finish ends what passes on, and lets that be done where the program takes it.
func (t *typing) finish() {
	close(t.queue)
	if t.stuck {
		return
	}
	select {
	case <-t.done:
	case <-time.After(typedPatience):
	}
}
