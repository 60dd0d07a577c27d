package paperclip

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestEnvelope_classifiesInTheOrderOfThePeers(t *testing.T) {
	for in, want := range map[string]protocol.Message{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`:                                           Request{ID: raw("1"), Method: "m", Params: raw("{}")},
		`{"jsonrpc":"2.0","id":0,"method":"m"}`:                                                       Request{ID: raw("0"), Method: "m"},
		`{"jsonrpc":"2.0","id":{"o":1},"method":""}`:                                                  Request{ID: raw(`{"o":1}`)},
		`{"jsonrpc":"2.0","id":false,"method":"m"}`:                                                   Request{ID: raw("false"), Method: "m"},
		`{"jsonrpc":"2.0","method":"m","params":null}`:                                                Notification{Method: "m", Params: raw("null")},
		`{"jsonrpc":"2.0","id":1,"result":null}`:                                                      Response{ID: raw("1"), Result: raw("null")},
		`{"jsonrpc":"2.0","id":1,"method":"m","result":2}`:                                            Response{ID: raw("1"), Result: raw("2")},
		`{"jsonrpc":"2.0","id":null,"error":null}`:                                                    Response{ID: raw("null"), Error: raw("null")},
		`{"jsonrpc":"2.0","id":"2","result":1,"error":{}}`:                                            Response{ID: raw(`"2"`), Result: raw("1"), Error: raw("{}")},
		`{"jsonrpc":"2.0","method":"m","result":1}`:                                                   Notification{Method: "m"},
		`{"jsonrpc":"2.0","id":null,"method":"m"}`:                                                    Unclassified{Text: `{"jsonrpc":"2.0","id":null,"method":"m"}`},
		`{"jsonrpc":"2.0","id":7}`:                                                                    Unclassified{Text: `{"jsonrpc":"2.0","id":7}`},
		`{"jsonrpc":"2.0","id":7,"method":8}`:                                                         Unclassified{Text: `{"jsonrpc":"2.0","id":7,"method":8}`},
		`{"jsonrpc":"2.0","method":7}`:                                                                Unclassified{Text: `{"jsonrpc":"2.0","method":7}`},
		`{"jsonrpc":"2.0","method":"m","paperclipInvocation":{"id":"x"},"paperclipInvocationId":"y"}`: Notification{Method: "m", Invocation: raw(`{"id":"x"}`), InvocationID: raw(`"y"`)},
	} {
		require.Equal(t, want, decode(t, []byte(in)), in)
	}
}

func TestEnvelope_saysWhyALineIsNoFrame(t *testing.T) {
	for in, why := range map[string]string{
		`garbage`:                        "Invalid JSON: garbage",
		`{"jsonrpc":"2.0","id":1`:        `Invalid JSON: {"jsonrpc":"2.0","id":1`,
		`{"jsonrpc":"2.1"} x`:            `Invalid JSON: {"jsonrpc":"2.1"} x`,
		`"str"`:                          "Message must be a JSON object",
		`null`:                           "Message must be a JSON object",
		`7`:                              "Message must be a JSON object",
		`[{"jsonrpc":"2.0"}]`:            `Invalid or missing jsonrpc version (expected "2.0", got undefined)`,
		`{"jsonrpc":"1.0","id":1}`:       `Invalid or missing jsonrpc version (expected "2.0", got "1.0")`,
		`{"jsonrpc":2.0}`:                `Invalid or missing jsonrpc version (expected "2.0", got 2.0)`,
		`{"JSONRPC":"2.0","method":"m"}`: `Invalid or missing jsonrpc version (expected "2.0", got undefined)`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`:      "Expected every key once, got twice: id",
		`{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"m"}`: "Expected every key once, got twice: id",
		`{"jsonrpc":"2.0","x":1,"y":2,"x":3,"method":"m"}`:  "Expected every key once, got twice: x",
		`{"jsonrpc":"2.0","method":"m"` + members(64) + `}`: "Expected at most 64 keys",
		strings.Repeat("é", 300):                            "Invalid JSON: " + strings.Repeat("é", 100),
	} {
		u, ok := decode(t, []byte(in)).(Unreadable)
		require.True(t, ok, in)
		require.Equal(t, why, u.Why)
		require.Empty(t, u.Fault, in+" may be a plugin's print, or is cut")
		require.Equal(t, in, u.Text)
	}
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"k` + strings.Repeat("x", i) + `":0`)
	}
	return b.String()
}

func TestEnvelope_keysAreExact(t *testing.T) {
	m := decode(t, []byte(`{"jsonrpc":"2.0","ID":1,"Method":"x","method":"m","Params":[],"__proto__":{"id":5},"k":1}`))
	require.Equal(t, Notification{Method: "m"}, m)
	m = decode(t, []byte(`{"jsonrpc":"2.0","\u0069d":1,"meth\u006fd":"\u006d"}`))
	require.Equal(t, Request{ID: raw("1"), Method: "m"}, m)
}
