package websocket

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
)

// maxHeader is the largest header of a request, in bytes.
const maxHeader = 16 << 10

// Serve accepts on l, by TLS if there is a configuration, until ctx ends; then it shuts
// the server down as [Server.Shutdown] does, without a limit of its own. Requests to
// any path are upgraded. What has not been upgraded is bounded in time by UpgradeTime and
// in number by MaxEarly. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var pending atomic.Int64
	server := &http.Server{
		Handler: s, TLSConfig: s.o.TLS, ReadHeaderTimeout: s.o.UpgradeTime, MaxHeaderBytes: maxHeader,
		ReadTimeout: s.o.UpgradeTime, WriteTimeout: s.o.UpgradeTime, IdleTimeout: s.o.UpgradeTime,
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // an upgrade is HTTP/1.1's
		ErrorLog:     log.New(io.Discard, "", 0),                               // what strangers do wrong is counted, not logged
		ConnState: func(socket net.Conn, state http.ConnState) {
			switch {
			case state == http.StateNew && pending.Add(1) > int64(s.o.MaxEarly):
				s.count(func(n *Counts) { n.Refused[TooManyEarly]++ })
				_ = socket.Close()
			case state == http.StateHijacked || state == http.StateClosed:
				pending.Add(-1)
			}
		},
	}
	served := make(chan error, 1)
	go func() {
		if s.o.TLS != nil {
			served <- server.ServeTLS(l, "", "")
			return
		}
		served <- server.Serve(l)
	}()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		_ = server.Close()
		err = <-served
	}
	shut := s.Shutdown(context.WithoutCancel(ctx))
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, shut)
}
