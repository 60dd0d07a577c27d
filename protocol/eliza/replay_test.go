package eliza

import "encoding/json"

// line is one line of a recorded conversation.
type line struct {
	Dir   string          `json:"dir"`
	Frame json.RawMessage `json:"frame"`
	Raw   *string         `json:"raw"`
}

func (l line) fromHost() bool { return l.Dir == "host->worker" }

// record is the line as it stood on the wire.
func (l line) record() []byte {
	if l.Raw != nil {
		return []byte(*l.Raw)
	}
	return l.Frame
}
