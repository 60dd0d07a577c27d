package protocol

import (
	"encoding/json"
	"strconv"
	"strings"
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

// BenchmarkEachMember is an object with a long text of many lines.
func BenchmarkEachMember(b *testing.B) {
	for _, n := range []int{16 << 10, 256 << 10} {
		data := append(AppendText([]byte(`{"text":`), strings.Repeat("0123456789\n", n/11)), '}')
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				EachMember(data, func(_, _ []byte) {})
			}
		})
	}
}
