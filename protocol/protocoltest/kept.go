package protocoltest

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/airi-host/airi-host/protocol"
)

// Kept is how many bytes are in use for a part of a message, on average, while somebody
// keeps nothing else of it.
func Kept(tb testing.TB, c protocol.Codec, record []byte, part func(protocol.Message) json.RawMessage) int64 {
	tb.Helper()
	all := make([]json.RawMessage, 64)
	held := Held(func() any {
		for i := range all {
			all[i] = part(Decode(tb, c, record))
		}
		return all
	})
	runtime.KeepAlive(record)
	return held / int64(len(all))
}

// Held is how many bytes more are in use once f has returned, while what it returned is kept.
func Held(f func() any) int64 {
	before := heap()
	held := f()
	after := heap()
	runtime.KeepAlive(held)
	return after - before
}

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
