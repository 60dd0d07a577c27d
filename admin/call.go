package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// CallRequest is the body of a call. Its members are those of protocol.Call.
type CallRequest struct {
	// Key names the capability, e.g. "tool:greet".
	Key string `json:"key"`
	// Input is what goes in, by the capability's kind; absent for none.
	Input json.RawMessage `json:"input,omitempty"`
	// Plugin and Instance pick the owner; "" leaves the choice to the host.
	Plugin   string `json:"plugin,omitempty"`
	Instance string `json:"instance,omitempty"`
	// Scope is the tenant; "" is the configured default.
	Scope string `json:"scope,omitempty"`
	// Timeout is the call's deadline from now on, as "5s"; 0 or less stands for the
	// default.
	Timeout Duration `json:"timeout,omitzero"`
	// Idle bounds the time without progress; 0 stands for what the plugin's manifest or
	// the host says, less for no such limit.
	Idle Duration `json:"idle,omitzero"`
	// Wait lets the call wait for an owner that will be restarted.
	Wait bool `json:"wait,omitempty"`
	// Trace is a W3C traceparent value.
	Trace string `json:"trace,omitempty"`
	// Follow asks for what comes before the result, too: the answer is lines then.
	Follow bool `json:"follow,omitempty"`
	// Verbose has a failure tell the plugin's stack as well, where the wire has it.
	Verbose bool `json:"verbose,omitempty"`
}

// Duration is a time.Duration that is written as "1m30s" in JSON.
type Duration time.Duration

// MarshalText writes it as time.Duration.String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("expected a time such as \"5s\": %w", err)
	}
	*d = Duration(parsed)
	return nil
}

// call is the request as the host takes it.
func (c CallRequest) call(now time.Time) protocol.Call {
	one := protocol.Call{
		Key: c.Key, Input: c.Input, Plugin: c.Plugin, Instance: c.Instance, Scope: c.Scope,
		Idle: time.Duration(c.Idle), Wait: c.Wait, Trace: c.Trace,
	}
	if c.Timeout > 0 {
		one.Deadline = now.Add(time.Duration(c.Timeout))
	}
	return one
}

// told is an error of the call with as much as the caller asked for.
func (c CallRequest) told(err error) error {
	if c.Verbose {
		return &verboseError{err}
	}
	return err
}

func (s *Server) postCall(w http.ResponseWriter, r *http.Request) error {
	now := time.Now()
	var asked CallRequest
	if err := s.read(w, r, &asked); err != nil {
		return err
	}
	if asked.Follow {
		return s.followedCall(w, r, asked.call(now), asked.told)
	}
	result, err := s.host.Invoke(r.Context(), asked.call(now))
	if err != nil {
		return asked.told(err)
	}
	if result == nil {
		result = json.RawMessage("null")
	}
	return answerRaw(w, http.StatusOK, "application/json", append(lineOf(result), '\n'))
}

// read decodes the body of a request. That it is declared as JSON is what no web page's
// form can do.
func (s *Server) read(w http.ResponseWriter, r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return invalid("Content-Type: expected application/json")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.limits.Body))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return invalid("the body is larger than %d bytes, the limit", s.limits.Body)
	}
	if err != nil {
		return invalid("reading the body: %v", err)
	}
	unbounded(w, r)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return invalid("the body: %v", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return invalid("the body: expected one JSON object, found more behind it")
	}
	return nil
}

// followedCall makes a call and writes what comes of it, a line each. Its error before
// the first line is an answer of its own.
func (s *Server) followedCall(w http.ResponseWriter, r *http.Request, c protocol.Call, told func(error) error) error {
	out := &lines{w: w}
	c.Progress = func(item json.RawMessage) error { return out.write(`{"event":"progress","item":`, item) }
	c.Missed = new(atomic.Uint64)
	result, err := s.host.Invoke(r.Context(), c)
	_ = out.gap(c.Missed.Load()) // as what follows tells
	switch {
	case err != nil && !out.begun:
		return told(err)
	case err != nil:
		text, _ := json.Marshal(failureOf(told(err))) // of strings and valid JSON
		_ = out.write(`{"event":"error",`, text[1:len(text)-1])
		return nil
	case result == nil:
		result = json.RawMessage("null")
	}
	return out.write(`{"event":"result","result":`, result)
}

// gap sends how many items were missed, if any were.
func (l *lines) gap(missed uint64) error {
	if missed == 0 {
		return nil
	}
	return l.write(`{"event":"gap","missed":`, strconv.AppendUint(nil, missed, 10))
}

// lines is an answer of JSON objects, one a line, each of which is sent at once.
type lines struct {
	w     http.ResponseWriter
	begun bool
}

// write sends an object: its beginning, a value, and the brace behind it.
func (l *lines) write(head string, value []byte) error {
	if !l.begun {
		l.begun = true
		beginLines(l.w)
	}
	soon(l.w)
	line := append(append(append(make([]byte, 0, len(head)+len(value)+2), head...), lineOf(value)...), "}\n"...)
	if _, err := l.w.Write(line); err != nil {
		return err
	}
	return http.NewResponseController(l.w).Flush()
}
