package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/airi-host/airi-host/internal/regular"
)

// maxPEM is how long the file of a certificate or a key may be, in bytes.
const maxPEM = 1 << 20

// tls is what a host answers by; nil for nothing.
func (o listenOptions) tls() (*tls.Config, error) {
	if o.TLS.Cert == "" {
		return nil, nil
	}
	cert, err := readPEM(o.TLS.Cert, false)
	if err != nil {
		return nil, fmt.Errorf("listen.tls.cert %s: %w", o.TLS.Cert, err)
	}
	key, err := readPEM(o.TLS.Key, true)
	if err != nil {
		return nil, fmt.Errorf("listen.tls.key %s: %w", o.TLS.Key, err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("listen.tls: %s and %s: expected a certificate and its own private key, both in PEM: %w", o.TLS.Cert, o.TLS.Key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, nil
}

// readPEM reads a file in PEM; a private one is not for others to read.
func readPEM(file string, private bool) ([]byte, error) {
	text, info, err := regular.Read(file, maxPEM)
	switch {
	case errors.Is(err, regular.ErrIrregular), errors.Is(err, regular.ErrTooLong):
		return nil, errors.New("expected a file in PEM")
	case err != nil:
		return nil, withoutPath(err)
	case private:
		return text, ownersAlone(file, info)
	}
	return text, nil
}

// secured accepts by TLS.
type secured struct {
	net.Listener
	config *tls.Config
}

// Accept is of net.Listener.
func (l secured) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &securedConn{tls.Server(c, l.config)}, nil
}

// securedConn tells whoever speaks without TLS that it is expected: net/http does so for
// its own listeners alone.
type securedConn struct{ *tls.Conn }

const plainAnswer = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"this host answers by TLS (listen.tls in its settings): expected https:// or wss:// in place of http:// or ws://\n"

// Read is of net.Conn.
func (c *securedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && isHTTP(plain.RecordHeader) {
		_, _ = io.WriteString(plain.Conn, plainAnswer) // it fits what the socket takes at once
	}
	return n, err
}

// isHTTP tells whether a connection has begun with a request of HTTP.
func isHTTP(begun [5]byte) bool {
	switch string(begun[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET", "PATCH":
		return true
	}
	return false
}
