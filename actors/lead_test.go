package actors

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/process"
)

// prompt is a connection that can be received from for a limited time. Its far end
// answers calls by itself, after a while.
type prompt struct {
	records chan string
	after   atomic.Int64 // nanoseconds until a call is answered
	ended   chan struct{}
	once    sync.Once

	receivers   atomic.Int32
	collided    atomic.Bool
	led, waited atomic.Int64
}

func (c *prompt) Send(record []byte) error {
	word, rest, _ := strings.Cut(string(record), " ")
	var answers []string
	switch {
	case word == "run" && rest == "load":
		answers = []string{"offer tool:a", "ran load"}
	case word == "run":
		answers = []string{"ran " + rest}
	case word == "call":
		id, _, _ := strings.Cut(rest, " ")
		answers = []string{fmt.Sprintf("answer %s 1", id)}
	}
	say := func() {
		for _, line := range answers {
			c.records <- line
		}
	}
	if wait := time.Duration(c.after.Load()); wait > 0 && word == "call" {
		time.AfterFunc(wait, say)
	} else {
		say()
	}
	return nil
}

func (c *prompt) enter() func() {
	if c.receivers.Add(1) > 1 {
		c.collided.Store(true)
	}
	return func() { c.receivers.Add(-1) }
}

func (c *prompt) Recv() ([]byte, error) {
	defer c.enter()()
	select {
	case r := <-c.records:
		c.waited.Add(1)
		return []byte(r), nil
	case <-c.ended:
		return nil, io.EOF
	}
}

func (c *prompt) RecvWithin(d time.Duration) ([]byte, error) {
	defer c.enter()()
	select {
	case r := <-c.records:
		c.led.Add(1)
		return []byte(r), nil
	case <-c.ended:
		return nil, io.EOF
	case <-time.After(d):
		return nil, transport.ErrNotYet
	}
}

func (c *prompt) Ready() bool { return len(c.records) > 0 }

func (c *prompt) Close() error {
	c.once.Do(func() { close(c.ended) })
	return nil
}

// startPrompt is a host with such a plugin that is ready.
func startPrompt(t *testing.T) (*Host, *prompt) {
	t.Helper()
	c := newPrompt()
	return startOn(t, c), c
}

func newPrompt() *prompt {
	return &prompt{records: make(chan string, 10_000), ended: make(chan struct{})}
}

// startOn is a host with a plugin that is ready, at the far end of a connection.
func startOn(t *testing.T, c transport.Conn) *Host {
	t.Helper()
	h, err := New(Options{Dialects: []protocol.Dialect{plain{silent: true}}, Restart: RestartPolicy{Disabled: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Shutdown(context.Background())) })
	h.connect = func(context.Context, *handle, manifest.Entry) (transport.Conn, *process.Process, error) {
		return c, nil, nil
	}
	_, err = h.Start(t.Context(), farManifest(), StartOptions{})
	require.NoError(t, err)
	return h
}

func call1(h *Host) error {
	got, err := h.Invoke(context.Background(), protocol.Call{Key: "tool:a", Deadline: time.Now().Add(30 * time.Second)})
	if err == nil && said(got) != "1" {
		return fmt.Errorf("expected 1, got %s", got)
	}
	return err
}

func TestLead_whoCallsOneAfterTheOtherReceivesTheAnswers(t *testing.T) {
	h, c := startPrompt(t)
	for range 1000 {
		require.NoError(t, call1(h))
	}
	require.Greater(t, c.led.Load(), int64(100), "the reader received %d", c.waited.Load())
	require.False(t, c.collided.Load(), "two received at once")
}

func TestLead_aSlowAnswerIsLeftToTheReader(t *testing.T) {
	h, c := startPrompt(t)
	require.NoError(t, call1(h))
	c.after.Store(int64(5 * leadTime))
	for range 5 {
		require.NoError(t, call1(h))
	}
	require.False(t, c.collided.Load(), "two received at once")
}

func TestLead_theReaderStaysAfterSeveralAnswersAtOnce(t *testing.T) {
	h, c := startPrompt(t)
	p := h.find("plugin-session-0").through().(*peer)
	for _, it := range []struct {
		answered int
		waiting  []string
		aside    bool
	}{
		{answered: 0},
		{answered: 1, aside: true},
		{answered: 2},
		{answered: 128},
		{answered: 1, waiting: []string{"progress 0 1"}},
	} {
		p.lock()
		p.answered = it.answered
		p.unlock()
		more := &prompt{records: make(chan string, 1)}
		for _, record := range it.waiting {
			more.records <- record
		}
		p.waiter = more // which nobody receives from
		require.Equal(t, it.aside, p.stepsAside(), "%+v", it)
		p.waiter = c
		p.lock()
		p.who = theReader // as it is all the time
		require.Equal(t, len(it.waiting), p.answered, "counted anew, once nothing waits")
		p.unlock()
	}
}

func TestLead_aDeadlineIsKept(t *testing.T) {
	h, c := startPrompt(t)
	require.NoError(t, call1(h))
	c.after.Store(int64(time.Hour))
	_, err := h.Invoke(context.Background(), protocol.Call{Key: "tool:a", Deadline: time.Now().Add(20 * time.Millisecond)})
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), "%v", err)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err = h.Invoke(ctx, protocol.Call{Key: "tool:a"})
	require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(err), "%v", err)
	c.after.Store(0)
	require.NoError(t, call1(h))
}

func TestLead_whatThePeerSaysOfItsOwnAccordIsHeard(t *testing.T) {
	h, c := startPrompt(t)
	for range 20 {
		require.NoError(t, call1(h))
		c.records <- "offer tool:b"
		require.NoError(t, h.WaitAll(t.Context(), 10*time.Second, "tool:b"))
		c.records <- "retract tool:b"
		require.Eventually(t, func() bool { return !h.snapshot().Ready("tool:b") }, 10*time.Second, 100*time.Microsecond)
	}
	require.False(t, c.collided.Load(), "two received at once")
}

func TestLead_theEndIsSeenWhileTheReaderStandsBy(t *testing.T) {
	h, c := startPrompt(t)
	require.NoError(t, call1(h))
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool {
		got, err := h.Inspect("far")
		return err == nil && got.Phase == lifecycle.Failed
	}, 10*time.Second, time.Millisecond)
}

func TestLead_manyAtRandom(t *testing.T) {
	h, c := startPrompt(t)
	var all sync.WaitGroup
	failed := make([]error, 16)
	for i := range failed {
		all.Go(func() {
			for n := range 200 {
				if failed[i] = call1(h); failed[i] != nil {
					return
				}
				if n%(i+1) == 0 { // now alone, now together
					time.Sleep(time.Duration(n%5) * 100 * time.Microsecond)
				}
				if n%50 == i {
					c.after.Store(int64(n%3) * int64(leadTime))
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, make([]error, len(failed)), failed)
	require.False(t, c.collided.Load(), "two received at once")
}

// deadly is a connection that has ended by a frame of the peer's when it is called.
type deadly struct{ *prompt }

func (d deadly) Send(record []byte) error {
	if strings.HasPrefix(string(record), "call") {
		return fmt.Errorf("plugin far: %w", &transport.TooLongError{Limit: 8})
	}
	return d.prompt.Send(record)
}

func TestPeer_aCallAfterThePeersLongFrameIsNoInvalidCall(t *testing.T) {
	err := call1(startOn(t, deadly{newPrompt()}))
	require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err), "%v", err)
}
