package actors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"

	"github.com/airi-host/airi-host/transport/memory"
)

// modelRoute is what a test knows of one route: whatever comes in whatever order, it is
// held to this.
type modelRoute struct {
	n      int
	cancel context.CancelFunc

	mu      sync.Mutex
	route   *Route
	opens   int
	read    bytes.Buffer
	readErr error
	waits   []string
	// sent is all that the far end has said while the driver passed it on.
	sent strings.Builder
}

// run opens the route, and reads and waits until both end.
func (m *modelRoute) run(ctx context.Context, h *Host, all *sync.WaitGroup) {
	defer all.Done()
	r, err := h.OpenDuplex(ctx, RouteRequest{Plugin: "far", Params: []byte(strconv.Itoa(m.n))})
	m.mu.Lock()
	m.route = r
	m.opens++
	m.mu.Unlock()
	if err != nil {
		return
	}
	for range 2 {
		all.Go(func() {
			exit, err := r.Wait(context.Background())
			m.mu.Lock()
			defer m.mu.Unlock()
			m.waits = append(m.waits, fmt.Sprint(exit, err))
		})
	}
	b := make([]byte, 7)
	for {
		n, err := r.Read(b)
		m.mu.Lock()
		m.read.Write(b[:n])
		m.readErr = err
		m.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (m *modelRoute) now() *Route {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.route
}

// Frames and wishes in any order: each route is opened once or refused once, Wait settles
// once and says the same to all, what is read is what was sent, from the beginning and in
// order, and all of it where nothing was lost on purpose; at the end nothing is left.
func TestRoute_holdsToItsModelWhateverComes(t *testing.T) {
	for seed := range uint64(150) {
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Log("seed", seed)
				}
			}()
			modelRun(t, rand.New(rand.NewPCG(seed, 7)))
		})
	}
}

func modelRun(t *testing.T, random *rand.Rand) {
	t.Helper()
	f := ready(t, Options{}, memory.Options{}, routed{})
	p, ok := f.host.find("plugin-session-0").through().(*peer)
	require.True(t, ok)
	all, list := &sync.WaitGroup{}, []*modelRoute{}
	go func() { // the far end hears, and says what the test has it say
		for {
			if _, err := f.conn.Recv(); err != nil {
				return
			}
		}
	}()
	for step := range 200 {
		if len(list) < 4 || random.IntN(20) == 0 {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			m := &modelRoute{n: len(list) + 1, cancel: cancel}
			list = append(list, m)
			all.Add(1)
			go m.run(ctx, f.host, all)
			settle() // the numbers of routes are those of the models
		}
		modelStep(f, random, list[random.IntN(len(list))], step)
	}
	modelEnd(t, f, random)
	all.Wait()
	for _, m := range list {
		m.check(t)
	}
	require.Empty(t, p.routes)
	counts := f.host.Routes()[protocol.RouteDuplex]
	require.Zero(t, counts.Open)
	require.Len(t, list, int(counts.Opened+counts.Refused))
}

// modelStep is something that happens to a route: a frame or a wish.
func modelStep(f *far, random *rand.Rand, m *modelRoute, step int) {
	say := func(format string, args ...any) { f.says(fmt.Sprintf(format, args...)) }
	r := m.now()
	switch random.IntN(14) {
	case 0, 1:
		say("opened %d", m.n)
	case 2, 3, 4, 5, 6, 7:
		text := fmt.Sprintf("<%d>", step)
		if r != nil && r.isWritableOrExited() {
			m.sent.WriteString(text)
		}
		say("chunk %d %s", m.n, text)
	case 8:
		say("exit %d %d", m.n, step)
	case 9:
		if random.IntN(4) == 0 {
			say("fail-route %d enough", m.n)
		}
	case 10:
		if random.IntN(4) == 0 {
			say("refused %d no", m.n)
		}
	case 11:
		say("closed %d", m.n)
		say("wrote %d 1", m.n)
	case 12:
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
	case 13:
		m.wish(random.IntN(8))
	}
}

// isWritableOrExited tells that what comes is still passed on.
func (r *Route) isWritableOrExited() bool {
	r.peer.lock()
	defer r.peer.unlock()
	d, ok := r.peer.driver.(*routedDriver)
	one := d.routes[r.id]
	return ok && one != nil && one.isOpen
}

func (m *modelRoute) wish(which int) {
	r := m.now()
	switch {
	case r == nil || which == 7:
		m.cancel()
	case which == 0:
		_ = r.Close()
	case which == 1:
		r.Stop()
	default:
		go func() { _, _ = r.Write([]byte("hello")) }()
	}
	settle()
}

// modelEnd ends the session in one of the ways in which one can.
func modelEnd(t *testing.T, f *far, random *rand.Rand) {
	t.Helper()
	switch random.IntN(3) {
	case 0:
		require.NoError(t, f.conn.Close())
	case 1:
		f.says("violate the rules")
	default:
		go func() { _, _ = f.host.Stop(context.Background(), "plugin-session-0") }()
		settle()
		require.NoError(t, f.conn.Close())
	}
	settle()
}

func (m *modelRoute) check(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	require.Equal(t, 1, m.opens)
	if m.route == nil {
		return
	}
	require.Len(t, m.waits, 2, "Wait settles")
	require.Equal(t, m.waits[0], m.waits[1], "and says the same to all")
	read, sent := m.read.String(), m.sent.String()
	require.True(t, strings.HasPrefix(sent, read), "route %d: read %q of %q", m.n, read, sent)
	if !errors.Is(m.readErr, io.ErrClosedPipe) {
		require.Equal(t, sent, read, "nothing is lost but by Close: %v", m.readErr)
	}
}
