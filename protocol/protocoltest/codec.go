package protocoltest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/airi-host/airi-host/protocol"
)

// Payloads pass through every codec in both directions as the bytes they are. The last two
// are large: no seeds for fuzzing.
func Payloads() []string {
	return []string{
		`9007199254740993`, `-0`, `1e400`, `0.10`, `"\ud800"`, `"\ud83d\ude00 😀"`, `{"__proto__":{"a":1}}`, `{"a":1,"a":2}`,
		`"\u2028\u2029` + "\u2028" + `"`, `"<&>"`, `null`, `"\/"`, `{ "spaced" : [ 1, 2 ] }`, `true`, `[]`,
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), `"` + strings.Repeat("x", 1<<20) + `"`,
	}
}

// Encode is the line for a message.
func Encode(tb testing.TB, c protocol.Codec, m protocol.Message) string {
	tb.Helper()
	record, err := c.Encode(nil, m)
	if err != nil {
		tb.Fatal(err)
	}
	return string(record)
}

// Decode is the one message of a line.
func Decode(tb testing.TB, c protocol.Codec, record []byte) protocol.Message {
	tb.Helper()
	messages, err := c.Decode(record)
	if err != nil || len(messages) != 1 {
		tb.Fatalf("expected one message, got %v: %v", messages, err)
	}
	return messages[0]
}

// WantAppends has a codec append to a list the message of a frame, that of a line which is
// none, and nothing for a blank one.
func WantAppends(tb testing.TB, c protocol.Appender, frame string) {
	tb.Helper()
	list := []protocol.Message{"before"}
	for _, read := range []struct {
		record string
		want   []protocol.Message
	}{
		{frame, []protocol.Message{"before", Decode(tb, c, []byte(frame))}},
		{"stray", []protocol.Message{"before", Decode(tb, c, []byte("stray"))}},
		{" ", []protocol.Message{"before"}},
	} {
		var err error
		if list, err = c.AppendDecode(list[:1], []byte(read.record)); err != nil || !reflect.DeepEqual(list, read.want) {
			tb.Fatalf("%q: expected %#v, got %#v: %v", read.record, read.want, list, err)
		}
	}
}
