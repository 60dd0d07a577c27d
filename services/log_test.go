package services

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// logging returns a worker and what its host logs, as JSON or text.
func logging(t *testing.T, asText bool) (worker, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	options := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	var handler slog.Handler = slog.NewJSONHandler(&out, options)
	if asText {
		handler = slog.NewTextHandler(&out, options)
	}
	return newWorker(t, &plugins{log: handler}, Options{}), &out
}

func TestLog_keepsTheLevel(t *testing.T) {
	w, out := logging(t, true)
	for level, want := range map[string]string{
		`"debug"`: "DEBUG", `"info"`: "INFO", `"warn"`: "WARN", `"error"`: "ERROR", `"fatal"`: "INFO", `7`: "INFO",
	} {
		out.Reset()
		require.Equal(t, `null`, w.call("log", `{"level":`+level+`,"message":"hi"}`))
		require.Equal(t, "level="+want+" msg=hi plugin=demo\n", out.String())
	}
}

func TestLog_spreadsMeta(t *testing.T) {
	const line = `{"level":"info","message":"m","meta":{"s":"a b","n":9007199254740993,"o":{ "x":[1] },"z":null}}`
	w, out := logging(t, false)
	w.call("log", line)
	require.Equal(t, `{"level":"INFO","msg":"m","plugin":"demo","n":9007199254740993,"o":{"x":[1]},"s":"a b","z":null}`+"\n", out.String())
	w, out = logging(t, true)
	w.call("log", line)
	require.Equal(t, `level=INFO msg=m plugin=demo n=9007199254740993 o="{ \"x\":[1] }" s="a b" z=null`+"\n", out.String())
	require.Equal(t, `o={"x":1}`, slog.Any("o", literal(`{"x":1}`)).String(), "as a plugin's own log shows it")
}

func TestLog_isBounded(t *testing.T) {
	w, out := logging(t, false)
	w.call("log", `{"message":"`+strings.Repeat("ä", maxLog)+`","meta":{"k":"`+strings.Repeat("x", maxLog)+`"}}`)
	var line struct {
		Msg     string
		Dropped int `json:"meta_dropped_bytes"`
		K       *string
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.LessOrEqual(t, len(line.Msg), maxLog)
	require.Equal(t, "ä…", line.Msg[len(line.Msg)-len("ä…"):])
	require.Equal(t, maxLog+len(`{"k":""}`), line.Dropped)
	require.Nil(t, line.K)
}

func TestLog_withoutAMessageOrALevel(t *testing.T) {
	w, out := logging(t, true)
	w.call("log", `{}`)
	require.Equal(t, "level=INFO msg=\"\" plugin=demo\n", out.String())
	w.wantRefused(protocol.CodeInvalid, "log", `{"message":1}`, "message: expected a string, got a number")
	w.wantRefused(protocol.CodeInvalid, "log", `{"message":"m","meta":[1]}`, "meta: expected an object, got an array")
}

func TestLog_whatNobodyWantsIsNotMade(t *testing.T) {
	var out bytes.Buffer
	w := newWorker(t, &plugins{log: slog.NewTextHandler(&out, nil)}, Options{})
	require.Equal(t, `null`, w.call("log", `{"level":"debug","message":"m"}`))
	require.Empty(t, out.String())
}
