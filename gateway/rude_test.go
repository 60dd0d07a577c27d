package gateway

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// rude is a client that does what it likes with its socket.
type rude struct {
	r *rig
	net.Conn
	in *bufio.Reader
}

// What a frame of a websocket begins with, the last of its message.
const (
	frameText   = 0x81
	frameBinary = 0x82
	frameClose  = 0x88
)

func (r *rig) rude() *rude {
	r.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(r.url, "ws://"), "/ws")
	c, err := new(net.Dialer).DialContext(r.Context(), "tcp", address)
	require.NoError(r, err)
	r.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "GET /ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", address)
	require.NoError(r, err)
	p := &rude{r, c, bufio.NewReader(c)}
	answer, err := http.ReadResponse(p.in, nil)
	require.NoError(r, err)
	require.NoError(r, answer.Body.Close())
	require.Equal(r, http.StatusSwitchingProtocols, answer.StatusCode)
	return p
}

// send sends a frame, masked by nothing; whether it goes anywhere is the test's question.
func (p *rude) send(kind byte, payload string) {
	head := []byte{kind, 0x80 | 126, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint16(head[2:], uint16(len(payload))) //nolint:gosec // what tests send is short
	if len(payload) < 126 {
		head = []byte{kind, 0x80 | byte(len(payload)), 0, 0, 0, 0}
	}
	_, _ = p.Write(append(head, payload...))
}

func (p *rude) say(kind, data string) {
	p.send(frameText, fmt.Sprintf(`{"type":%q,"data":%s}`, kind, data))
}

// next is the next frame of the host's.
func (p *rude) next() (kind byte, payload []byte) {
	p.r.Helper()
	require.NoError(p.r, p.SetReadDeadline(time.Now().Add(patience)))
	head := make([]byte, 2)
	_, err := io.ReadFull(p.in, head)
	require.NoError(p.r, err)
	length := uint64(head[1])
	switch size := map[byte]int{126: 2, 127: 8}[head[1]]; size {
	case 2, 8:
		long := make([]byte, 8)
		_, err = io.ReadFull(p.in, long[8-size:])
		require.NoError(p.r, err)
		length = binary.BigEndian.Uint64(long)
	}
	payload = make([]byte, length)
	_, err = io.ReadFull(p.in, payload)
	require.NoError(p.r, err)
	return head[0], payload
}

// hear waits for an event of a type that has a text in it.
func (p *rude) hear(kind, part string) {
	p.r.Helper()
	for {
		_, record := p.next()
		if strings.Contains(string(record), `"type":"`+kind+`"`) && strings.Contains(string(record), part) {
			return
		}
	}
}

// wantEnd waits until the host closes it with a code.
func (p *rude) wantEnd(code uint16) {
	p.r.Helper()
	for {
		if kind, payload := p.next(); kind == frameClose {
			require.Equal(p.r, code, binary.BigEndian.Uint16(payload))
			return
		}
	}
}
