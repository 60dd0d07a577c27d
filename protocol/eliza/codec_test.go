package eliza

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func encode(tb testing.TB, m protocol.Message) string {
	tb.Helper()
	return protocoltest.Encode(tb, codec{}, m)
}

func decode(tb testing.TB, record []byte) protocol.Message {
	tb.Helper()
	return protocoltest.Decode(tb, codec{}, record)
}

func TestCodec_appendsWhatItReads(t *testing.T) {
	protocoltest.WantAppends(t, codec{}, `{"type":"init-complete"}`)
}

func TestCodec_leavesPayloadsAlone(t *testing.T) {
	for _, p := range protocoltest.Payloads() {
		for _, in := range []string{
			`{"type":"worker-announce-plugin","descriptor":` + p + `}`,
			`{"type":"worker-announce-dynamic","descriptor":` + p + `}`,
			`{"type":"init","manifest":` + p + `,"context":` + p + `}`,
			`{"type":"worker-rpc","requestId":` + p + `,"surface":` + p + `,"target":` + p + `,"args":` + p + `,"streamReply":true,"mac":` + p + `}`,
			`{"type":"worker-rpc-result","requestId":` + p + `,"ok":` + p + `,"payload":` + p + `,"error":` + p + `,"streamId":` + p + `}`,
			`{"type":"host-rpc","requestId":` + p + `,"api":"runtime","method":` + p + `,"args":` + p + `}`,
			`{"type":"host-rpc-result","requestId":` + p + `,"ok":true}`,
			`{"type":"worker-action-callback","callbackId":` + p + `,"payload":` + p + `}`,
			`{"type":"event","name":` + p + `,"payload":` + p + `}`,
			`{"type":"stream-chunk","streamId":` + p + `,"chunk":` + p + `}`,
			`{"type":"stream-end","streamId":` + p + `,"value":` + p + `,"error":` + p + `}`,
		} {
			require.True(t, in == encode(t, decode(t, []byte(in))), "%.120s", in)
		}
	}
}

func TestCodec_passesOverSpaceAndMarks(t *testing.T) {
	for _, blank := range []string{"", " ", "\t\r", "\ufeff", "\u00a0\v", "\r\n"} {
		messages, err := codec{}.Decode([]byte(blank))
		require.NoError(t, err)
		require.Empty(t, messages)
	}
	for _, in := range []string{
		"\ufeff" + `{"type":"init-complete"}`, `{"type":"init-complete"}` + "\r", "  { \"type\" : \"init-complete\" } \t", `{"\u0074ype":"init\u002dcomplete"}`,
		`{"type":"init-complete","more":{"a":[1]}}`,
	} {
		require.Equal(t, InitComplete{}, decode(t, []byte(in)), in)
	}
}

func TestCodec_readsBadUTF8AsItsPeersDo(t *testing.T) {
	m := decode(t, []byte("{\"type\":\"event\",\"name\":\"a\xff\"}"))
	require.Equal(t, Event{Name: raw("\"a\ufffd\"")}, m)
	require.Equal(t, "{\"type\":\"event\",\"name\":\"a\ufffd\"}", encode(t, Event{Name: raw("\"a\xff\"")}))
}

func TestCodec_tellsStrayTextFromMistakes(t *testing.T) {
	const frame = `{"type":"worker-rpc-result","requestId":50,"ok":true}`
	for in, fault := range map[string]string{
		"hello from the plugin":           "",
		`{"level":30,"msg":"a log"}`:      "",
		`[1,2]`:                           "",
		`{"type":5}`:                      "",
		`{"type":"event","type":"event"}`: "",
		`{"a":1}{"b":2}`:                  "",
		"\xff\xfe":                        "",
		`{"type":"worker-rpc-result","requestId":5`: "",
		"Content-Length: 12":                        "a Content-Length header",
		"content-length:12":                         "a Content-Length header",
		frame + frame:                               "more behind a frame",
		frame + ` {"a":1}`:                          "more behind a frame",
		"no newline here " + frame:                  "text in front of a frame",
		"a {brace} " + frame:                        "text in front of a frame",
	} {
		u, ok := decode(t, []byte(in)).(Unreadable)
		require.True(t, ok, in)
		require.NotEmpty(t, u.Why)
		if fault == "" {
			require.Empty(t, u.Fault, in)
		} else {
			require.Contains(t, u.Fault, fault, in)
		}
	}
	long, ok := decode(t, []byte(strings.Repeat("x", 9000))).(Unreadable)
	require.True(t, ok)
	require.Len(t, long.Text, protocol.MaxStray)
	many := `{"type":"event"` + strings.Repeat(`,"x":1`, 3)
	require.IsType(t, Unreadable{}, decode(t, []byte(many+"}")), "a member twice")
	members := `{"type":"event"`
	for i := range 80 {
		members += `,"m` + strings.Repeat("x", i) + `":1`
	}
	require.IsType(t, Unreadable{}, decode(t, []byte(members+"}")), "more members than anybody writes")
}

func TestCodec_knowsOtherTypes(t *testing.T) {
	require.Equal(t, Other{Type: "ready", Text: `{"type":"ready"}`}, decode(t, []byte(`{"type":"ready"}`)))
}

func TestCodec_keepsNothingOfTheRecord(t *testing.T) {
	record := []byte(`{"type":"event","name":"a","payload":{"b":"c"}}`)
	m := decode(t, record)
	for i := range record {
		record[i] = 'x'
	}
	require.Equal(t, Event{Name: raw(`"a"`), Payload: raw(`{"b":"c"}`)}, m)
}

func TestCodec_refusesToWriteWhatIsNoJSON(t *testing.T) {
	for _, m := range []protocol.Message{Event{Name: raw(`{`)}, RPC{Args: raw(`1 2`)}, Unreadable{}, "text", nil} {
		dst, err := codec{}.Encode([]byte("> "), m)
		require.Error(t, err)
		require.Equal(t, "> ", string(dst))
	}
	require.Equal(t, `{"type":"event","name":["a",1]}`, encode(t, Event{Name: raw("[\"a\",\n1]")}))
}

// FuzzCodec finds that decoding never panics, and that what decodes encodes to what
// decodes to the same.
func FuzzCodec(f *testing.F) {
	files, err := filepath.Glob("testdata/transcripts/*.ndjson")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		for one := range strings.Lines(string(data)) {
			var l protocoltest.Line
			require.NoError(f, json.Unmarshal([]byte(one), &l))
			f.Add(l.Record())
		}
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		messages, err := codec{}.Decode(record)
		require.NoError(t, err)
		for _, m := range messages {
			switch m.(type) {
			case Unreadable, Other:
				continue
			}
			frame, err := codec{}.Encode(nil, m)
			require.NoError(t, err)
			require.NotContains(t, string(frame), "\n")
			require.Equal(t, encode(t, m), encode(t, decode(t, frame)))
		}
	})
}
