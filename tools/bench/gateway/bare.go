package main

import (
	"io"
	"net/http"
	"sync"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// bare relays what a sender says to all receivers, and to all others what they said
// themselves.
type bare struct {
	mu        sync.Mutex
	receivers []*queue
}

func (*bare) tell(*usage) {}

func (b *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, _, _, err := ws.UpgradeHTTP(r, w)
	if err != nil {
		return
	}
	own := &queue{write: func(record []byte) error { return wsutil.WriteServerText(socket, record) }}
	relay := own.push
	switch r.URL.Path {
	case "/sender":
		relay = b.send
	case "/receiver":
		b.mu.Lock()
		b.receivers = append(b.receivers, own)
		b.mu.Unlock()
	}
	go func() {
		defer socket.Close()
		reader := wsutil.NewServerSideReader(socket)
		for {
			h, err := reader.NextFrame()
			if err != nil {
				return
			}
			record := make([]byte, h.Length)
			if _, err := io.ReadFull(reader, record); err != nil {
				return
			}
			relay(record)
		}
	}()
}

func (b *bare) send(record []byte) {
	b.mu.Lock()
	all := b.receivers
	b.mu.Unlock()
	for _, q := range all {
		q.push(record)
	}
}

// queue is what waits for one peer; a goroutine writes it that exists while it is not empty.
type queue struct {
	write   func([]byte) error
	mu      sync.Mutex
	waiting [][]byte
	busy    bool
}

const queued = 4096

func (q *queue) push(record []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= queued {
		return
	}
	q.waiting = append(q.waiting, record)
	if !q.busy {
		q.busy = true
		go q.drain()
	}
}

func (q *queue) drain() {
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
