package eliza

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/airi-host/airi-host/protocol"
)

// What a call costs in the codec and the driver, there and back: a model's of 184 bytes,
// an action's of about 1 KiB, and that one signed.
func BenchmarkDriver_call(b *testing.B) {
	words := json.RawMessage(`{"params":{"text":"` + strings.Repeat("hello ", 140) + `"},"message":{"id":"m"},"state":{"b":1,"a":[1,2,3]}}`)
	for _, c := range []struct {
		name, key string
		input     json.RawMessage
		answer    string
		signed    bool
	}{
		{"model", "model:TEXT", json.RawMessage(`{"prompt":"` + strings.Repeat("x", 80) + `"}`), `"text"`, false},
		{"action", "action:GREET", words, `{"success":true,"text":"` + strings.Repeat("y", 800) + `"}`, false},
		{"signed", "action:GREET", words, `{"success":true,"text":"` + strings.Repeat("y", 800) + `"}`, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			var p Plugin
			if c.signed {
				p.Key = []byte("0123456789abcdef0123456789abcdef")
			}
			d := newDriver(Dialect{Plugin: func(protocol.Settings) Plugin { return p }}, protocol.Settings{Plugin: "lab"})
			receive := func(line []byte) {
				messages, _ := codec{}.Decode(line)
				d.Step(now, protocol.Received{Message: messages[0]}, nil)
			}
			receive([]byte(`{"type":"worker-announce-plugin","descriptor":` + strings.ReplaceAll(everything, "\n", "") + `}`))
			receive([]byte(`{"type":"init-complete"}`))
			var effects []protocol.Effect
			var frame []byte
			b.ReportAllocs()
			for b.Loop() {
				effects = d.Step(now, protocol.Invoke{ID: 1, Call: protocol.Call{Key: c.key, Input: c.input}}, effects[:0])
				sent, _ := effects[0].(protocol.Send)
				frame, _ = codec{}.Encode(frame[:0], sent.Message)
				answer := append([]byte(`{"type":"worker-rpc-result","requestId":`), number(d.last)...)
				messages, _ := codec{}.Decode(append(append(answer, `,"ok":true,"payload":`...), c.answer+`}`...))
				effects = d.Step(now, protocol.Received{Message: messages[0]}, effects[:0])
				if done, ok := effects[0].(protocol.Complete); !ok || done.Err != nil {
					b.Fatal(effects)
				}
			}
		})
	}
}
