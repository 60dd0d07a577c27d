package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

func TestHush_hidesSecretsThatWereGivenOut(t *testing.T) {
	h := newHush(&settings{})
	given := map[string]string{"a": `"a<b>\"c\"\n"`, "b": `""`}
	service := h.listen(protocol.ServiceFunc(func(_ context.Context, c protocol.Call) (json.RawMessage, error) {
		if given[c.Key] == "" {
			return nil, errors.New("no")
		}
		return json.RawMessage(given[c.Key]), nil
	}))
	const frame = `{"result":"a<b>\"c\"\n","x":"= a\u003cb\u003e\"c\"\n","y":1}`
	require.Equal(t, frame, h.show([]byte(frame)), "it was not given out yet")
	for _, key := range []string{"a", "b"} {
		result, err := service.Serve(t.Context(), protocol.Call{Key: key})
		require.NoError(t, err)
		require.Equal(t, given[key], string(result))
	}
	_, err := service.Serve(t.Context(), protocol.Call{})
	require.EqualError(t, err, "no")
	require.Equal(t, `{"result":"[masked]","x":"= [masked]","y":1}`, h.show([]byte(frame)))
}

func TestHush_hidesConfigurations(t *testing.T) {
	h := newHush(&settings{Settings: manifest.Settings{Plugins: map[string]manifest.PluginSettings{
		"a": {Config: json.RawMessage(`{ "apiKey": "k", "url": "hidden" }`), Companies: map[string]json.RawMessage{"acme": json.RawMessage(`{"n":1}`)}},
		"b": {Config: json.RawMessage(`{}`)}, "c": {},
	}}})
	for frame, want := range map[string]string{
		`{"params":{"config":{"any":"thing"}}}`:                `{"params":{"config":"[masked]"}}`,
		`{"id":1, "result": {"apiKey": "k", "url": "hidden"}}`: `{"id":1,"result":"[masked]"}`,
		`{"result":[{"n":1},{"n":2}]}`:                         `{"result":["[masked]",{"n":2}]}`,
		`{"params":{}}`:                                        `{"params":{}}`,
		`no JSON {"apiKey":"k","url":"hidden"}`:                unmaskable,
	} {
		require.Equal(t, want, h.show([]byte(frame)))
	}
	require.Equal(t, `{"token":"[masked]","x":1}`, (*hush)(nil).show([]byte(`{"token":"t","x":1}`)))
}

// Peers may give new configurations without end: the oldest are hidden no more, and those of
// the host's own plugins stay hidden.
func TestHush_hidesSoManyConfigurationsOfPeers(t *testing.T) {
	numbered := func(n int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)) }
	for name, bounds := range map[string]guestConfigBounds{
		"by number": {Plugins: 3, Bytes: 1 << 10},
		"by bytes":  {Plugins: 100, Bytes: 3 * len(numbered(1))},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHush(&settings{Settings: manifest.Settings{Plugins: map[string]manifest.PluginSettings{"own": {Config: numbered(0)}}}})
			h.bounds = bounds
			for n := range 5 {
				h.peerConfig(numbered(n))
			}
			h.config(numbered(3))     // it is an own one's too
			h.peerConfig(numbered(2)) // it was given once more
			for n := 5; n < 7; n++ {
				h.peerConfig(numbered(n))
			}
			h.peerConfig(json.RawMessage(`{}`))
			require.Equal(t, `{"r":["[masked]",{"n":1},"[masked]","[masked]",{"n":4},"[masked]","[masked]"]}`,
				h.show([]byte(`{"r":[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4},{"n":5},{"n":6}]}`)))
			require.Len(t, h.configs, 5)
			require.Len(t, h.peers, 3)
		})
	}
}

func TestHush_aSecretThatBeginsAnotherHidesNoPartOfIt(t *testing.T) {
	for _, order := range [][]string{{"abc", "abcDEF"}, {"abcDEF", "abc"}} {
		h := &hush{}
		for _, secret := range order {
			h.secret(secret)
		}
		require.Equal(t, `{"r":"[masked] [masked]"}`, h.show([]byte(`{"r":"abcDEF abc"}`)))
	}
}

// In a log a secret stands as it is, and one of several lines has each in a record of its own.
func TestHush_coversSecretsAsLogsHaveThem(t *testing.T) {
	h := &hush{}
	h.secret("pa\"ss\\wörd<&>")
	h.secret("-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\n{\n-----END KEY-----\n")
	for text, want := range map[string]string{
		"it is pa\"ss\\wörd<&>!":                                          "it is [masked]!",
		`{"it":"pa\"ss\\wörd<&>"}`:                                        `{"it":"[masked]"}`,
		`{"it":"pa\"ss\\wörd\u003c\u0026\u003e"}`:                         `{"it":"[masked]"}`,
		"-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\n{\n-----END KEY-----\n": "[masked]",
		"key: MIIEvQIBADANBgkq":                                           "key: [masked]",
		"{":                                                               "{",
	} {
		require.Equal(t, want, h.cover(text))
	}
	require.Equal(t, `{"a":"[masked]"}`, h.show([]byte(`{"a":"-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\n{\n-----END KEY-----\n"}`)))
	require.Equal(t, `{"a":{"b":1}}`, h.show([]byte(`{"a":{"b":1}}`)))
}
