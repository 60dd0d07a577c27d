package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// The limits of a client.
const (
	// closeGrace is how long a process may take to end when its input has.
	closeGrace = 30 * time.Second
	// maxSaid is how much of what a process says on standard error is kept, in bytes.
	maxSaid = 8 << 10
)

// Client gives orders to a process.
type Client struct {
	cmd   *exec.Cmd
	event func(json.RawMessage)
	said  tail
	// over is closed when the process has ended, and why is set by then.
	over chan struct{}
	why  error

	mu      sync.Mutex
	stdin   io.WriteCloser
	last    int64
	pending map[int64]chan said
}

// said is the answer to one order.
type said struct {
	ID     int64           `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
}

// Failure is an order that the process could not carry out.
type Failure struct {
	Op, Message string
	// Code is the number that came with the message, or 0.
	Code int
}

func (f *Failure) Error() string { return f.Op + ": " + f.Message }

// Open starts the process of cmd, whose standard streams must not be set. event is
// called with each line that answers no order, in turn; nil drops them.
func Open(cmd *exec.Cmd, event func(json.RawMessage)) (*Client, error) {
	c := &Client{cmd: cmd, event: event, over: make(chan struct{}), pending: map[int64]chan said{}}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.stdin, cmd.Stderr = stdin, &c.said
	cmd.WaitDelay = time.Second // a descendant may hold standard error
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go c.listen(stdout)
	return c, nil
}

// listen reads until the process ends.
func (c *Client) listen(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		c.take(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		_ = c.cmd.Process.Kill() // it cannot be understood any more
	}
	err := c.cmd.Wait()
	if lines.Err() != nil {
		err = lines.Err()
	}
	c.why = fmt.Errorf("%s ended: %w%s", c.cmd.Path, orEOF(err), c.said.quoted())
	close(c.over)
}

func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

func (c *Client) take(line []byte) {
	var s said
	if json.Unmarshal(line, &s) != nil || s.ID == 0 {
		if c.event != nil {
			c.event(bytes.Clone(line))
		}
		return
	}
	c.mu.Lock()
	waiting := c.pending[s.ID]
	delete(c.pending, s.ID)
	c.mu.Unlock()
	if waiting != nil {
		waiting <- s
	}
}

// Do gives an order and decodes its result into result, unless that is nil. params
// is a struct or a map, whose members are the order's. What the process could not do
// is a *[Failure].
func (c *Client) Do(ctx context.Context, op string, params, result any) error {
	answer, err := c.send(op, params)
	if err != nil {
		return err
	}
	select {
	case s := <-answer:
		return s.into(op, result)
	case <-c.over:
		select {
		case s := <-answer:
			return s.into(op, result)
		default:
			return fmt.Errorf("%s: %w", op, c.why)
		}
	case <-ctx.Done():
		return fmt.Errorf("%s: %w%s", op, context.Cause(ctx), c.said.quoted())
	}
}

func (c *Client) send(op string, params any) (<-chan said, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	line, err := orderOf(c.last, op, params)
	if err != nil {
		return nil, err
	}
	answer := make(chan said, 1)
	c.pending[c.last] = answer
	if _, err := c.stdin.Write(line); err != nil {
		delete(c.pending, c.last)
		return nil, fmt.Errorf("%s: %w%s", op, err, c.said.quoted())
	}
	return answer, nil
}

// orderOf is the line of an order.
func orderOf(id int64, op string, params any) ([]byte, error) {
	members := map[string]json.RawMessage{}
	if params != nil {
		text, err := json.Marshal(params)
		if err == nil {
			err = json.Unmarshal(text, &members)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: parameters: %w", op, err)
		}
	}
	members["id"] = fmt.Append(nil, id)
	members["op"] = fmt.Appendf(nil, "%q", op)
	line, err := json.Marshal(members)
	return append(line, '\n'), err
}

func (s said) into(op string, result any) error {
	switch {
	case s.Error != nil:
		f := &Failure{Op: op, Message: s.Error.Message}
		_ = json.Unmarshal(s.Error.Code, &f.Code) // a code that is no number stays 0
		return f
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(s.Result, result); err != nil {
		return fmt.Errorf("%s: result: %w", op, err)
	}
	return nil
}

// Close ends the process by the end of its input, and by force if it stays for 30 s.
func (c *Client) Close() error {
	forced := time.AfterFunc(closeGrace, func() { _ = c.cmd.Process.Kill() })
	defer forced.Stop()
	c.mu.Lock() // held by an order on its way; force ends that too
	_ = c.stdin.Close()
	c.mu.Unlock()
	<-c.over
	if errors.Is(c.why, io.EOF) {
		return nil
	}
	return c.why
}

// tail keeps the end of a text.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - maxSaid; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

// quoted is the text to put behind an error, or "".
func (t *tail) quoted() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := strings.TrimSpace(string(t.text)); text != "" {
		return "; it said: " + text
	}
	return ""
}
