package main

import (
	"io"
	"net/http"
	"sync"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/airi-host/airi-host/tools/bench/relay"
)

// bare relays what a sender says to all receivers, and to all others what they said
// themselves.
type bare struct {
	mu        sync.Mutex
	receivers []*relay.Queue
}

func (*bare) tell(*usage) {}

func (b *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, _, _, err := ws.UpgradeHTTP(r, w)
	if err != nil {
		return
	}
	own := relay.NewQueue(func(record []byte) error { return wsutil.WriteServerText(socket, record) })
	forward := own.Push
	switch r.URL.Path {
	case "/sender":
		forward = b.send
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
			forward(record)
		}
	}()
}

func (b *bare) send(record []byte) {
	b.mu.Lock()
	all := b.receivers
	b.mu.Unlock()
	for _, q := range all {
		q.Push(record)
	}
}
