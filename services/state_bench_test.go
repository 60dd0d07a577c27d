package services

import (
	"encoding/json"
	"testing"

	"github.com/airi-host/airi-host/protocol"
)

func BenchmarkStateGet(b *testing.B) {
	store := NewMemory(MemoryLimits{})
	s := Paperclip(nil, Options{Store: store})["state.get"]
	call := protocol.Call{Key: "state.get", Caller: "demo", Input: json.RawMessage(`{"scopeKind":"instance","stateKey":"bench"}`)}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Serve(b.Context(), call)
	}
}
