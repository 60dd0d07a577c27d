package protocol

import (
	"encoding/json"
	"testing"
)

// What a call of a tool pays for its shape.
func BenchmarkShape_tool(b *testing.B) {
	input, result := json.RawMessage(`{"name":"Ada"}`), json.RawMessage(`{"content":"Hello, Ada"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := InputOf("tool", "tool:greet", input); err != nil {
			b.Fatal(err)
		}
		if _, err := ResultOf("tool", "tool:greet", "p", result); err != nil {
			b.Fatal(err)
		}
	}
}
