package paperclip

import (
	"encoding/base64"
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

// BenchmarkLog_chunk is a chunk of 16 KiB of a command's log from its line to its text.
func BenchmarkLog_chunk(b *testing.B) {
	d := Dialect{NewID: func() string { return "0f0e0d0c-1234-4321-8888-0123456789ab" }, Plugin: func(protocol.Settings) Plugin {
		return Plugin{Limits: Limits{Log: LogLimits{Total: 1 << 60}}}
	}}.NewDriver(protocol.Settings{Plugin: "lab"})
	d.Step(now, protocol.Invoke{ID: 1, Follows: true, Call: protocol.Call{Key: "environment:d.execute", Scope: "c", Input: raw(`{}`)}}, nil)
	text := strings.Repeat(strings.Repeat("x", 79)+"\n", 16<<10/80)
	line := []byte(`{"jsonrpc":"2.0","method":"execute.log","params":` + string(protocol.LogChunk{Stream: protocol.LogStdout, Text: []byte(text)}.Item()) +
		`,"paperclipInvocationId":"0f0e0d0c-1234-4321-8888-0123456789ab"}`)
	for _, reads := range []bool{false, true} {
		b.Run(map[bool]string{false: "passed", true: "read"}[reads], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var out []protocol.Effect
			for b.Loop() {
				messages, err := codec{}.Decode(line)
				if err != nil {
					b.Fatal(err)
				}
				out = d.Step(now, protocol.Received{Message: messages[0]}, out[:0])
				p, ok := out[0].(protocol.Progress)
				if !ok {
					b.Fatal(out)
				}
				if !reads {
					continue
				}
				if c, err := protocol.ReadLogChunk(p.Item); err != nil || len(c.Text) != len(text) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDuplex_echo is a chunk of 64 KiB that comes on a channel and goes back, line to
// line.
func BenchmarkDuplex_echo(b *testing.B) {
	d := newDriver(Dialect{Plugin: func(protocol.Settings) Plugin {
		return Plugin{Company: "c", Limits: Limits{Duplex: RouteLimits{Total: 1 << 60}}}
	}}, protocol.Settings{Plugin: "lab"})
	d.Step(now, protocol.OpenRoute{ID: 1, Route: protocol.Route{Kind: protocol.RouteDuplex, Params: raw(shell)}}, nil)
	d.Step(now, protocol.Received{Message: Response{ID: raw("1"), Result: raw(`{"hostRouteId":"duplex-route-1","workerSessionId":"s"}`)}}, nil)
	d.Step(now, protocol.ReadRoute{ID: 1}, nil)
	data := make([]byte, 64<<10)
	for i := range data {
		data[i] = byte(i * 7)
	}
	line := []byte(`{"jsonrpc":"2.0","method":"duplexChannel.data","params":{"hostRouteId":"duplex-route-1","workerSessionId":"s","chunk":"` +
		base64.StdEncoding.EncodeToString(data) + `"}}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var out []protocol.Effect
	var frame []byte
	for b.Loop() {
		messages, err := codec{}.Decode(line)
		if err != nil {
			b.Fatal(err)
		}
		out = d.Step(now, protocol.Received{Message: messages[0]}, out[:0])
		chunk, ok := out[0].(protocol.Chunk)
		if !ok {
			b.Fatal(out)
		}
		out = d.Step(now, protocol.WriteRoute{ID: 1, Data: chunk.Data}, out[:0])
		sent, ok := out[0].(protocol.Send)
		if !ok {
			b.Fatal(out)
		}
		if frame, err = (codec{}).Encode(frame[:0], sent.Message); err != nil {
			b.Fatal(err)
		}
		out = d.Step(now, protocol.Received{Message: Response{ID: number(int(d.last)), Result: raw("null")}}, out[:0])
	}
}
