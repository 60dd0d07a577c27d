package services

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// HTTP are the limits of http.fetch. The zero value works.
//
// A fetch is one request with http or https, and those that redirects lead to. It goes
// to public addresses and to Allowed ones only, and the name of its host is looked up
// once; no proxy is used. The answer's body is text: bytes that are no UTF-8 become
// U+FFFD. It is null for an answer that cannot have one (204, 205, 304), since the
// Response of JavaScript cannot be made otherwise. Headers are bytes, each shown as the
// character of its number.
type HTTP struct {
	// Allowed is what may be reached although it is private or reserved.
	Allowed Addresses
	// Timeout is for all of a fetch, redirects and body included; 0 means 30 s.
	Timeout time.Duration
	// DNSTimeout is for the look-up of a name; 0 means 5 s.
	DNSTimeout time.Duration
	// MaxRequest and MaxResponse are how long a body may be, in bytes; 0 means 10 MiB.
	// The reference host takes 200 MiB, all of which a host holds in memory.
	MaxRequest, MaxResponse int
	// MaxRedirects is how many are followed; 0 means 20, as in JavaScript. A negative
	// one follows none: the redirect is the answer, as in the reference host.
	MaxRedirects int
	// MaxConcurrent is how many fetches of one plugin run at a time; 0 means 16. The
	// next one fails with [protocol.CodeOverloaded].
	MaxConcurrent int
	// Resolver looks names up; nil is the system's.
	Resolver Resolver
	// RootCAs sign the certificates that are trusted; nil stands for the system's.
	RootCAs *x509.CertPool
}

// maxResponseHeaders is how long all headers of an answer may be, in bytes.
const maxResponseHeaders = 256 << 10

// errTooSlow ends a fetch at the limit of all fetches.
var errTooSlow = errors.New("the limit of http.fetch")

// fetcher serves http.fetch: {url, init?} → {status, statusText, headers, body}.
type fetcher struct {
	invoker   invoker
	limits    HTTP
	slots     *slots
	transport *http.Transport
	connect   func(ctx context.Context, network, address string) (net.Conn, error)
}

// fetched is the answer to a fetch.
type fetched struct {
	Status     int               `json:"status"`
	StatusText string            `json:"statusText"`
	Headers    map[string]string `json:"headers"`
	Body       *string           `json:"body"`
}

// raw is the answer as the plugin gets it. It has the page as one string, which may be long,
// so that it is written here.
func (f fetched) raw() json.RawMessage {
	room := 128
	if f.Body != nil {
		room += len(*f.Body) + len(*f.Body)/8
	}
	dst := append(make(json.RawMessage, 0, room), `{"status":`...)
	dst = append(strconv.AppendInt(dst, int64(f.Status), 10), `,"statusText":`...)
	dst = append(protocol.AppendText(dst, f.StatusText), `,"headers":{`...)
	for i, name := range slices.Sorted(maps.Keys(f.Headers)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(protocol.AppendText(dst, name), ':')
		dst = protocol.AppendText(dst, f.Headers[name])
	}
	dst = append(dst, `},"body":`...)
	if f.Body == nil {
		return append(dst, "null}"...)
	}
	return append(protocol.AppendText(dst, *f.Body), '}')
}

func newFetcher(i invoker, limits HTTP) *fetcher {
	limits.Timeout = time.Duration(orDefault(int64(limits.Timeout), int64(30*time.Second)))
	limits.DNSTimeout = time.Duration(orDefault(int64(limits.DNSTimeout), int64(5*time.Second)))
	limits.MaxRequest = orDefault(limits.MaxRequest, 10<<20)
	limits.MaxResponse = orDefault(limits.MaxResponse, 10<<20)
	if limits.MaxRedirects == 0 {
		limits.MaxRedirects = 20
	}
	if limits.Resolver == nil {
		limits.Resolver = net.DefaultResolver
	}
	f := &fetcher{
		invoker: i, limits: limits, slots: newSlots(orDefault(limits.MaxConcurrent, 16)),
		connect: (&net.Dialer{}).DialContext,
	}
	f.transport = &http.Transport{
		DialContext:       f.dial,
		TLSClientConfig:   &tls.Config{RootCAs: limits.RootCAs},
		DisableKeepAlives: true, // a connection was opened for one plugin, and its address checked then
		Protocols:         new(http.Protocols),

		TLSHandshakeTimeout:    connectTimeout,
		MaxResponseHeaderBytes: maxResponseHeaders,
	}
	f.transport.Protocols.SetHTTP1(true)
	return f
}

