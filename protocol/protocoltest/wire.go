package protocoltest

import (
	"strings"
	"testing"

	"github.com/airi-host/airi-host/protocol"
)

// Wire joins a host's end and a worker's end by the lines that they write.
type Wire struct {
	T            *testing.T
	Codec        protocol.Codec
	Host, Worker protocol.Driver
	// Line is an effect that is no frame as a line, of either end; "" for one that is not
	// told.
	Line func(protocol.Effect) string

	told []string
}

// At gives one end an input, and the other all that comes of it.
func (w *Wire) At(end protocol.Driver, in protocol.Input) {
	w.T.Helper()
	other := w.Worker
	if end == w.Worker {
		other = w.Host
	}
	for _, e := range end.Step(Now, in, nil) {
		if s, ok := e.(protocol.Send); ok {
			record := Encode(w.T, w.Codec, s.Message)
			if strings.ContainsAny(record, "\r\n") {
				w.T.Fatalf("expected one line, got %q", record)
			}
			w.At(other, protocol.Received{Message: Decode(w.T, w.Codec, []byte(record))})
			continue
		}
		if line := w.Line(e); line != "" {
			w.told = append(w.told, line)
		}
	}
}

// Says takes what was told since the last time.
func (w *Wire) Says() []string {
	told := w.told
	w.told = nil
	return told
}
