package paperclip

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/airi-host/airi-host/protocol"
)

// Payloads of the sizes that the calls of workers have, as text and as a structure.
func benchFrames() map[string][]byte {
	frames := map[string][]byte{}
	for _, n := range []int{100, 64 << 10} {
		frames[fmt.Sprintf("text-%d", n)] = []byte(`{"jsonrpc":"2.0","id":123,"result":"` + strings.Repeat("x", n) + `"}`)
		items := strings.Repeat(`{"id":"0123456789","n":12.5,"ok":true,"tags":["a","b"]},`, n/56+1)
		frames[fmt.Sprintf("items-%d", n)] = []byte(`{"jsonrpc":"2.0","id":123,"result":[` + strings.TrimSuffix(items, ",") + `]}`)
	}
	return frames
}

func BenchmarkCodec_decode(b *testing.B) {
	for name, frame := range benchFrames() {
		b.Run(name+"/scanner", func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (codec{}).Decode(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				var e struct {
					JSONRPC           string
					ID, Result, Error json.RawMessage
				}
				if err := json.Unmarshal(frame, &e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCodec_encode(b *testing.B) {
	for name, frame := range benchFrames() {
		messages, err := codec{}.Decode(frame)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				if dst, err = (codec{}).Encode(dst[:0], messages[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDriver_call is a call from its key to its result, without the wire.
func BenchmarkDriver_call(b *testing.B) {
	d := Dialect{}.NewDriver(protocol.Settings{Plugin: "lab"})
	out := make([]protocol.Effect, 0, 4)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		out = d.Step(now, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "data:echo", Input: raw(`{"a":1}`)}}, out[:0])
		out = d.Step(now, protocol.Received{Message: Response{ID: number(n), Result: raw(`{"a":1}`)}}, out)
	}
	if len(out) != 2 {
		b.Fatal("a call has a frame and an end")
	}
}
