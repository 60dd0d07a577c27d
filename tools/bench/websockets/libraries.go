package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	coder "github.com/coder/websocket"
	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	gorilla "github.com/gorilla/websocket"
	"github.com/lxzan/gws"

	"github.com/airi-host/airi-host/tools/bench/relay"
	host "github.com/airi-host/airi-host/transport/websocket"
)

const limit = 8 << 20

// libraries make a handler that sends what a sender says to all receivers.
var libraries = map[string]func(*crowd) http.Handler{
	"host": ours, "gobwas": withGobwas, "gws": withGWS, "gorilla": withGorilla, "coder": withCoder,
}

// crowd are the receivers.
type crowd struct {
	mu  sync.Mutex
	all []*relay.Queue
}

// add makes a peer a receiver if its path says so.
func (c *crowd) add(r *http.Request, write func([]byte) error) {
	if strings.HasSuffix(r.URL.Path, "/receiver") {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all = append(c.all, relay.NewQueue(write))
	}
}

func (c *crowd) send(record []byte) {
	record = append([]byte(nil), record...)
	c.mu.Lock()
	all := c.all
	c.mu.Unlock()
	for _, q := range all {
		q.Push(record)
	}
}

// ours is the host's transport: what more has come is gathered.
func ours(*crowd) http.Handler {
	var mu sync.Mutex
	var receivers []*host.Conn
	paths := sync.Map{}
	server := host.NewServer(host.ServerOptions{Options: host.Options{MaxRecord: limit}}, func(c *host.Conn) {
		if path, _ := paths.LoadAndDelete(c.Stats().Remote); path == "/receiver" {
			mu.Lock()
			receivers = append(receivers, c)
			mu.Unlock()
		}
		for {
			record, err := c.Recv()
			if err != nil {
				return
			}
			mu.Lock()
			all := receivers
			mu.Unlock()
			more := c.Ready()
			for _, to := range all {
				if more {
					_ = to.Gather(record)
				} else {
					_ = to.Send(record)
				}
			}
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths.Store(r.RemoteAddr, r.URL.Path)
		server.ServeHTTP(w, r)
	})
}

func withGobwas(c *crowd) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, _, _, err := ws.UpgradeHTTP(r, w)
		if err != nil {
			return
		}
		c.add(r, func(record []byte) error { return wsutil.WriteServerText(socket, record) })
		go func() {
			reader := wsutil.NewServerSideReader(socket)
			reader.MaxMessageSize = limit
			var record []byte
			for {
				h, err := reader.NextFrame()
				if err != nil {
					return
				}
				if cap(record) < int(h.Length) {
					record = make([]byte, h.Length)
				}
				if _, err := io.ReadFull(reader, record[:h.Length]); err != nil {
					return
				}
				c.send(record[:h.Length])
			}
		}()
	})
}

type gwsHandler struct {
	gws.BuiltinEventHandler
	crowd *crowd
}

func (h *gwsHandler) OnMessage(_ *gws.Conn, m *gws.Message) {
	h.crowd.send(m.Bytes())
	_ = m.Close()
}

func withGWS(c *crowd) http.Handler {
	upgrader := gws.NewUpgrader(&gwsHandler{crowd: c}, &gws.ServerOption{ReadMaxPayloadSize: limit})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := upgrader.Upgrade(w, r)
		if err != nil {
			return
		}
		c.add(r, func(record []byte) error { return socket.WriteMessage(gws.OpcodeText, record) })
		go socket.ReadLoop()
	})
}

func withGorilla(c *crowd) http.Handler {
	upgrader := gorilla.Upgrader{ReadBufferSize: 1024, WriteBufferPool: &sync.Pool{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		socket.SetReadLimit(limit)
		c.add(r, func(record []byte) error { return socket.WriteMessage(gorilla.TextMessage, record) })
		go func() {
			for {
				_, record, err := socket.ReadMessage()
				if err != nil {
					return
				}
				c.send(record)
			}
		}()
	})
}

func withCoder(c *crowd) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := coder.Accept(w, r, nil)
		if err != nil {
			return
		}
		socket.SetReadLimit(limit)
		background := context.Background()
		c.add(r, func(record []byte) error { return socket.Write(background, coder.MessageText, record) })
		go func() {
			for {
				_, record, err := socket.Read(background)
				if err != nil {
					return
				}
				c.send(record)
			}
		}()
	})
}
