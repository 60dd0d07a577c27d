package services

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// reservedHost is the address under which the host itself answers http.fetch. No name
// below "invalid" ever resolves (RFC 2606), so it takes nothing from anybody.
const reservedHost = "airi-host.invalid"

// invokePath is where capabilities are, by their key.
const invokePath = "/invoke/"

// maxTimeout is the longest limit in milliseconds, as on the wire of Paperclip.
const maxTimeout = math.MaxInt32

// invoker lets plugins call the capabilities of others.
type invoker struct{ plugins protocol.Plugins }

// invoke serves airi-host.invoke: {key, input?, plugin?, timeoutMs?} → the result.
func (i invoker) invoke(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	out := protocol.Call{
		Key: in.text("key"), Input: in.members["input"], Plugin: in.optional("plugin"),
		Scope: in.company(), Caller: call.Caller, Trace: call.Trace, Cause: call.Cause, Deadline: deadline(string(in.members["timeoutMs"])),
		Progress: call.Progress,
	}
	if in.err != nil {
		return nil, in.err
	}
	return i.plugins.Invoke(ctx, out)
}

// deadline is that many milliseconds from now. What is absent, no number, zero or
// negative is the default, which a zero time stands for.
func deadline(milliseconds string) time.Time {
	if milliseconds == "" {
		return time.Time{}
	}
	n, err := strconv.ParseFloat(milliseconds, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n <= 0 {
		return time.Time{}
	}
	n = min(max(math.Trunc(n), 1), maxTimeout)
	return time.Now().Add(time.Duration(n) * time.Millisecond)
}

// isReserved tells whether the host itself answers this address.
func isReserved(u *url.URL) bool {
	return strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), reservedHost)
}

// answer serves a request to the reserved address. Whatever goes wrong is an answer.
func (i invoker) answer(ctx context.Context, in *params, r request) fetched {
	escaped, ours := strings.CutPrefix(r.url.EscapedPath(), invokePath)
	key, err := url.PathUnescape(escaped)
	body := json.RawMessage(r.body)
	switch {
	case !ours || err != nil || blank(key):
		return refused(http.StatusNotFound, protocol.CodeNotFound, "expected the path /invoke/KEY, the key of a capability, escaped")
	case r.method != http.MethodPost:
		no := refused(http.StatusMethodNotAllowed, protocol.CodeInvalid, "expected POST, with the input as its body")
		no.Headers["allow"] = http.MethodPost
		return no
	case r.body != "" && !json.Valid(body):
		return refused(http.StatusBadRequest, protocol.CodeInvalid, "expected JSON as the body, the capability's input, or none")
	}
	query := r.url.Query()
	out := protocol.Call{
		Key: key, Plugin: query.Get("plugin"), Deadline: deadline(query.Get("timeoutMs")),
		Scope: in.company(), Caller: in.call.Caller, Trace: in.call.Trace, Cause: in.call.Cause,
	}
	if r.body != "" {
		out.Input = body
	}
	result, err := i.plugins.Invoke(ctx, out)
	if err != nil {
		status, code := statusOf(err)
		return refused(status, code, err.Error())
	}
	if result == nil {
		result = null
	}
	return answered(http.StatusOK, string(result))
}

// codePeer stands in an answer for an error that a plugin reported.
const codePeer protocol.Code = "peer"

// statusClientClosed is what proxies answer when the client has gone.
const statusClientClosed = 499

// statusOf is the status and the code with which a failed invocation is answered. The
// table is in the package's documentation.
func statusOf(err error) (int, protocol.Code) {
	code := protocol.CodeOf(err)
	switch code {
	case protocol.CodeInvalid:
		return http.StatusBadRequest, code
	case protocol.CodeDenied:
		return http.StatusForbidden, code
	case protocol.CodeNotFound:
		return http.StatusNotFound, code
	case protocol.CodeAmbiguous, protocol.CodeConflict:
		return http.StatusConflict, code
	case protocol.CodeOverloaded:
		return http.StatusTooManyRequests, code
	case protocol.CodeCancelled:
		return statusClientClosed, code
	case protocol.CodeOutcomeUnknown, protocol.CodeWire:
		return http.StatusBadGateway, code
	case protocol.CodeNotReady, protocol.CodeConfiguration:
		return http.StatusServiceUnavailable, code
	case protocol.CodeTimeout:
		return http.StatusGatewayTimeout, code
	case protocol.CodeInternal:
		return http.StatusInternalServerError, code
	}
	if _, ok := errors.AsType[*protocol.PeerError](err); ok {
		return http.StatusInternalServerError, codePeer
	}
	return http.StatusInternalServerError, protocol.CodeInternal
}

func refused(status int, code protocol.Code, message string) fetched {
	var body struct {
		Error struct {
			Code    protocol.Code `json:"code"`
			Message string        `json:"message"`
		} `json:"error"`
	}
	body.Error.Code, body.Error.Message = code, message
	return answered(status, string(encode(body)))
}

func answered(status int, body string) fetched {
	text := http.StatusText(status)
	if status == statusClientClosed {
		text = "Client Closed Request"
	}
	return fetched{Status: status, StatusText: text, Headers: map[string]string{"content-type": "application/json"}, Body: &body}
}
