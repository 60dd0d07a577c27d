package admin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// Client asks and commands a running host. Its methods may be called from any
// goroutine, and end with their context. An error is the host's own (*protocol.Error,
// *protocol.PeerError), or a connection's.
type Client struct{ http *http.Client }

// NewClient makes a client that reaches its host by dial.
func NewClient(dial func(ctx context.Context) (net.Conn, error)) *Client {
	return &Client{&http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableKeepAlives: true, // nobody has to close a client
	}}}
}

// LongestLine is the longest line of a stream that a client takes, in bytes.
const LongestLine = 128 << 20

// Info says who answers.
func (c *Client) Info(ctx context.Context) (info HostInfo, err error) {
	return info, c.get(ctx, "/host", &info)
}

// Plugins lists all plugins.
func (c *Client) Plugins(ctx context.Context) ([]PluginInfo, error) {
	var list PluginList
	err := c.get(ctx, "/plugins", &list)
	return list.Plugins, err
}

// Inspect tells all about a plugin, by its name or a session's id.
func (c *Client) Inspect(ctx context.Context, name string) (detail PluginDetail, err error) {
	return detail, c.get(ctx, "/plugins/"+segment(name), &detail)
}

// Capabilities lists offers: those of a plugin, and of a kind, where these are not "".
func (c *Client) Capabilities(ctx context.Context, plugin, kind string) ([]capability.Offer, error) {
	var list CapabilityList
	err := c.get(ctx, "/capabilities?"+url.Values{"plugin": {plugin}, "kind": {kind}}.Encode(), &list)
	return list.Capabilities, err
}

// The commands that a plugin can be given.
const (
	Start   = "start"
	Stop    = "stop"
	Reload  = "reload"
	Enable  = "enable"
	Disable = "disable"
)

// Command gives a plugin one of the commands. It returns when that is carried out.
func (c *Client) Command(ctx context.Context, command, name string) (info PluginInfo, err error) {
	return info, c.ask(ctx, http.MethodPost, "/plugins/"+segment(name)+"/"+command, nil, &info)
}

// Call makes a call and returns its result.
func (c *Client) Call(ctx context.Context, call CallRequest) (json.RawMessage, error) {
	call.Follow = false
	body, err := json.Marshal(call)
	if err != nil {
		return nil, err
	}
	answer, err := c.do(ctx, http.MethodPost, "/call", body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	result, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, lost(err)
	}
	return bytes.TrimSuffix(result, []byte("\n")), nil
}

// FollowCall makes a call and gives each line of what comes of it to line, the result
// among them. An error that the call ends with is returned, and is no line.
func (c *Client) FollowCall(ctx context.Context, call CallRequest, line func([]byte) error) error {
	call.Follow = true
	body, err := json.Marshal(call)
	if err != nil {
		return err
	}
	return c.lines(ctx, http.MethodPost, "/call", body, line)
}

// Events gives the last n events of some kinds to line, each one JSON object, and with
// follow also those that come, until ctx ends or the host does. kinds is a list with
// commas in between, "" for all; n of 0 is for all that are kept.
func (c *Client) Events(ctx context.Context, kinds string, n int, follow bool, line func([]byte) error) error {
	return c.EventsOf(ctx, EventsWanted{Kinds: kinds}, n, follow, line)
}

// EventsWanted says which events are wanted; what is "" stands for all.
type EventsWanted struct {
	// Kinds is a list with commas in between, "" for all that are kept.
	Kinds string
	// Plugin is whom they are about.
	Plugin string
	// Company is the tenant of calls and event streams.
	Company string
	// Type is that of a channel's event; with a * at its end it stands for all that begin so.
	Type string
}

// EventsOf is as Events, for some of them.
func (c *Client) EventsOf(ctx context.Context, wanted EventsWanted, n int, follow bool, line func([]byte) error) error {
	query := url.Values{"kind": {wanted.Kinds}, "lines": {strconv.Itoa(n)}, "follow": {strconv.FormatBool(follow)}}
	for name, value := range map[string]string{"plugin": wanted.Plugin, "company": wanted.Company, "type": wanted.Type} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return c.lines(ctx, http.MethodGet, "/events?"+query.Encode(), nil, line)
}

// Logs is as Events for the log of a plugin, "" for all of them; n of 0 is for a
// hundred lines. What was said before since is left out; zero stands for any time.
func (c *Client) Logs(ctx context.Context, plugin string, n int, since time.Time, follow bool, line func([]byte) error) error {
	path := "/logs?"
	if plugin != "" {
		path = "/plugins/" + segment(plugin) + path
	}
	query := url.Values{"lines": {strconv.Itoa(n)}, "follow": {strconv.FormatBool(follow)}}
	if !since.IsZero() {
		query.Set("since", since.Format(time.RFC3339Nano))
	}
	return c.lines(ctx, http.MethodGet, path+query.Encode(), nil, line)
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	return c.ask(ctx, http.MethodGet, path, nil, into)
}

func (c *Client) ask(ctx context.Context, method, path string, body []byte, into any) error {
	answer, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return lost(err)
	}
	return nil
}

// do returns the answer to a request, if it is no error.
func (c *Client) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+pathAPI+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return c.send(r, http.StatusOK)
}

// send returns the answer to a request, if its status is of the kind that is expected.
func (c *Client) send(r *http.Request, expected int) (*http.Response, error) {
	answer, err := c.http.Do(r)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok { // its address means nothing
			err = wrapped.Err
		}
		return nil, lost(err)
	}
	if answer.StatusCode/100 == expected/100 {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	var told failed
	if err := json.NewDecoder(answer.Body).Decode(&told); err != nil || told.Error.Code == "" {
		return nil, fmt.Errorf("the host answered with status %d and no reason", answer.StatusCode)
	}
	return nil, told.Error.Err()
}

// lines reads a stream. A line that is an error ends it.
func (c *Client) lines(ctx context.Context, method, path string, body []byte, line func([]byte) error) error {
	answer, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	scanner := bufio.NewScanner(answer.Body)
	scanner.Buffer(nil, LongestLine)
	for scanner.Scan() {
		text := scanner.Bytes()
		if bytes.HasPrefix(text, []byte(`{"event":"error",`)) {
			var f Failure
			if err := json.Unmarshal(text, &f); err == nil {
				return f.Err()
			}
		}
		if err := line(text); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return lost(err)
	}
	return nil
}

// lost is a failure of the connection; one that dial has put into the host's own words
// stays as it is.
func lost(err error) error {
	if own, ok := errors.AsType[*protocol.Error](err); ok {
		return own
	}
	for _, gone := range [...]error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, gone) {
			return &severedError{err}
		}
	}
	return fmt.Errorf("the connection to the host: %w", err)
}

// severedError is the end of a connection of which the host has said nothing.
type severedError struct{ why error }

func (*severedError) Error() string {
	return "the host has ended without a word, or it has closed the connection, as it does where nobody takes what it sends for its api.answerTimeout: its log may tell"
}

func (e *severedError) Unwrap() error { return e.why }
