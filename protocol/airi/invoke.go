package airi

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// The numbers that Eventa gives to the steps of an invoke (its InvokeEventType).
const (
	typeSend         = 0
	typeSendError    = 1
	typeSendEnd      = 2
	typeSendAbort    = 3
	typeReceive      = 4
	typeReceiveError = 5
)

// stepKind says which step of an invoke an event is.
type stepKind uint8

const (
	noStep stepKind = iota
	stepSend
	stepSendAbort
	stepSendEnd   // the end of a request stream
	stepSendError // a request stream that failed
	stepReceive
	stepReceiveError
	stepReceiveEnd // the end of a response stream
)

// suffixes are the ends of an event id by step. For the answers the caller's id
// follows them, so they are looked for in what stands before it; the longest of
// them come first.
var (
	sendSuffixes = []suffix{
		{"-send", stepSend},
		{"-send-abort", stepSendAbort},
		{"-send-stream-end", stepSendEnd},
		{"-send-error", stepSendError},
	}
	receiveSuffixes = []suffix{
		{"-receive-stream-end", stepReceiveEnd},
		{"-receive-error", stepReceiveError},
		{"-receive", stepReceive},
	}
)

type suffix struct {
	text string
	kind stepKind
}

// step is an event read as a step of an invoke.
type step struct {
	kind stepKind
	// tag is what is invoked.
	tag string
	// id is the caller's id as it came, and idText how it stands in event ids.
	id     json.RawMessage
	idText string
	// content is what the step carries; nil for none.
	content json.RawMessage
	// chunk tells that the content is one item of a request stream.
	chunk bool
	// result tells an answer that is the result from one item of a response stream,
	// which has the same name: Eventa numbers the first of them only.
	result bool
	// opens is Frame.Opens, within its Within.
	opens, within string
}

// readStep reads an event as a step of an invoke. An event that only looks like
// one by its name is an ordinary event: Eventa asks for an invokeId as well, and
// for an answer it asks that the event's id ends with it.
func readStep(f Frame) step {
	if !mayBeStep(f.ID) {
		return step{}
	}
	s := step{opens: f.Opens, within: f.Within, result: f.InvokeType != nil && *f.InvokeType == typeReceive}
	if len(f.Body) == 0 || readObject(f.Body, s.member) != nil || !truthy(s.id) {
		return step{}
	}
	s.apart(len(f.Body))
	s.idText = idText(s.id)
	if s.tag, s.kind = cutSuffix(f.ID, sendSuffixes); s.kind != noStep {
		return s
	}
	if head, ok := strings.CutSuffix(f.ID, "-"+s.idText); ok {
		s.tag, s.kind = cutSuffix(head, receiveSuffixes)
	}
	return s
}

// mostAround is how much may be around what a step carries, in bytes.
const mostAround = 4 << 10

// apart has a step's parts keep nothing of a long payload but themselves: what limits count
// is theirs.
func (s *step) apart(body int) {
	s.id = protocol.KeptID(s.id, body)
	if body-len(s.content) > mostAround {
		s.content = bytes.Clone(s.content)
	}
}

// mayBeStep spares ordinary events the look into their payload.
func mayBeStep(id string) bool {
	return strings.Contains(id, "-send") || strings.Contains(id, "-receive-")
}

func (s *step) member(key string, value []byte) error {
	switch key {
	case "invokeId":
		s.id = value
	case "content":
		s.content = value
	case "isReqStream":
		s.chunk = truthy(value)
	}
	return nil
}

func cutSuffix(id string, suffixes []suffix) (tag string, kind stepKind) {
	for _, s := range suffixes {
		if tag, ok := strings.CutSuffix(id, s.text); ok && tag != "" {
			return tag, s.kind
		}
	}
	return "", noStep
}

// truthy is JavaScript's idea of a value that counts.
func truthy(value []byte) bool {
	switch string(value) {
	case "", "null", "false", `""`, "0", "-0":
		return false
	}
	return true
}

// idText is how a caller's id stands in an event id: JavaScript's text of it.
func idText(id json.RawMessage) string {
	if s, ok := text(id); ok {
		return s
	}
	return string(id)
}

// invokeBody is the payload of a step: the caller's id, raw, and what it
// carries. Eventa leaves an undefined content out.
func invokeBody(id, content json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.Grow(len(id) + len(content) + len(`{"invokeId":,"content":}`))
	b.WriteString(`{"invokeId":`)
	b.Write(id)
	if len(content) > 0 {
		b.WriteString(`,"content":`)
		b.Write(content)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func sendFrame(tag string, id, content json.RawMessage) Frame {
	return Frame{ID: tag + "-send", InvokeType: number(typeSend), Body: invokeBody(id, content)}
}

func abortFrame(tag string, id, reason json.RawMessage) Frame {
	return Frame{ID: tag + "-send-abort", InvokeType: number(typeSendAbort), Body: invokeBody(id, reason)}
}

// itemFrame is one item of a request stream.
func itemFrame(tag string, id, item json.RawMessage) Frame {
	body := invokeBody(id, itemOf(item))
	return Frame{ID: tag + "-send", InvokeType: number(typeSend), Body: append(body[:len(body)-1], `,"isReqStream":true}`...)}
}

// endFrame ends a request stream.
func endFrame(tag string, id json.RawMessage) Frame {
	return Frame{ID: tag + "-send-stream-end", InvokeType: number(typeSendEnd), Body: invokeBody(id, nil)}
}

// failedFrame ends a request stream that has failed.
func failedFrame(tag string, id json.RawMessage, err error) Frame {
	return Frame{ID: tag + "-send-error", InvokeType: number(typeSendError), Body: invokeBody(id, errorValue(err))}
}

// answerItemFrame is one item of a response stream. Eventa does not number it.
func answerItemFrame(tag string, id, item json.RawMessage) Frame {
	return Frame{ID: tag + "-receive-" + idText(id), Body: invokeBody(id, itemOf(item))}
}

// answerEndFrame ends a response stream.
func answerEndFrame(tag string, id json.RawMessage) Frame {
	return Frame{ID: tag + "-receive-stream-end-" + idText(id), Body: invokeBody(id, nil)}
}

func resultFrame(tag string, id, result json.RawMessage) Frame {
	return Frame{
		ID:         tag + "-receive-" + idText(id),
		InvokeType: number(typeReceive),
		Body:       invokeBody(id, result),
	}
}

func errorFrame(tag string, id json.RawMessage, err error) Frame {
	content := append([]byte(`{"error":`), errorValue(err)...)
	return Frame{
		ID:         tag + "-receive-error-" + idText(id),
		InvokeType: number(typeReceiveError),
		Body:       invokeBody(id, append(content, '}')),
	}
}

func number(n int) *int { return &n }

// null is an item of a stream that carries none: JavaScript's undefined.
var null = json.RawMessage("null")

// itemOf is an item as it crosses a session's boundary.
func itemOf(item json.RawMessage) json.RawMessage {
	if len(item) == 0 {
		return null
	}
	return item
}
