package protocol

import (
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

// ReadLogChunk reads an item that a driver has passed on. Where its text has no escapes,
// that is a part of the item.
func ReadLogChunk(item json.RawMessage) (c LogChunk, err error) {
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
	if text := chunk[1 : len(chunk)-1]; slashAt(text, 0) == len(text) {
		c.Text = text[:len(text):len(text)]
	} else {
		c.Text = DecodeText(make([]byte, 0, len(text)), chunk)
	}
	return c, nil
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
