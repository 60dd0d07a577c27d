package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// row is something to measure: it returns numbers by what they are.
type row struct {
	name string
	run  func(*server) ([]number, error)
	// only is the server that it is measured with, "" for both.
	only string
}

// number is one result. What is better when it is more has no less.
type number struct {
	what  string
	value float64
	unit  string
}

var rows = []row{
	{name: "join", run: join},
	{name: "crowd", run: crowd, only: "host"},
	{name: "idle", run: func(s *server) ([]number, error) { return idle(s, false) }},
	{name: "announced", run: func(s *server) ([]number, error) { return idle(s, true) }, only: "host"},
	{name: "fan", run: fan},
	{name: "single", run: func(s *server) ([]number, error) { return single(s, 0) }},
	{name: "among", run: func(s *server) ([]number, error) { return single(s, 98) }},
}

func micro(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(n) }

// leave ends connections and waits until the server has forgotten them.
func leave(s *server, all []*peer) error {
	for _, p := range all {
		_ = p.Close()
	}
	for _, p := range all {
		<-p.Done()
	}
	time.Sleep(2 * grace)
	return s.settled(0)
}

// join has twenty come, one after the other, several times.
func join(s *server) ([]number, error) {
	const come = 20
	var took []float64
	for turn := range s.times + 1 {
		before, err := s.ask("use")
		if err != nil {
			return nil, err
		}
		if turn == 1 {
			if err := s.profiles(); err != nil {
				return nil, err
			}
		}
		var all []*peer
		for i := range come {
			p, err := s.join("idle", fmt.Sprintf("peer-%d", i))
			if err != nil {
				return nil, err
			}
			go p.swallow(nil)
			all = append(all, p)
		}
		if err := s.settled(come); err != nil {
			return nil, err
		}
		after, err := s.ask("use")
		if err != nil {
			return nil, err
		}
		if turn > 0 { // the first time much is new to a process
			took = append(took, micro(after.CPU-before.CPU, come))
		}
		if err := leave(s, all); err != nil {
			return nil, err
		}
	}
	return []number{{"connect, authenticate, announce", median(took), "µs"}}, nil
}

// crowd has 200 come at once.
func crowd(s *server) ([]number, error) {
	const come = 200
	var group sync.WaitGroup
	var sent atomic.Int64
	var mu sync.Mutex
	var failed error
	lists := make([][]byte, come)
	answered := make([]time.Duration, come)
	if err := s.profiles(); err != nil {
		return nil, err
	}
	before, err := s.ask("use")
	if err != nil {
		return nil, err
	}
	began := time.Now()
	for i := range come {
		group.Go(func() {
			p, err := s.dial("idle", fmt.Sprintf("peer-%d", i))
			if err == nil {
				err = p.authenticate()
			}
			if err == nil {
				err = p.Send([]byte(p.announcement()))
			}
			asked := time.Now()
			for err == nil && (lists[i] == nil || bytes.Count(lists[i], []byte(`{"name":`)) < come) {
				var record []byte
				if record, err = p.Recv(); err != nil {
					break
				}
				if all(record, []string{listOfModules}) {
					lists[i] = bytes.Clone(record)
				}
				if answered[i] == 0 && all(record, p.listed()) {
					answered[i] = time.Since(asked)
				}
			}
			if err != nil {
				mu.Lock()
				failed = errors.Join(failed, err)
				mu.Unlock()
				return
			}
			go func() { // what is sent later counts as well
				p.swallow(nil)
			}()
			time.Sleep(500 * time.Millisecond)
			sent.Add(int64(p.Stats().ReceivedBytes))
		})
	}
	group.Wait()
	took := time.Since(began)
	if failed != nil {
		return nil, failed
	}
	if err := s.settled(come); err != nil {
		return nil, err
	}
	after, err := s.ask("use")
	if err != nil {
		return nil, err
	}
	slices.Sort(answered)
	return []number{
		{"200 join at once: CPU", (after.CPU - before.CPU).Seconds() * 1000, "ms"},
		{"… sent", float64(sent.Load()) / 1e6, "MB"},
		{"… a joiner is answered after, median", micro(answered[come/2], 1) / 1000, "ms"},
		{"… all have the last list after", (took - 500*time.Millisecond).Seconds() * 1000, "ms"},
	}, nil
}

