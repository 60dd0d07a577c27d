package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/airi-host/airi-host/peers/load"
)

// wire is how a worker is called, as far as a bare loop has to know.
type wire interface {
	// greet begins a worker's life.
	greet(p *pipes, worker int) error
	// method and params are those by which a capability is called, "" for one that is not.
	method(key string) string
	params(key string, input []byte) []byte
	// request appends a call's line.
	request(dst []byte, id int, method string, params []byte) []byte
	// answer finds the id and the result in a line, of which it is known where its parts
	// are; what is no answer is skipped.
	answer(line []byte) (id int, result []byte, skip bool, err error)
}

// jsonRPC is Paperclip's.
type jsonRPC struct{}

func (jsonRPC) greet(p *pipes, worker int) error {
	params := fmt.Sprintf(`{"manifest":{"id":"echo-%d","apiVersion":1,"tools":[]},"config":{},`+
		`"instanceInfo":{"instanceId":"bare","hostVersion":"0"},"apiVersion":1,"databaseNamespace":null}`, worker)
	if _, err := p.exchange(p.next("initialize", []byte(params))); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	return nil
}

func (jsonRPC) method(key string) string { return map[string]string{"data:echo": "getData"}[key] }

func (jsonRPC) params(_ string, input []byte) []byte {
	return fmt.Appendf(nil, `{"key":"echo","params":%s}`, input)
}

func (jsonRPC) request(dst []byte, id int, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, int64(id), 10)
	dst = append(dst, `,"method":"`...)
	dst = append(append(dst, method...), `","params":`...)
	return append(append(dst, params...), '}', '\n')
}

func (jsonRPC) answer(line []byte) (id int, result []byte, skip bool, err error) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok {
		return 0, nil, true, nil // a notification
	}
	id, result, err = answerIn(line, rest, `"result":`)
	return id, result, false, err
}

// answerIn reads what stands behind a frame's beginning: an id, and a result.
func answerIn(line, rest []byte, mark string) (id int, result []byte, err error) {
	digits, rest, _ := bytes.Cut(rest, []byte(`,`))
	result, ok := bytes.CutPrefix(rest, []byte(mark))
	if id, err = strconv.Atoi(string(digits)); err != nil || !ok {
		return 0, nil, fmt.Errorf("expected an answer with a result, found %.200q", line)
	}
	return id, bytes.TrimSuffix(result, []byte("}\n")), nil
}

// remoteWire is that of elizaOS's remote plugins.
type remoteWire struct{}

// greet waits for the worker; it takes a call before it is ready, and answers when it is.
func (remoteWire) greet(p *pipes, _ int) error {
	if _, err := p.exchange(p.next(remoteWire{}.method("model:ECHO"), []byte(`{"params":null}`))); err != nil {
		return fmt.Errorf("the first call: %w", err)
	}
	return nil
}

// method is the surface, and the id that remote/worker.mjs gives the handler.
func (remoteWire) method(key string) string {
	n, ok := map[string]int{"action:ECHO": 1, "model:ECHO": 2, "model:SEEN": 3}[key]
	if !ok {
		return ""
	}
	surface, _, _ := strings.Cut(key, ":")
	return fmt.Sprintf(`"surface":"%s","target":"%s:%d"`, surface, key, n)
}

func (remoteWire) params(key string, input []byte) []byte {
	if strings.HasPrefix(key, "action:") {
		return input
	}
	return fmt.Appendf(nil, `{"params":%s}`, input)
}

func (remoteWire) request(dst []byte, id int, method string, params []byte) []byte {
	dst = append(dst, `{"type":"worker-rpc","requestId":`...)
	dst = strconv.AppendInt(dst, int64(id), 10)
	dst = append(append(dst, ','), method...)
	dst = append(dst, `,"args":`...)
	if strings.HasPrefix(method, `"surface":"action"`) {
		dst = append(append(dst, params[:len(params)-1]...), `,"callbackId":"action-callback:`...)
		return append(strconv.AppendInt(dst, int64(id), 10), `"}}`+"\n"...)
	}
	return append(append(dst, params...), '}', '\n')
}

func (remoteWire) answer(line []byte) (id int, result []byte, skip bool, err error) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"worker-rpc-result","requestId":`))
	if !ok {
		return 0, nil, true, nil // an announcement
	}
	id, result, err = answerIn(line, rest, `"ok":true,"payload":`)
	return id, result, false, err
}

// turnOf is what an action is called with, so many characters of text among it.
func turnOf(size int) json.RawMessage {
	return json.RawMessage(`{"message":{"id":"0b6f2d4e-6f0e-4a52-9c0b-3f2f5a1f7d11","entityId":"3d0f8a57-54f3-4a8a-9d53-0a0c6a1f9b02",` +
		`"roomId":"5a1c7c1e-9b0f-4f0a-8d3d-7c2f0d5b1e03","content":{"text":"say it again","source":"bench"},"createdAt":1764480000000},` +
		`"state":{"values":{"agentName":"Eliza","round":7,"bold":false},"data":{},"text":"` + strings.Repeat("x", size) + `"},` +
		`"options":{"tone":"kind"},"responses":null}`)
}

// echoOf is how many bytes remote/worker.mjs answers that with.
func echoOf(size int) int {
	return len(`{"success":true,"text":"","values":{"agentName":"Eliza","round":7,"bold":false,"tone":"kind"},`+
		`"data":{"actionName":"ECHO","heard":"say it again"},"continueChain":false}`) + size
}

// frame is the length of a call's line, without its end, when five digits are its id.
func frame(l load.Load) int {
	w := remoteWire{}
	return len(w.request(nil, 10_000, w.method(l.Key), w.params(l.Key, l.Content()))) - 1
}

// modelCalls are calls of a model by frames of so many bytes.
func modelCalls(size, flight, calls int) load.Load {
	l := load.Load{Kind: load.Echo, Key: "model:ECHO", Flight: flight, Calls: calls}
	l.Size = size - frame(l)
	return l
}

// actionCalls are calls of an action by frames of so many bytes.
func actionCalls(size, flight, calls int) load.Load {
	l := load.Load{Kind: load.Echo, Key: "action:ECHO", Input: turnOf(0), Flight: flight, Calls: calls}
	text := size - frame(l)
	l.Input, l.Answer = turnOf(text), echoOf(text)
	return l
}

// named gives a load its name.
func named(name string, l load.Load) load.Load {
	l.Name = name
	return l
}
