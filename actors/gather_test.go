package actors

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/memory"
	"github.com/airi-host/airi-host/transport/process"
)

// gathering is a connection that can send several frames at once; its first write
// waits, so that others come behind it.
type gathering struct {
	*memory.Conn
	first   sync.Once
	begun   chan struct{}
	release chan struct{}

	mu      sync.Mutex
	waiting []string
	// writes are how many frames each write had.
	writes []int
}

func (g *gathering) Send(record []byte) error {
	g.first.Do(func() { close(g.begun); <-g.release })
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, string(record))
	return g.write()
}

func (g *gathering) Gather(record []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, string(record))
	return nil
}

func (g *gathering) Push() {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.write()
}

func (g *gathering) write() error {
	if len(g.waiting) > 0 {
		g.writes = append(g.writes, len(g.waiting))
	}
	for _, record := range g.waiting {
		if err := g.Conn.Send([]byte(record)); err != nil {
			return err
		}
	}
	g.waiting = nil
	return nil
}

func TestPeer_framesOfThoseWhoCallAtOnceShareWrites(t *testing.T) {
	const callers = 100
	h, err := New(Options{Dialects: []protocol.Dialect{plain{silent: true}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Shutdown(context.Background())) }()
	var conn *gathering
	h.connect = func(context.Context, *handle, manifest.Entry) (transport.Conn, *process.Process, error) {
		near, far := memory.Pipe(memory.Options{})
		conn = &gathering{Conn: near, begun: make(chan struct{}), release: make(chan struct{})}
		close(conn.release) // the start's own frames
		go live(far, 1, []string{"tool:a"}, false)
		return conn, nil, nil
	}
	_, err = h.Start(t.Context(), farManifest(), StartOptions{})
	require.NoError(t, err)

	conn.first, conn.begun, conn.release = sync.Once{}, make(chan struct{}), make(chan struct{})
	conn.writes = nil
	p, ok := h.find("plugin-session-0").through().(*peer)
	require.True(t, ok)
	var all sync.WaitGroup
	failed := make([]error, callers)
	call := func(i int) {
		all.Go(func() {
			_, failed[i] = h.Invoke(context.Background(), protocol.Call{Key: "tool:a", Input: fmt.Appendf(nil, `{"n":%d}`, i)})
		})
	}
	call(0)
	<-conn.begun
	for i := range callers - 1 {
		call(i + 1)
	}
	for p.behind.Load() < callers-1 { // they all wait for the lock
		runtime.Gosched()
	}
	close(conn.release)
	all.Wait()
	require.Equal(t, make([]error, callers), failed)
	conn.mu.Lock()
	defer conn.mu.Unlock()
	require.Empty(t, conn.waiting, "no frame is left behind")
	require.Less(t, len(conn.writes), callers/4, "%v", conn.writes)
	require.Equal(t, callers, sum(conn.writes))
	require.Greater(t, slices.Max(conn.writes), 1)
}

func sum(all []int) (total int) {
	for _, n := range all {
		total += n
	}
	return total
}

// gatheringPrompt is a prompt connection that can send several frames at once.
type gatheringPrompt struct {
	*prompt

	mu      sync.Mutex
	waiting []string
	sent    []string
}

func (g *gatheringPrompt) Send(record []byte) error {
	g.mu.Lock()
	g.sent = append(append(g.sent, g.waiting...), string(record))
	g.waiting = nil
	g.mu.Unlock()
	return g.prompt.Send(record)
}

func (g *gatheringPrompt) Gather(record []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, string(record))
	return nil
}

func (g *gatheringPrompt) Push() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sent = append(g.sent, g.waiting...)
	g.waiting = nil
}

// said counts the frames of a kind that were sent.
func (g *gatheringPrompt) said(prefix string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, frame := range g.sent {
		if strings.HasPrefix(frame, prefix) {
			n++
		}
	}
	return n
}

func TestPeer_noAnswerWaitsForARecordThatSaysNothing(t *testing.T) {
	g := &gatheringPrompt{prompt: newPrompt()}
	h := startOn(t, g)
	require.NoError(t, h.SetService(t.Context(), protocol.ServiceOffer{Key: "tool:own", Service: protocol.ServiceFunc(echoCall)}))
	for i := range 200 {
		g.records <- fmt.Sprintf("serve %d tool:own", i)
		if i%3 == 0 {
			g.records <- "unreadable"
		}
	}
	require.Eventually(t, func() bool { return g.said("result") == 200 }, 10*time.Second, time.Millisecond)
}

// picky refuses long frames, as the connection to a process does.
type picky struct{ *gathering }

func (c picky) Send(record []byte) error {
	if len(record) > 1000 {
		return &transport.TooLongError{Limit: 1000}
	}
	return c.gathering.Send(record)
}

func (c picky) Gather(record []byte) error {
	if len(record) > 1000 {
		return &transport.TooLongError{Limit: 1000}
	}
	return c.gathering.Gather(record)
}

func TestPeer_whatWasGatheredIsSentThoughTheNextFrameIsRefused(t *testing.T) {
	near, far := memory.Pipe(memory.Options{})
	g := &gathering{Conn: near, begun: make(chan struct{}), release: make(chan struct{})}
	close(g.release)
	go live(far, 1, []string{"tool:a"}, false)
	h := startOn(t, picky{g})
	p, ok := h.find("plugin-session-0").through().(*peer)
	require.True(t, ok)
	var all sync.WaitGroup
	var short, long error
	call := func(input string, to *error, behind int32) {
		all.Go(func() {
			_, *to = h.Invoke(context.Background(), protocol.Call{
				Key: "tool:a", Input: []byte(input), Deadline: time.Now().Add(10 * time.Second),
			})
		})
		for p.behind.Load() < behind {
			runtime.Gosched()
		}
	}
	p.mu.Lock()
	call(`{}`, &short, 1)
	time.Sleep(5 * time.Millisecond) // a lock that is waited for for long is given in order
	call(`{"x":"`+strings.Repeat("x", 2000)+`"}`, &long, 2)
	p.mu.Unlock()
	all.Wait()
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(long))
	require.NoError(t, short)
}

// What waited at the gate has another time than what came before it, and nothing that was
// gathered waits for it.
func TestPeer_theReaderThatWaitedHasNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		require.False(t, g.wait())
		g.take()
		waited := make(chan bool)
		go func() { waited <- g.wait() }()
		synctest.Wait()
		g.give()
		require.True(t, <-waited)
	})
	p := &peer{more: true}
	p.rested()
	require.False(t, p.more)
}

// A driver is told when things happened: the clock is not read again for what arrived
// together.
func TestPeer_whatArrivedTogetherHasOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{lent: &lent{}, gate: newGate(1)}
		p.take(nil)
		first := time.Now()
		time.Sleep(time.Second)
		require.Equal(t, first, p.timeOf(&p.lent.message))
		require.Equal(t, time.Now(), p.timeOf(protocol.Cancel{}))
		p.more = true
		p.take(nil)
		require.Equal(t, first, p.timeOf(&p.lent.message), "it was there")
		p.take(nil)
		require.Equal(t, time.Now(), p.timeOf(&p.lent.message), "it came later")
	})
}
