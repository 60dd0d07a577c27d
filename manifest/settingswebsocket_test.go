package manifest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWebsocketSettings_whole(t *testing.T) {
	const data = `{"websocket": {"enabled": true, "invoke": ["tool:*", "chat.say"], "slowPeer": "refuse", "grace": "1m", "pong": "here", "noBypass": true,
		"policy": {"denyPlugins": ["spy"], "allowLabels": ["env=prod", "app"]}, "limits": {"modules": 3, "depth": 256}, "linkFrames": 10}}`
	require.Equal(t, WebsocketSettings{
		Invoke: []string{"tool:*", "chat.say"}, RefuseSlow: true, Grace: time.Minute, Pong: "here", NoBypass: true,
		Policy: WebsocketPolicy{DenyPlugins: []string{"spy"}, AllowLabels: []string{"env=prod", "app"}},
		Limits: WebsocketLimits{Modules: 3, Depth: MaxRouteDepth}, LinkFrames: 10,
	}, wantSettings(t, data).Websocket)
	require.NoError(t, settingsContract(t).Check(json.RawMessage(data)))
	require.Zero(t, wantSettings(t, `{"websocket": {}}`).Websocket)
	require.True(t, wantSettings(t, `{"websocket": {"enabled": false}}`).Websocket.Disabled)
	require.Equal(t, []string{}, wantSettings(t, `{"websocket": {"invoke": []}}`).Websocket.Invoke, "nothing is another thing than all")
}

func TestWebsocketSettings_refused(t *testing.T) {
	for data, want := range map[string]string{
		`{"websocket": false}`:                                        `websocket: expected an object, found a boolean, false`,
		`{"websocket": {"enabled": "no"}}`:                            `websocket.enabled: expected true or false, found "no"`,
		`{"websocket": {"invoke": ["a b", "a b"]}}`:                   `websocket.invoke[1]: "a b" is taken by websocket.invoke[0]: change one of them`,
		`{"websocket": {"invoke": [" tool:x"]}}`:                      `websocket.invoke[0]: expected a key, found " tool:x": remove the blanks around it`,
		`{"websocket": {"frameBytes": 134217729}}`:                    `websocket.frameBytes: expected a whole number from 1 to 134217728, found a number, 134217729`,
		`{"websocket": {"slowPeer": "wait"}}`:                         `websocket.slowPeer: expected one of "close", "refuse", found "wait"`,
		`{"websocket": {"silence": "5s", "pingEvery": "5s"}}`:         `websocket.silence: expected more than pingEvery, 5s, found "5s": else a peer is closed before it is asked for life`,
		`{"websocket": {"policy": {"denyLabels": [""]}}}`:             `websocket.policy.denyLabels[0]: expected a selector, "key" or "key=value", found ""`,
		`{"websocket": {"limits": {"depth": 257}}}`:                   `websocket.limits.depth: expected a whole number from 1 to 256, found a number, 257`,
		`{"websocket": {"limits": {"module": 1}}}`:                    `websocket.limits.module: unknown field: did you mean "modules"?`,
		`{"listen": {"tls": {"cert": "/c.pem"}}}`:                     `listen.tls.key: is missing: expected the absolute path of its private key in PEM, e.g. "/etc/airi-host/key.pem"`,
		`{"listen": {"tls": {"cert": "c.pem", "key": "/k.pem"}}}`:     `listen.tls.cert: expected the absolute path of a certificate in PEM, e.g. "/etc/airi-host/cert.pem", found "c.pem"`,
		`{"listen": {"hosts": ["airi.lan:6121"]}}`:                    `listen.hosts[0]: expected a name without a port, e.g. "airi.lan", found "airi.lan:6121"`,
		`{"listen": {"hosts": ["airi.lan"], "tls": {"key": "/k.p"}}}`: `listen.tls.cert: is missing: expected the absolute path of a certificate in PEM, e.g. "/etc/airi-host/cert.pem"`,
	} {
		wantSettingsProblems(t, data, want)
	}
}

func TestListenSettings_namesAndTLS(t *testing.T) {
	const data = `{"listen": {"hosts": ["airi.lan", "host"], "tls": {"cert": "/c.pem", "key": "/k.pem"}}}`
	require.Equal(t, ListenSettings{Hosts: []string{"airi.lan", "host"}, TLS: TLSFiles{Cert: "/c.pem", Key: "/k.pem"}}, wantSettings(t, data).Listen)
	require.NoError(t, settingsContract(t).Check(json.RawMessage(data)))
}