// idle has 5,000 come who then say nothing.
func idle(s *server, announce bool) ([]number, error) {
	come, what := s.idle, "idle peer, authenticated: RSS"
	before, err := s.ask("rest")
	if err != nil {
		return nil, err
	}
	if announce {
		come, what = s.sessions, "idle peer with a session: RSS"
	}
	var all []*peer
	next := make(chan int)
	var group sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range 8 {
		group.Go(func() {
			for i := range next {
				p, err := s.dial("idle", fmt.Sprintf("peer-%d", i))
				if err == nil {
					err = p.authenticate()
				}
				if err == nil && announce {
					err = p.announce()
				}
				mu.Lock()
				failed = errors.Join(failed, err)
				all = append(all, p)
				mu.Unlock()
				if err == nil {
					go p.swallow(nil)
				}
			}
		})
	}
	began := time.Now()
	for i := range come {
		next <- i
	}
	close(next)
	group.Wait()
	if failed != nil {
		return nil, failed
	}
	sessions := 0
	if announce {
		sessions = come
	}
	if err := s.settled(sessions); err != nil {
		return nil, err
	}
	took := time.Since(began)
	quiet(all)
	after, err := s.ask("rest")
	if err != nil {
		return nil, err
	}
	if err := s.profiles(); err != nil {
		return nil, err
	}
	each := func(after, before int64) float64 { return float64(after-before) / 1024 / float64(come) }
	return []number{
		{what, each(after.RSS, before.RSS), "KiB"},
		{"… heap", each(after.Heap, before.Heap), "KiB"},
		{"… stacks", each(after.Stack, before.Stack), "KiB"},
		{"… CPU of all joining", (after.CPU - before.CPU).Seconds(), "s"},
		{"… which took", took.Seconds(), "s"},
		{"… closed as slow", float64(after.Slow), ""},
	}, nil
}

// quiet waits until nobody has been sent anything for a while.
func quiet(all []*peer) {
	for before := uint64(0); ; {
		now := uint64(0)
		for _, p := range all {
			now += p.Stats().ReceivedBytes
		}
		if now == before {
			return
		}
		before = now
		time.Sleep(700 * time.Millisecond)
	}
}

// fan has one event heard by a hundred.
func fan(s *server) ([]number, error) {
	const receivers = 100
	heard := make(chan struct{}, receivers*s.messages)
	sender, err := s.join("sender0", "sender")
	if err != nil {
		return nil, err
	}
	if s.kind == "bare" {
		if sender, err = s.dial("sender", "sender"); err != nil {
			return nil, err
		}
	}
	for i := range receivers {
		p, err := s.join("receiver", fmt.Sprintf("receiver-%d", i))
		if err != nil {
			return nil, err
		}
		go p.swallow(heard)
	}
	go sender.swallow(nil)
	if err := s.settled(receivers + 1); err != nil {
		return nil, err
	}
	var results []number
	for _, window := range []int{1, 64} {
		send(sender, 200, window, receivers, heard) // to be warm
		if err := s.profiles(fmt.Sprint(window)); err != nil {
			return nil, err
		}
		before, err := s.ask("use")
		if err != nil {
			return nil, err
		}
		began := time.Now()
		send(sender, s.messages, window, receivers, heard)
		took := time.Since(began)
		after, err := s.ask("use")
		if err != nil {
			return nil, err
		}
		deliveries := receivers * s.messages
		results = append(results,
			number{fmt.Sprintf("1 to 100, window %d: CPU of 1,000", window), micro(after.CPU-before.CPU, deliveries), "ms"},
			number{"… deliveries a second", float64(deliveries) / took.Seconds() / 1000, "k"})
	}
	return results, nil
}

// send has as many events on the way as the window says.
func send(from *peer, messages, window, receivers int, heard <-chan struct{}) {
	record := from.event("")
	room := make(chan struct{}, window)
	var group sync.WaitGroup
	group.Go(func() {
		for range messages {
			for range receivers {
				<-heard
			}
			<-room
		}
	})
	for range messages {
		room <- struct{}{}
		_ = from.Send(record)
	}
	group.Wait()
}

// single has one event heard by one, and then the next.
func single(s *server, idle int) ([]number, error) {
	what := "1 to 1: "
	if idle > 0 {
		what = fmt.Sprintf("1 to 1 among %d: ", idle)
	}
	for i := range idle {
		p, err := s.join("idle", fmt.Sprintf("idle-%d", i))
		if err != nil {
			return nil, err
		}
		go p.swallow(nil)
	}
	sender, err := s.join("sender0", "sender")
	if err != nil {
		return nil, err
	}
	if s.kind == "bare" {
		if sender, err = s.dial("sender", "sender"); err != nil {
			return nil, err
		}
	}
	receiver, err := s.join("receiver", "receiver")
	if err != nil {
		return nil, err
	}
	go sender.swallow(nil)
	if err := s.settled(idle + 2); err != nil {
		return nil, err
	}
	record := sender.event("receiver")
	took := make([]time.Duration, s.messages)
	var before usage
	for i := range 500 + len(took) {
		if i == 500 {
			if err := s.profiles(); err != nil {
				return nil, err
			}
			if before, err = s.ask("use"); err != nil {
				return nil, err
			}
		}
		began := time.Now()
		if err := sender.Send(record); err != nil {
			return nil, err
		}
		if _, err := receiver.until("bench:event"); err != nil {
			return nil, err
		}
		if i >= 500 {
			took[i-500] = time.Since(began)
		}
	}
	after, err := s.ask("use")
	if err != nil {
		return nil, err
	}
	slices.Sort(took)
	return []number{
		{what + "CPU", micro(after.CPU-before.CPU, len(took)), "µs"},
		{"… p50", micro(took[len(took)/2], 1), "µs"},
		{"… p99", micro(took[len(took)*99/100], 1), "µs"},
	}, nil
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// named tells whether a row is asked for.
func (r row) named(only string) bool {
	return only == "" || slices.Contains(strings.Split(only, ","), r.name)
}
