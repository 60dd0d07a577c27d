package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// echoWorker is a Paperclip worker as small as one can be written in Go: it answers
// initialize, getData with its params, and shutdown.
func echoWorker(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 256<<10)
	answers := bufio.NewWriterSize(out, 256<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return endOf(err)
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		fmt.Fprintf(answers, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", r.ID, r.answer())
		if lines.Buffered() > 0 && r.Method != "shutdown" {
			continue // more is there: the answers go together
		}
		if err := answers.Flush(); err != nil || r.Method == "shutdown" {
			return err
		}
	}
}

func endOf(err error) error {
	if err == io.EOF { //nolint:errorlint // the reader's own
		return nil
	}
	return err
}

// request is what a host sends.
type request struct {
	ID     json.RawMessage
	Method string
	Params struct{ Params json.RawMessage }
}

func (r request) answer() []byte {
	switch {
	case r.Method == "initialize":
		return []byte(`{"ok":true,"supportedMethods":["health","shutdown"]}`)
	case r.Method == "health":
		return []byte(`{"status":"ok"}`)
	case r.Params.Params != nil:
		return r.Params.Params
	}
	return []byte("null")
}
