package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// LogChunk is an item of a call that runs a command, as environment:DRIVER.execute does: a
// piece of what the command writes. Its Progress carries it as {"stream", "chunk"}.
type LogChunk struct {
	// Stream is "stdout" or "stderr".
	Stream string
	Text   []byte
}

// The streams of a LogChunk.
const (
	LogStdout = "stdout"
	LogStderr = "stderr"
)

// ReadLogChunk reads an item that a driver has passed on. Its text may be a part of the
// item.
func ReadLogChunk(item json.RawMessage) (c LogChunk, err error) {
	if c, ok := usualLogChunk(item); ok {
		return c, nil
	}
	var chunk []byte
	EachMember(item, func(key, value []byte) {
		switch string(key) {
		case "stream":
			c.Stream = logStream(value)
		case "chunk":
			chunk = value
		}
	})
	if c.Stream == "" || len(chunk) < 2 || chunk[0] != '"' {
		return LogChunk{}, fmt.Errorf(`expected {"stream": "stdout" or "stderr", "chunk": string}, got: %s`, Clip(string(item[:min(len(item), MaxExcerpt)])))
	}
	c.Text = DecodeText(make([]byte, 0, len(chunk)-2), chunk)
	return c, nil
}

// usualLogChunk reads an item as the SDKs write it, whose text has no escapes.
func usualLogChunk(item json.RawMessage) (c LogChunk, ok bool) {
	const head, middle, tail = `{"stream":"`, `","chunk":"`, `"}`
	for _, stream := range [...]string{LogStdout, LogStderr} {
		n := len(head) + len(stream) + len(middle)
		if len(item) <= n+len(tail) || string(item[:n]) != head+stream+middle || string(item[len(item)-len(tail):]) != tail {
			continue
		}
		text := item[n : len(item)-len(tail) : len(item)-len(tail)]
		if bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, '\\') < 0 {
			return LogChunk{Stream: stream, Text: text}, true
		}
	}
	return LogChunk{}, false
}

// logStream reads the name of a stream; "" for none of them.
func logStream(literal []byte) string {
	switch string(TextOf(literal)) {
	case LogStdout:
		return LogStdout
	case LogStderr:
		return LogStderr
	}
	return ""
}

// Item is the chunk as a Report and a Progress carry it.
func (c LogChunk) Item() json.RawMessage {
	item := append(make([]byte, 0, len(c.Text)+len(c.Text)/8+40), `{"stream":`...)
	item = append(AppendText(item, c.Stream), `,"chunk":`...)
	return append(AppendText(item, string(c.Text)), '}')
}
