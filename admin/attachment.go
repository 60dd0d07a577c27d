package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/airi-host/airi-host/protocol"
)

// Attachment is a pseudo-terminal or a channel of a plugin of the running host: an
// io.ReadWriteCloser, of which one goroutine reads and any write.
type Attachment struct {
	conn io.ReadWriteCloser
	// rest is what was not read yet of a frame that is in buffer.
	buffer, rest []byte
	// ended is why reading has ended.
	ended error
	exit  AttachExit

	mu sync.Mutex
}

var _ io.ReadWriteCloser = (*Attachment)(nil)

// Attach opens a pseudo-terminal ("pty") or a channel ("duplex") at a plugin. The end of ctx
// closes it.
func (c *Client) Attach(ctx context.Context, kind protocol.RouteKind, plugin string, asked AttachRequest) (*Attachment, error) {
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	path := pathAPI + "/plugins/" + segment(plugin) + "/" + string(kind)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", attachProtocol)
	answer, err := c.send(r, http.StatusSwitchingProtocols)
	if err != nil {
		return nil, err
	}
	conn, ok := answer.Body.(io.ReadWriteCloser)
	if !ok {
		return nil, fmt.Errorf("the host gave no connection for %s", kind)
	}
	// The transport lets go of a connection that is upgraded, and of its context.
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &Attachment{conn: conn, buffer: make([]byte, MaxAttachFrame)}, nil
}

// Read reads what the plugin sends. It returns io.EOF once the program has ended, else why
// the route has.
func (a *Attachment) Read(b []byte) (int, error) {
	for len(a.rest) == 0 && a.ended == nil {
		a.next()
	}
	if len(a.rest) == 0 {
		return 0, a.ended
	}
	n := copy(b, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// next reads the next frame.
func (a *Attachment) next() {
	kind, data, err := readFrame(a.conn, a.buffer)
	switch {
	case err != nil:
		a.ended = lost(err)
	case kind == frameData:
		a.rest = data
	case kind == frameExit:
		if a.ended = json.Unmarshal(data, &a.exit); a.ended == nil {
			a.ended = io.EOF
		}
	case kind == frameError:
		var f Failure
		if a.ended = json.Unmarshal(data, &f); a.ended == nil {
			a.ended = f.Err()
		}
	}
}

// Exit is how the program ended; it is known once Read has returned io.EOF.
func (a *Attachment) Exit() AttachExit { return a.exit }

// Write sends bytes to the plugin.
func (a *Attachment) Write(b []byte) (n int, err error) {
	for n < len(b) {
		part := b[n:min(len(b), n+MaxAttachFrame)]
		if err := a.send(frame(frameData, part)); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// Stop asks that the program is ended.
func (a *Attachment) Stop() error { return a.send(frame(frameStop, nil)) }

func (a *Attachment) send(frame []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.conn.Write(frame)
	if err != nil {
		err = lost(err)
	}
	return err
}

// Close ends the route. It may be called again.
func (a *Attachment) Close() error { return a.conn.Close() }
