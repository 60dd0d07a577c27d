package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// Failure is an error as the API tells it, below "error".
//
//	code                                    status
//	invalid                                 400
//	unauthorized                            401
//	denied                                  403
//	not-found                               404
//	method                                  405
//	slow                                    408
//	ambiguous, cancelled, conflict          409
//	too-large                               413
//	configuration                           422
//	overloaded                              429
//	internal, failed                        500
//	plugin, wire, outcome-unknown           502
//	not-ready                               503
//	timeout                                 504
type Failure struct {
	// Code is a protocol.Code; "plugin" for a plugin's own words, "failed" where no other
	// fits.
	Code    protocol.Code `json:"code"`
	Message string        `json:"message"`
	// Plugin is whom it is about, if anybody.
	Plugin string `json:"plugin,omitempty"`
	// Place is where in the plugin's code it came from, if known; Name the error's class,
	// Data what else the plugin sent with it.
	Place string          `json:"place,omitempty"`
	Name  string          `json:"name,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	// Stack is the plugin's own, if it was asked for: see CallRequest.Verbose.
	Stack string `json:"stack,omitempty"`
}

// The codes that are often used here, and those that the host's own errors do not have.
const (
	codeInvalid    = protocol.CodeInvalid
	codeNotFound   = protocol.CodeNotFound
	codeOverloaded = protocol.CodeOverloaded
	codeInternal   = protocol.CodeInternal
	codeDenied     = protocol.CodeDenied
	// codeTooLarge, codeSlow and codeMethod are of requests to plugins' endpoints: the body
	// is too large, did not come in time, and the path is there for other methods.
	codeTooLarge protocol.Code = "too-large"
	codeSlow     protocol.Code = "slow"
	codeMethod   protocol.Code = "method"
	// codeUnauthorized: there is no token, or a wrong one.
	codeUnauthorized protocol.Code = "unauthorized"
	// CodePlugin: the plugin failed the call, in its own words.
	CodePlugin protocol.Code = "plugin"
	// CodeFailed: it failed, and no other code fits.
	CodeFailed protocol.Code = "failed"
)

var statuses = map[protocol.Code]int{
	codeInvalid:                 http.StatusBadRequest,
	codeDenied:                  http.StatusForbidden,
	codeUnauthorized:            http.StatusUnauthorized,
	codeNotFound:                http.StatusNotFound,
	codeMethod:                  http.StatusMethodNotAllowed,
	codeSlow:                    http.StatusRequestTimeout,
	codeTooLarge:                http.StatusRequestEntityTooLarge,
	protocol.CodeAmbiguous:      http.StatusConflict,
	protocol.CodeCancelled:      http.StatusConflict,
	protocol.CodeConflict:       http.StatusConflict,
	protocol.CodeConfiguration:  http.StatusUnprocessableEntity,
	codeOverloaded:              http.StatusTooManyRequests,
	CodePlugin:                  http.StatusBadGateway,
	protocol.CodeWire:           http.StatusBadGateway,
	protocol.CodeOutcomeUnknown: http.StatusBadGateway,
	protocol.CodeNotReady:       http.StatusServiceUnavailable,
	protocol.CodeTimeout:        http.StatusGatewayTimeout,
}

func (f Failure) status() int {
	if status, ok := statuses[f.Code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// Err is the failure as the host's own error.
func (f Failure) Err() error {
	if f.Code == CodePlugin {
		return &protocol.PeerError{Message: f.Message, At: f.Place, Name: f.Name, Data: f.Data, Stack: f.Stack}
	}
	if f.Code == CodeFailed {
		return errors.New(f.Message)
	}
	// The message has the plugin's name already, where it helps.
	return &protocol.Error{Code: f.Code, Message: f.Message}
}

func failureOf(err error) Failure {
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok {
		f := Failure{Code: CodePlugin, Message: err.Error(), Place: peer.At, Name: peer.Name}
		if json.Valid(peer.Data) {
			f.Data = peer.Data
		}
		if _, verbose := errors.AsType[*verboseError](err); verbose {
			f.Stack = peer.Stack
		}
		return f
	}
	f := Failure{Code: CodeFailed, Message: err.Error()}
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		f.Code, f.Plugin = e.Code, e.Plugin
	}
	if errors.Is(err, actors.ErrShutdown) {
		f.Code = protocol.CodeNotReady
	}
	return f
}

// verboseError is an error of a call whose caller wants to know all of it.
type verboseError struct{ error }

func (e *verboseError) Unwrap() error { return e.error }

// about names the plugin in an error that does not: its own words seldom do.
func about(plugin string, err error) error {
	switch {
	case err == nil || strings.Contains(err.Error(), "plugin "+plugin):
		return err
	case err.Error() == "":
		return fmt.Errorf("plugin %s failed and gave no reason%w", plugin, err)
	}
	return fmt.Errorf("plugin %s: %w", plugin, err)
}

func invalid(format string, args ...any) error {
	return &protocol.Error{Code: codeInvalid, Message: fmt.Sprintf(format, args...)}
}

// failed is the body of an answer that is an error.
type failed struct {
	Error Failure `json:"error"`
}

func answerFailure(w http.ResponseWriter, f Failure) {
	_ = answer(w, f.status(), failed{f}) // who has gone hears nothing
}

// answer writes a JSON body.
func answer(w http.ResponseWriter, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding the answer: %w", err)
	}
	return answerRaw(w, status, "application/json", append(text, '\n'))
}

func answerRaw(w http.ResponseWriter, status int, kind string, text []byte) error {
	soon(w)
	head := w.Header()
	head.Set("Content-Type", kind)
	head.Set("Content-Length", strconv.Itoa(len(text)))
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, err := w.Write(text)
	return err
}

// paced is an answer on a connection, whose reader has so much time for what is written at
// once.
type paced struct {
	http.ResponseWriter
	time time.Duration
}

func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// soon gives whoever is answered some time to take what comes next.
func soon(w http.ResponseWriter) {
	for next := w; next != nil; {
		switch one := next.(type) {
		case *paced:
			_ = http.NewResponseController(one.ResponseWriter).SetWriteDeadline(time.Now().Add(one.time)) // in tests there may be no connection
			return
		case interface{ Unwrap() http.ResponseWriter }:
			next = one.Unwrap()
		default: // in tests
			return
		}
	}
}

// beginLines begins an answer of JSON objects, one a line.
func beginLines(w http.ResponseWriter) {
	head := w.Header()
	head.Set("Content-Type", "application/x-ndjson")
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
}

// lineOf makes JSON text one line: where it has a line break, that is no part of a value.
func lineOf(text []byte) []byte {
	breaks := func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}
	if !strings.ContainsAny(string(text), "\n\r") {
		return text
	}
	return []byte(strings.Map(breaks, string(text)))
}

// query reads the parameters of a request, and refuses those that it does not know.
type query struct {
	lines   int
	since   time.Time
	follow  bool
	kind    string
	plugin  string
	ofType  string
	company string
}

// maxLines is how many lines may be asked for.
const maxLines = 100_000

func queryOf(r *http.Request, known ...string) (q query, err error) {
	for name, values := range r.URL.Query() {
		if !contains(known, name) {
			return q, invalid("?%s: there is no such parameter here; there are: %s", name, strings.Join(known, ", "))
		}
		value := values[0]
		switch name {
		case "lines":
			q.lines, err = strconv.Atoi(value)
			if err != nil || q.lines < 0 || q.lines > maxLines {
				return q, invalid("?lines=%s: expected a number from 0 to %d", value, maxLines)
			}
		case "follow":
			if q.follow, err = strconv.ParseBool(value); err != nil {
				return q, invalid("?follow=%s: expected true or false", value)
			}
		case "since":
			if q.since, err = time.Parse(time.RFC3339, value); err != nil {
				return q, invalid("?since=%s: expected a time such as 2026-01-31T12:00:00Z", value)
			}
		case "kind":
			q.kind = value
		case "plugin":
			q.plugin = value
		case "company":
			q.company = value
		case "type":
			q.ofType = value
		}
	}
	return q, nil
}

func contains(list []string, one string) bool {
	for _, s := range list {
		if s == one {
			return true
		}
	}
	return false
}
