package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// recorded is a codec whose messages are the frames themselves.
type recorded struct{ protocol.Codec }

func (recorded) Encode(dst []byte, m protocol.Message) ([]byte, error) {
	return append(dst, m.(string)...), nil
}

func TestWireTap_logsFramesWithoutSecrets(t *testing.T) {
	var b bytes.Buffer
	tap := &wireTap{
		log:    slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})),
		codecs: map[string]protocol.Codec{"plain": recorded{}}, speaks: func(plugin string) string {
			return map[string]string{"p": "plain"}[plugin]
		},
	}
	wire := actors.Wire{Origin: actors.Origin{Plugin: "p", Session: "s"}, Message: `{"token":"hidden","a":1}`, At: noon}
	tap.write(wire)
	require.Equal(t, `time=2026-01-02T12:00:00.005Z level=DEBUG msg=wire plugin=p session=s direction="to plugin" bytes=24 `+
		`frame="{\"token\":\"[masked]\",\"a\":1}"`+"\n", b.String())

	b.Reset()
	wire.FromPlugin, wire.Message = true, `{"secret":"`+strings.Repeat("h", maxLoggedFrame)+`","a":"`+strings.Repeat("x", 2*maxLoggedFrame)+`"}`
	tap.write(wire)
	require.Contains(t, b.String(), `direction="from plugin"`)
	require.NotContains(t, b.String(), "hhh")
	require.Less(t, b.Len(), maxLoggedFrame+500, "a long frame is cut")

	b.Reset()
	wire.Plugin = "stranger"
	tap.write(wire)
	require.Contains(t, b.String(), `error="no codec writes the frames of this plugin"`)
	require.NotContains(t, b.String(), "xxx")
}
