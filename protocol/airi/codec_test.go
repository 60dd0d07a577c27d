package airi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestCodec_readsBothOuterForms(t *testing.T) {
	for name, row := range map[string]struct {
		record string
		want   Frame
	}{
		"least of the older": {
			`{"type":"greet-send","payload":{"body":{"invokeId":"a"}}}`,
			Frame{ID: "greet-send", Body: json.RawMessage(`{"invokeId":"a"}`)},
		},
		"older in full": {
			`{"id":"d","type":"e","payload":{"id":"e","type":"event","_flowDirection":"outbound","invokeType":0,"body":1},"timestamp":5}`,
			Frame{ID: "e", Delivery: "d", InvokeType: number(0), Body: json.RawMessage("1")},
		},
		"least of the newer": {
			`{"deliveryId":"d","hopsRemaining":0,"eventa":{"id":"e"}}`,
			Frame{ID: "e", Delivery: "d"},
		},
		"newer in full": {
			`{"deliveryId":"d","hopsRemaining":31,"eventa":{"id":"e","type":"event","invokeType":4,"metadata":{},"body":null,"_flowDirection":"outbound"}}`,
			Frame{ID: "e", Delivery: "d", InvokeType: number(4), Body: json.RawMessage("null")},
		},
		"the body as it is": {
			"\ufeff {\"type\":\"e\",\"payload\":{\"body\": { \"b\" : 1.0,\"a\":\"\u2028\\u0041\", \"b\":2 } }}\r",
			Frame{ID: "e", Body: json.RawMessage("{ \"b\" : 1.0,\"a\":\"\u2028\\u0041\", \"b\":2 }")},
		},
		"an id with a slash":                    {`{"type":"a/b","payload":{}}`, Frame{ID: "a/b"}},
		"an invokeType that is no number":       {`{"type":"e","payload":{"invokeType":"x"}}`, Frame{ID: "e"}},
		"keys that differ in case say nothing":  {`{"type":"e","Type":"f","payload":{"Body":1,"body":2}}`, Frame{ID: "e", Body: json.RawMessage("2")}},
		"a delivery id that is no string is no": {`{"id":7,"type":"e","payload":{}}`, Frame{ID: "e"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []protocol.Message{row.want}, decode(t, row.record))
		})
	}
}

func TestCodec_takesBlankRecordsForNone(t *testing.T) {
	for _, record := range []string{"", "\r", " \t ", "\ufeff"} {
		require.Empty(t, decode(t, record))
	}
}

func TestCodec_refusesWhatIsNoFrame(t *testing.T) {
	for record, want := range map[string]string{
		`starting server`:                            "expected a JSON object; what came is: starting server",
		`{"level":"info"} {"level":"warn"}`:          "expected a JSON object",
		`at {"level":"info"}`:                        "expected a JSON object",
		`[1]`:                                        "expected an object",
		`{}`:                                         "type: expected the event's id",
		`{"type":5,"payload":{}}`:                    "type: expected the event's id",
		`{"Type":"e","payload":{}}`:                  "type: expected the event's id",
		`{"type":"","payload":{}}`:                   "type: expected the event's id",
		`{"type":"e"}`:                               "payload: expected an object, got none",
		`{"type":"e","payload":null}`:                "payload: expected an object",
		`{"type":"e","type":"e","payload":{}}`:       `got "type" twice`,
		`{"type":"e","payload":{},"x":1,"x":2}`:      `got "x" twice`,
		`{"type":"e","payload":{"body":1,"body":1}}`: `payload: expected every key once, got "body" twice`,
		`{"type":"e","payload":{},"eventa":{}}`:      "got both",
		`{"hopsRemaining":1,"eventa":{"id":"e"}}`:    "deliveryId: expected a string",

		`{"deliveryId":"","hopsRemaining":1,"eventa":{"id":"e"}}`:           "deliveryId: expected a string",
		`{"deliveryId":"d","eventa":{"id":"e"}}`:                            "hopsRemaining: expected an integer",
		`{"deliveryId":"d","hopsRemaining":-1,"eventa":{"id":"e"}}`:         "hopsRemaining: expected an integer",
		`{"deliveryId":"d","hopsRemaining":1.5,"eventa":{"id":"e"}}`:        "hopsRemaining: expected an integer",
		`{"deliveryId":"d","hopsRemaining":1,"eventa":{"body":1}}`:          "eventa.id: expected the event's id",
		`{"deliveryId":"d","hopsRemaining":1,"eventa":[]}`:                  "eventa: expected an object",
		strings.Repeat("x", 300) + "\x1b":                                   "is: " + strings.Repeat("x", 200),
		`{"deliveryId":"d","hopsRemaining":1,"eventa":{"id":"e","id":"e"}}`: `eventa: expected every key once, got "id" twice`,
	} {
		_, err := codec{}.Decode([]byte(record))
		require.ErrorContains(t, err, want, record)
		require.Less(t, len(err.Error()), 400)
	}
}

func TestCodec_tellsMistakesOfFraming(t *testing.T) {
	for record, want := range map[string]string{
		`Content-Length: 20`:                                   "a Content-Length header: expected one JSON object a line and nothing else",
		`{"type":"e","payload":{}} {"type":"f"}`:               "more behind a frame on its line: expected one JSON object a line",
		`{"type":"e","payload":{}} tail`:                       "more behind a frame on its line: expected one JSON object a line",
		`log{"type":"e","payload":{}}`:                         "text in front of a frame: expected every frame on a line of its own",
		strings.Repeat("é", 150) + `{"type":"e","payload":{}}`: "text in front of a frame: expected every frame on a line of its own",
	} {
		got, ok := decode(t, record)[0].(Misframed)
		require.True(t, ok, record)
		require.Equal(t, want, got.Fault)
		require.LessOrEqual(t, len(got.Text), maxExcerpt)
		require.True(t, strings.HasPrefix(record, got.Text))
	}
}

