package paperclip

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func TestCodec_passesOverSpaceAndMarks(t *testing.T) {
	for _, blank := range []string{"", " ", "\t\r", "\ufeff", "\u00a0\v", "\r\n"} {
		messages, err := codec{}.Decode([]byte(blank))
		require.NoError(t, err)
		require.Empty(t, messages)
	}
	want := Notification{Method: "m"}
	for _, in := range []string{
		"\ufeff" + `{"jsonrpc":"2.0","method":"m"}`, `{"jsonrpc":"2.0","method":"m"}` + "\r", "  " + `{ "jsonrpc" : "2.0" , "method" : "m" }` + "\t\r\n",
		"{\r\"jsonrpc\":\"2.0\",\r\"method\":\"m\"}",
	} {
		require.Equal(t, want, decode(t, []byte(in)))
	}
}

func TestCodec_appendsWhatItReads(t *testing.T) {
	protocoltest.WantAppends(t, codec{}, `{"jsonrpc":"2.0","method":"log"}`)
}

func TestCodec_leavesPayloadsAlone(t *testing.T) {
	for _, p := range protocoltest.Payloads() {
		for _, in := range []string{
			`{"jsonrpc":"2.0","id":` + p + `,"method":"m","params":` + p + `,"paperclipInvocation":` + p + `,"paperclipInvocationId":` + p + `}`,
			`{"jsonrpc":"2.0","id":` + p + `,"result":` + p + `,"error":` + p + `}`,
		} {
			if p == "null" && strings.Contains(in, "method") {
				continue // no request
			}
			require.True(t, in == encode(t, decode(t, []byte(in))), "%.80s", in)
		}
	}
}

func TestCodec_readsBadUTF8LikeNode(t *testing.T) {
	m := decode(t, []byte("{\"jsonrpc\":\"2.0\",\"method\":\"m\xff\",\"params\":\"a\xc3\"}"))
	require.Equal(t, Notification{Method: "m\ufffd", Params: raw("\"a\ufffd\"")}, m)
	require.Equal(t, Unreadable{Why: "Invalid JSON: a\xff", Text: "a\ufffd"}, decode(t, []byte("a\xff")))
	require.Equal(t, "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":\"a\ufffd\"}",
		encode(t, Notification{Method: "m", Params: raw("\"a\xff\"")}))
}

func TestCodec_keepsNothingOfTheRecord(t *testing.T) {
	record := []byte(`{"jsonrpc":"2.0","id":12,"method":"m","params":{"a":"b"}}`)
	m := decode(t, record)
	for i := range record {
		record[i] = 'x'
	}
	r, ok := m.(Request)
	require.True(t, ok)
	require.Equal(t, `{"a":"b"}`, string(append(r.Params, "…"...)[:len(r.Params)]))
	require.Equal(t, "12", string(r.ID))
	require.Equal(t, "m", r.Method)
}

// What is kept of a frame is as long as its payloads, whatever else a peer has written: the
// limits on calls and chunks that wait count these alone.
func TestCodec_keepsNothingButPayloads(t *testing.T) {
	large := strings.Repeat(" ", 1<<20)
	for name, frame := range map[string]string{
		"another member":        `{"jsonrpc":"2.0","id":1,"method":"m","params":{},"x":"` + large + `"}`,
		"white space":           `{"jsonrpc":"2.0","method":"m",` + large + `"params":{}}`,
		"a blank invocation":    `{"jsonrpc":"2.0","id":1,"method":"m","params":{},"paperclipInvocationId":"` + large + `"}`,
		"the host's invocation": `{"jsonrpc":"2.0","id":1,"method":"m","params":{},"paperclipInvocation":"` + large + `"}`,
		"an answer to nobody":   `{"jsonrpc":"2.0","method":"m","params":{},"result":"` + large + `"}`,
		"an answer":             `{"jsonrpc":"2.0","id":1,"result":{},"x":"` + large + `"}`,
	} {
		for _, part := range []func(protocol.Message) json.RawMessage{idOf, payloadOf} {
			require.Less(t, protocoltest.Kept(t, codec{}, []byte(frame), part), int64(1<<16), name)
		}
		require.Equal(t, "{}", string(payloadOf(decode(t, []byte(frame)))), name)
	}
}

