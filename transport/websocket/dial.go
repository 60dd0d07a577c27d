package websocket

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gobwas/ws"
)

// DefaultDialTime is what DialOptions.Timeout means when it says nothing.
const DefaultDialTime = 15 * time.Second

// DialOptions says how a connection is made. The zero value works.
type DialOptions struct {
	Options

	// Timeout bounds the whole of it: the connection, the handshakes of TLS and of the
	// websocket. Zero or less means [DefaultDialTime].
	Timeout time.Duration
	// Token is shown in the header "Authorization: Bearer TOKEN", unless it is "".
	Token string
	// Header is sent with the request, too.
	Header http.Header
	// TLS is for addresses that begin with wss:. Nil trusts the system's authorities.
	TLS *tls.Config
}

// ErrAddress tells that an address is none of a websocket, whatever is there.
var ErrAddress = errors.New("no address of a websocket")

// Dial connects to an address, ws://HOST:PORT/PATH or wss:. Whoever calls it owns the
// connection, receives from it, and closes it.
func Dial(ctx context.Context, address string, o DialOptions) (*Conn, error) {
	o.Options = o.resolved()
	number(&o.Timeout, DefaultDialTime)
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
		return nil, fmt.Errorf("%q is %w: expected one such as ws://localhost:6121/ws", address, ErrAddress)
	}
	var said string
	dialer := ws.Dialer{
		Timeout: o.Timeout, Header: ws.HandshakeHeaderHTTP(o.header()), TLSConfig: o.tls(u.Hostname()),
		OnStatusError: func(_ int, _ []byte, answer io.Reader) { said = excerpt(answer) },
	}
	socket, early, _, err := dialer.Dial(ctx, u.String())
	if err != nil {
		return nil, dialFailed(address, said, err)
	}
	var ahead []byte
	if early != nil {
		ahead, _ = early.Peek(early.Buffered())
	}
	c := newConn(socket, ahead, new(o.Options), true, true)
	if early != nil {
		ws.PutReader(early)
	}
	c.start()
	return c, nil
}

func (o DialOptions) header() http.Header {
	head := http.Header{}
	if o.Header != nil {
		head = o.Header.Clone()
	}
	if o.Token != "" {
		head.Set("Authorization", "Bearer "+o.Token)
	}
	return head
}

// tls names the server for who has not: an address with brackets is none to the dialer.
func (o DialOptions) tls(host string) *tls.Config {
	config := &tls.Config{}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	return config
}

// RefusedError tells that a server answered, and did not upgrade.
type RefusedError struct {
	// Status is of HTTP; Text is the beginning of what it said.
	Status int
	Text   string
}

// Error gives both.
func (e *RefusedError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("the server refused the websocket with status %d: %s", e.Status, e.Text), ": ")
}

func dialFailed(address, said string, err error) error {
	var status ws.StatusError
	if errors.As(err, &status) {
		err = &RefusedError{Status: int(status), Text: said}
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("connect to %s: no answer in time: %w", address, err)
	}
	return fmt.Errorf("connect to %s: %w", address, err)
}

// excerpt is the beginning of what an answer says below its header. Of an endless header no
// more than maxHeader is read.
func excerpt(answer io.Reader) string {
	response, err := http.ReadResponse(bufio.NewReader(io.LimitReader(answer, maxHeader)), nil)
	if err != nil {
		return ""
	}
	text := make([]byte, 200)
	n, _ := io.ReadFull(response.Body, text)
	return strings.TrimSpace(strings.ToValidUTF8(string(text[:n]), "?"))
}