func TestCodec_keepsNoReferenceToTheRecord(t *testing.T) {
	record := []byte(`{"type":"e","payload":{"body":{"a":1}}}`)
	messages, err := codec{}.Decode(record)
	require.NoError(t, err)
	for i := range record {
		record[i] = 'x'
	}
	require.Equal(t, []protocol.Message{Frame{ID: "e", Body: json.RawMessage(`{"a":1}`)}}, messages)
}

func TestCodec_writesTheOlderForm(t *testing.T) {
	require.Equal(t,
		`{"id":"d","type":"e\"","payload":{"id":"e\"","type":"event","_flowDirection":"outbound","invokeType":5,"body":{"a": 1}}}`,
		encode(t, Frame{ID: `e"`, Delivery: "d", InvokeType: number(5), Body: json.RawMessage(`{"a": 1}`)}))
	require.Equal(t,
		`{"type":"e","payload":{"id":"e","type":"event","_flowDirection":"outbound"}}`,
		encode(t, Frame{ID: "e"}))
}

func TestCodec_putsABodyOfManyLinesOnOne(t *testing.T) {
	require.Contains(t, encode(t, Frame{ID: "e", Body: json.RawMessage("{\n  \"a\": [\r\n1]\n}")}), `"body":{"a":[1]}`)
}

func TestCodec_refusesToWrite(t *testing.T) {
	for want, m := range map[string]protocol.Message{
		"expected an airi.Frame to write, got string":      "text",
		"expected a frame with an event id":                Frame{},
		"event e: expected JSON as its payload, got: {\"a": Frame{ID: "e", Body: json.RawMessage(`{"a`)},
	} {
		before := []byte("kept")
		after, err := codec{}.Encode(before, m)
		require.ErrorContains(t, err, want)
		require.Equal(t, before, after)
	}
}

// Whatever the published library has put on a wire is read, and what is written
// for it is read as the same.
func TestCodec_readsEveryRecordedFrame(t *testing.T) {
	for _, line := range recordedFrames(t) {
		messages := decode(t, line)
		require.Len(t, messages, 1)
		require.Equal(t, messages, decode(t, encode(t, messages[0])))
	}
}

func FuzzCodec_decode(f *testing.F) {
	for _, line := range recordedFrames(f) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"type":"e","payload":{"body":{"a":[1,"}"]},"invokeType":3}}`))
	f.Add([]byte("{\"type\":\"e\",\"payload\":{\"body\":{\n}}}"))
	f.Add([]byte(`log{"type":"e","payload":{}}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		messages, err := codec{}.Decode(record)
		if err != nil {
			require.Empty(t, messages)
			return
		}
		for _, m := range messages {
			if _, wrong := m.(Misframed); wrong {
				continue // there is nothing to write
			}
			again := decode(t, encode(t, m))
			require.Len(t, again, 1)
			require.Equal(t, oneLine(t, m), oneLine(t, again[0]))
		}
	})
}

// oneLine is a frame as it arrives on a wire of lines: a record of such a wire has
// no line end in its body, and one that has is written without.
func oneLine(t *testing.T, m protocol.Message) Frame {
	t.Helper()
	f, ok := m.(Frame)
	require.True(t, ok)
	if bytes.ContainsRune(f.Body, '\n') {
		var b bytes.Buffer
		require.NoError(t, json.Compact(&b, f.Body))
		f.Body = b.Bytes()
	}
	return f
}

func decode(t *testing.T, record string) []protocol.Message {
	t.Helper()
	messages, err := codec{}.Decode([]byte(record))
	require.NoError(t, err)
	return messages
}

func encode(t *testing.T, m protocol.Message) string {
	t.Helper()
	record, err := codec{}.Encode(nil, m)
	require.NoError(t, err)
	require.NotContains(t, string(record), "\n")
	return string(record)
}

// recorded is one line of a transcript of testdata/eventa.
type recorded struct {
	Dir  string `json:"dir"`
	Text string `json:"text"`
}

func transcript(t testing.TB, path string) []recorded {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var lines []recorded
	for line := range bytes.Lines(data) {
		var r recorded
		require.NoError(t, json.Unmarshal(line, &r))
		lines = append(lines, r)
	}
	return lines
}

func recordedFrames(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/eventa/*.ndjson")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var frames []string
	for _, path := range paths {
		for _, r := range transcript(t, path) {
			frames = append(frames, r.Text)
		}
	}
	return frames
}

func TestCodec_carriesWhatACallOpens(t *testing.T) {
	const older, newer = `{"type":"x-send","payload":{"opens":%s,"body":1}}`, `{"deliveryId":"d","hopsRemaining":0,"eventa":{"id":"x-send","opens":%s,"body":1}}`
	for value, want := range map[string]string{
		`"value"`: OpensValue, `"stream"`: OpensStream, `"other"`: "", `""`: "", `true`: "", `{"value":1}`: "",
	} {
		for _, form := range []string{older, newer} {
			f := frameOf(t, fmt.Sprintf(form, value))
			require.Equal(t, want, f.Opens, value)
			require.Equal(t, f, frameOf(t, encode(t, f)))
		}
	}
}
