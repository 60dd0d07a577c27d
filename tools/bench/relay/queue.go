// Package relay is what the servers that the host is compared with have around a library.
package relay

import "sync"

// Queue is what waits for one peer; a goroutine writes it that exists while it is not empty.
// What is more than it may hold is dropped.
type Queue struct {
	write   func([]byte) error
	mu      sync.Mutex
	waiting [][]byte
	busy    bool
}

// most is how many records may wait for a peer, as many as for one of the host's.
const most = 4096

// NewQueue makes a queue that is written by write, a record at a time.
func NewQueue(write func([]byte) error) *Queue { return &Queue{write: write} }

// Push has a record written, and does not wait for that.
func (q *Queue) Push(record []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= most {
		return
	}
	q.waiting = append(q.waiting, record)
	if !q.busy {
		q.busy = true
		go q.drain()
	}
}

func (q *Queue) drain() {
	for {
		q.mu.Lock()
		batch := q.waiting
		q.waiting, q.busy = nil, len(batch) > 0
		q.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, record := range batch {
			if q.write(record) != nil {
				return
			}
		}
	}
}