func idOf(m protocol.Message) json.RawMessage {
	switch m := m.(type) {
	case Request:
		return m.ID
	case Response:
		return m.ID
	}
	return nil
}

func payloadOf(m protocol.Message) json.RawMessage {
	switch m := m.(type) {
	case Request:
		return m.Params
	case Notification:
		return m.Params
	case Response:
		return m.Result
	}
	return nil
}

func TestCodec_writesOneLine(t *testing.T) {
	frame := encode(t, Request{ID: raw("1"), Method: "m", Params: raw("{\r\n \"a\" : \"b \\n\",\n\t\"c\": [1,\r2] }")})
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"b \n","c":[1,2]}}`, frame)
}

func TestCodec_refusesToWriteWhatIsNoFrame(t *testing.T) {
	for want, m := range map[string]protocol.Message{
		"expected a request, a notification or a response to write, got string":               "text",
		"a request of m: expected an id, got none":                                            Request{Method: "m", ID: raw("null")},
		"a response: expected an id, and a result or an error":                                Response{ID: raw("1")},
		"m: params: expected JSON, got: {":                                                    Notification{Method: "m", Params: raw("{")},
		"result: expected JSON, got: 1 2":                                                     Response{ID: raw("1"), Result: raw("1 2")},
		"expected a request, a notification or a response to write, got paperclip.Unreadable": Unreadable{},
	} {
		dst, err := codec{}.Encode([]byte("before"), m)
		require.EqualError(t, err, want)
		require.Equal(t, "before", string(dst))
	}
}

func TestCodec_appends(t *testing.T) {
	dst, err := codec{}.Encode([]byte("before "), Notification{Method: "m"})
	require.NoError(t, err)
	require.Equal(t, `before {"jsonrpc":"2.0","method":"m"}`, string(dst))
}

// Every frame that the peers wrote comes out as the same bytes, so compact and in
// the same order.
func TestCodec_writesLikeThePeers(t *testing.T) {
	for name, r := range replays {
		for _, lines := range conversations(t, name) {
			for _, l := range lines {
				messages, err := codec{}.Decode(l.Record())
				require.NoError(t, err)
				if len(messages) == 0 || !isFrame(messages[0]) {
					require.True(t, r.injected)
					continue
				}
				require.Equal(t, string(l.Record()), encode(t, messages[0]))
			}
		}
	}
}

func isFrame(m protocol.Message) bool {
	switch m.(type) {
	case Request, Notification, Response:
		return true
	}
	return false
}

func recorded(f *testing.F) {
	f.Helper()
	for name := range replays {
		for _, lines := range conversations(f, name) {
			for _, l := range lines {
				f.Add(l.Record())
			}
		}
	}
}

// FuzzCodec: decode never panics, and what decodes encodes to an equal value.
func FuzzCodec_decode(f *testing.F) {
	recorded(f)
	payloads := protocoltest.Payloads()
	for _, p := range payloads[:len(payloads)-2] {
		f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":` + p + `}`))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		messages, err := codec{}.Decode(bytes.Clone(record))
		require.NoError(t, err)
		require.LessOrEqual(t, len(messages), 1)
		if len(messages) == 0 || !isFrame(messages[0]) {
			return
		}
		frame := encode(t, messages[0])
		require.False(t, strings.ContainsAny(frame, "\n\r"))
		again := decode(t, []byte(frame))
		require.Equal(t, frame, encode(t, again))
		if !bytes.ContainsAny(record, "\n\r") {
			require.Equal(t, messages[0], again)
		}
	})
}
