package main

import (
	"bytes"
	"fmt"
	"sync"
	"time"
)

// spool stands between those who have something to say and an output whose reader may stop
// reading and keep its end open, as a terminal does at Ctrl-S, or a log collector that hangs.
// One goroutine writes; what it has not come to waits in a backlog.
//
//	slog, say ─▶ spool.put ─▶ backlog ─▶ write ─▶ output.within
//
// Whoever writes waits until the text is written, so that lines of standard output and
// standard error keep their order and none is lost with a host that crashes, but for
// patience at most; then nobody waits until all is written. What does not fit is dropped,
// counted, and told in its place.
type spool struct {
	o       *output
	backlog backlog
	// patience is how long somebody waits for the reader, drain how long the end may take.
	patience, drain time.Duration
	// wake has an item when there is something to write.
	wake    chan struct{}
	closing chan struct{}
	ended   chan struct{}

	mu sync.Mutex
	// written is closed when all is written that was put before, and replaced.
	written chan struct{}
	// behind tells that somebody has waited in vain.
	behind bool
}

const (
	// readerPatience is how long somebody waits for a reader, once, until all is written, and
	// lastWords how long the end of a spool may take, unless the settings say otherwise.
	readerPatience = 20 * time.Millisecond
	lastWords      = 5 * time.Second
	// spoolPiece is how much is written at once, in bytes, unless a line is longer.
	spoolPiece = 32 << 10
)

// spooled lets nobody wait for the reader of an output any more, until end is called, which
// hurries it and writes what is left, for drain at most. So many bytes may wait as room says,
// and as many be on their way. told is the line for how many lines were lost.
func (o *output) spooled(room queues, drain time.Duration, told func(lost int) string) (end func()) {
	s := &spool{
		o: o, patience: room.patience, drain: drain, wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}),
		written: make(chan struct{}),
	}
	s.backlog.most, s.backlog.told, s.backlog.changed = room.bytes, told, s.rouse
	o.spool.Store(s)
	go s.write()
	return sync.OnceFunc(s.close)
}

func (s *spool) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// put takes whole lines; it tells false when the spool is closed.
func (s *spool) put(text []byte) bool {
	s.mu.Lock()
	took := s.backlog.add(text)
	written, behind := s.written, s.behind
	s.mu.Unlock()
	if took && !behind {
		s.await(written)
	}
	return took
}

func (s *spool) await(written <-chan struct{}) {
	late := time.NewTimer(s.patience)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.behind = s.behind || written == s.written
	}
}

// write is the goroutine that writes. It ends once the spool closes and all is written.
func (s *spool) write() {
	defer close(s.ended)
	for {
		lines, over := s.next()
		switch {
		case over:
			return
		case len(lines) > 0:
			s.pass(lines)
			continue
		}
		select {
		case <-s.wake:
		case <-s.closing:
		}
	}
}

// next takes what waits. Where nothing does, all is written, and over tells whether nothing
// is to come.
func (s *spool) next() (lines []string, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lines = s.backlog.take(); len(lines) > 0 {
		return lines, false
	}
	close(s.written)
	s.written, s.behind = make(chan struct{}), false
	select {
	case <-s.closing:
		s.backlog.close()
		s.o.spool.Store(nil)
		return nil, true
	default:
		return nil, false
	}
}

// pass writes lines, in pieces.
func (s *spool) pass(lines []string) {
	var piece bytes.Buffer
	for i, line := range lines {
		piece.WriteString(line)
		piece.WriteByte('\n')
		if i == len(lines)-1 || piece.Len()+len(lines[i+1]) >= spoolPiece {
			s.o.within(piece.Bytes())
			piece.Reset()
		}
	}
}

// close writes what is left, for drain at most. A reader that takes nothing for stuckAfter
// is given up before.
func (s *spool) close() {
	s.o.hurry()
	close(s.closing)
	late := time.NewTimer(s.drain)
	defer late.Stop()
	select {
	case <-s.ended:
	case <-late.C:
		s.o.lose(errStuck)
		<-s.ended
	}
}

// spooled lets a host that serves wait for none of its readers, until end is called.
func (c *cli) spooled() (end func()) {
	room, drain := c.settings.queues(), c.settings.ends().output
	said := c.out.spooled(room, drain, func(lost int) string { return lostLine(lost, c.json(), `{"event":"gap","missed":%d}`) })
	format, _ := c.format() // it was looked at before
	logged := c.err.spooled(room, drain, func(lost int) string {
		return lostLine(lost, format == formatJSON, `{"level":"WARN","msg":"lines were lost: standard error was not read","count":%d}`)
	})
	return func() {
		var both sync.WaitGroup
		both.Go(said)
		both.Go(logged)
		both.Wait()
	}
}

func lostLine(lost int, json bool, asJSON string) string {
	if json {
		return fmt.Sprintf(asJSON, lost)
	}
	return fmt.Sprintf("… %d lines were lost: nobody read on", lost)
}
