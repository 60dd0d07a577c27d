package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// fan lets the worker call a method, and answers its calls until it has the result:
// with the answer, or with what came if that is "".
func (p *pipes) fan(input []byte, method, answer string) (json.RawMessage, error) {
	mark := []byte(`"method":"` + method + `","params":`)
	line, id := p.next("performAction", input)
	if _, err := p.stdin.Write(line); err != nil {
		return nil, err
	}
	var answers []byte
	for {
		line, err := p.lines.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("the worker's line: %w", err)
		}
		asked, params, ok := splitRequest(line, mark)
		if !ok {
			return resultIn(line, id)
		}
		if answer != "" {
			params = []byte(answer)
		}
		answers = appendAnswer(answers, asked, params)
		if p.lines.Buffered() > 0 {
			continue // all that has arrived is answered in one write
		}
		if _, err := p.stdin.Write(answers); err != nil {
			return nil, err
		}
		answers = answers[:0]
	}
}

// splitRequest finds the id and the parameters of a worker's call, of which it is known
// where they are.
func splitRequest(line, mark []byte) (id, params []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`))
	id, rest, found := bytes.Cut(rest, []byte(`,`))
	params, is := bytes.CutPrefix(rest, mark)
	return id, bytes.TrimSuffix(params, []byte("}\n")), ok && found && is
}

// appendAnswer gives back what came.
func appendAnswer(dst, id, result []byte) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(append(dst, `,"result":`...), result...)
	return append(dst, '}', '\n')
}

// resultIn is the result of the call with that id.
func resultIn(line []byte, id int) (json.RawMessage, error) {
	var answer struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.ID != id || answer.Result == nil {
		return nil, fmt.Errorf("expected the answer to call %d, found %.200q", id, line)
	}
	return answer.Result, nil
}
