package actors

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/memory"
	"github.com/airi-host/airi-host/transport/process"
)

// steady restarts without jitter, so that times can be compared.
var steady = RestartPolicy{Jitter: -1}

// mortal is a plugin, "far", that can die. Each of its lives has a connection of
// its own; it offers its keys when it is loaded, and answers every call with the
// number of its life.
type mortal struct {
	t    *testing.T
	host *Host
	// keys are what it offers in its next life; lives, for how long that lasts, if
	// that is known before. mute lives answer no call.
	keys  []string
	lives time.Duration
	mute  bool
	// stuck, if set, keeps what is left of a life until it is closed.
	stuck chan struct{}

	mu  sync.Mutex
	all []*memory.Conn
}

// startMortal makes a host for it, with other plugins compiled in.
func startMortal(t *testing.T, opts Options, plugins []*plugin.Definition, keys ...string) *mortal {
	t.Helper()
	if opts.Dialects == nil {
		opts.Dialects = []protocol.Dialect{plain{silent: true}}
	}
	m := &mortal{t: t, host: startHostWith(t, opts, plugins...), keys: keys}
	m.host.connect = m.connect
	return m
}

// leftover is a connection that does not end before it may.
type leftover struct {
	transport.Conn
	stuck <-chan struct{}
}

func (l leftover) Close() error {
	<-l.stuck
	return l.Conn.Close()
}

func (m *mortal) connect(context.Context, *handle, manifest.Entry) (transport.Conn, *process.Process, error) {
	near, conn := memory.Pipe(memory.Options{})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, conn)
	go live(conn, len(m.all), m.keys, m.mute)
	if m.lives > 0 {
		time.AfterFunc(m.lives, func() { _ = conn.Close() })
	}
	if m.stuck != nil {
		return leftover{near, m.stuck}, nil, nil
	}
	return near, nil, nil
}

// live answers what the host says, until one of them ends it.
func live(conn *memory.Conn, number int, keys []string, mute bool) {
	for {
		frame, err := conn.Recv()
		if err != nil {
			return
		}
		word, rest, _ := strings.Cut(string(frame), " ")
		var answers []string
		switch {
		case word == "run" && rest == "load":
			for _, key := range keys {
				answers = append(answers, "offer "+key)
			}
			answers = append(answers, "ran load")
		case word == "run":
			answers = []string{"ran " + rest}
		case word == "call" && !mute:
			id, _, _ := strings.Cut(rest, " ")
			answers = []string{fmt.Sprintf("answer %s %d", id, number)}
		}
		for _, line := range answers {
			if conn.Send([]byte(line)) != nil {
				return
			}
		}
	}
}

// next says what its next life is to be like.
func (m *mortal) next(set func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	set()
}

// dies ends the life that it has, if any.
func (m *mortal) dies() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.all) > 0 {
		_ = m.all[len(m.all)-1].Close()
	}
}

// crashes is dies, and what comes of it at once.
func (m *mortal) crashes() {
	m.t.Helper()
	m.dies()
	settle()
	wantPhase(m.t, m.host, "far", lifecycle.Failed)
}

// born is how many lives it has had.
func (m *mortal) born() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all)
}

// begins calls a key of it.
func (m *mortal) begins(c protocol.Call) <-chan outcomeOf {
	m.t.Helper()
	return beginCall(m.t, m.host, c)
}

// worker is what is known of it.
func (m *mortal) worker() WorkerInfo {
	m.t.Helper()
	settle()
	got, err := m.host.Inspect("far")
	require.NoError(m.t, err)
	return got.Worker
}