func (f *fetcher) fetch(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	r := in.request(f.limits.MaxRequest)
	if in.err != nil {
		return nil, in.err
	}
	if isReserved(r.url) {
		return f.invoker.answer(ctx, in, r).raw(), nil
	}
	if !f.slots.take(call.Caller) {
		return nil, faultf(call, protocol.CodeOverloaded, "%d fetches of this plugin run, the limit: await one before the next", f.slots.max)
	}
	defer f.slots.free(call.Caller)
	ctx, cancel := context.WithTimeoutCause(ctx, f.limits.Timeout, errTooSlow)
	defer cancel() // closes the connection as well
	return f.follow(hop{ctx, call}, r)
}

// follow makes the request and those that it leads to.
func (f *fetcher) follow(h hop, r request) (json.RawMessage, error) {
	for redirects := 0; ; redirects++ {
		answer, err := f.send(h, r)
		if err != nil {
			return nil, f.failure(h, r, err)
		}
		next, again, err := r.redirected(answer.StatusCode, answer.Header.Get("Location"))
		if f.limits.MaxRedirects < 0 || err == nil && !again {
			result, err := f.result(h.call, answer)
			return result, f.failure(h, r, err)
		}
		_ = answer.Body.Close() // the connection is not used again
		switch {
		case err != nil:
			return nil, f.failure(h, r, err)
		case redirects >= f.limits.MaxRedirects:
			return nil, f.failure(h, r, fmt.Errorf("it redirects again after %d times, the limit", redirects))
		}
		r = next
	}
}

func (f *fetcher) send(h hop, r request) (*http.Response, error) {
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	ctx := context.WithValue(h.ctx, hopKey{}, h)
	out, err := http.NewRequestWithContext(ctx, r.method, "", body)
	if err != nil { // the method is all that can be wrong
		return nil, faultf(h.call, protocol.CodeInvalid, "init.method: expected a method, e.g. POST")
	}
	out.URL, out.Header = r.url, r.header
	return f.transport.RoundTrip(out)
}

// result reads an answer.
func (f *fetcher) result(call protocol.Call, answer *http.Response) (json.RawMessage, error) {
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(answer.Body, int64(f.limits.MaxResponse)+1))
	if err != nil {
		return nil, err
	}
	if len(content) > f.limits.MaxResponse {
		return nil, faultf(call, protocol.CodeOverloaded, "%s answers with more than %d bytes, the limit: ask for less, e.g. with a range header",
			answer.Request.URL.Hostname(), f.limits.MaxResponse)
	}
	out := fetched{Status: answer.StatusCode, Headers: make(map[string]string, len(answer.Header))}
	_, text, _ := strings.Cut(answer.Status, " ")
	out.StatusText = fromLatin1(text)
	for name, values := range answer.Header {
		out.Headers[strings.ToLower(name)] = fromLatin1(strings.Join(values, ", "))
	}
	switch answer.StatusCode {
	case http.StatusNoContent, http.StatusResetContent, http.StatusNotModified:
	default:
		text := string(content)
		out.Body = &text
	}
	return out.raw(), nil
}

// failure says which host did not answer and why. Of the URL it names no more: its path
// and its query may hold secrets.
func (f *fetcher) failure(h hop, r request, err error) error {
	if _, ours := errors.AsType[*protocol.Error](err); ours || err == nil {
		return err
	}
	host := r.url.Hostname()
	switch {
	case errors.Is(context.Cause(h.ctx), errTooSlow):
		return faultf(h.call, protocol.CodeTimeout, "%s: no complete answer within %s, the limit of a fetch", host, f.limits.Timeout)
	case h.ctx.Err() != nil:
		return ended(h.ctx, h.call, "before "+host+" had answered")
	}
	return fmt.Errorf("%s: %s: %w", h.call.Key, host, err)
}

// encode writes an answer. Text of web pages is full of what encoding/json escapes for
// web pages, so that is left as it is.
func encode(value any) json.RawMessage {
	raw, err := tryEncode(value)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return raw
}

// tryEncode is encode for what holds JSON of others, which may nest too deeply for it.
func tryEncode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ended is the failure of a call whose context has ended.
func ended(ctx context.Context, call protocol.Call, when string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return faultf(call, protocol.CodeTimeout, "the call's deadline passed %s", when)
	}
	return faultf(call, protocol.CodeCancelled, "the caller gave up %s", when)
}
