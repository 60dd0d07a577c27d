package transporttest_test

import (
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// end is the smallest connection that keeps the contract: it shows that the suite
// asks for nothing but the contract.
type end struct {
	mu      *sync.Mutex
	changed *sync.Cond
	in      [][]byte
	reason  error
	peer    *end
}

func pair(*testing.T) (a, b transport.Conn) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	left, right := &end{mu: &mu, changed: cond}, &end{mu: &mu, changed: cond}
	left.peer, right.peer = right, left
	return left, right
}

func (e *end) Send(record []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.reason != nil:
		return e.reason
	case len(record) > transporttest.MaxRecord:
		return &transport.TooLongError{Limit: transporttest.MaxRecord}
	case len(e.peer.in) >= 2000:
		return transport.ErrFull
	}
	e.peer.in = append(e.peer.in, append([]byte(nil), record...))
	e.changed.Broadcast()
	return nil
}

func (e *end) Recv() ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.in) == 0 || errors.Is(e.reason, transport.ErrClosed) {
		if e.reason != nil {
			return nil, e.reason
		}
		e.changed.Wait()
	}
	record := e.in[0]
	e.in = e.in[1:]
	return record, nil
}

func (e *end) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reason = transport.ErrClosed
	if e.peer.reason == nil {
		e.peer.reason = io.EOF
	}
	e.changed.Broadcast()
	return nil
}

func TestRun_passesWhatKeepsTheContract(t *testing.T) {
	transporttest.Run(t, pair)
}

func TestRun_isOfferedAPairPerTest(t *testing.T) {
	var pairs int
	t.Run("suite", func(t *testing.T) {
		transporttest.Run(t, func(t *testing.T) (a, b transport.Conn) {
			pairs++
			return pair(t)
		})
	})
	require.Greater(t, pairs, 10)
}
