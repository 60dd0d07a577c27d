package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers"
	"github.com/airi-host/airi-host/peers/load"
)

func TestAiriHost_runsARealWorker(t *testing.T) {
	list, err := nodeWorkers(t.TempDir(), peers.Install(t, peers.Paperclip), 2)
	require.NoError(t, err)
	a := &airiHost{}
	require.NoError(t, a.Start(t.Context(), list))
	for _, l := range []load.Load{
		{Kind: load.Echo, Size: 64 << 10, Flight: 16, Calls: 32},
		{Kind: load.Ask, Flight: 128, Calls: 300},
	} {
		_, err := load.Drive(t.Context(), a, l)
		require.NoError(t, err)
	}
	require.NoError(t, a.Close())
	require.Error(t, (&airiHost{}).Close())
}

func TestAiriHost_saysWhichPluginIsWrong(t *testing.T) {
	a := &airiHost{}
	dir := t.TempDir()
	require.ErrorContains(t, a.Start(t.Context(), []load.Worker{{Dir: dir}}), dir+": expected one plugin, found 0")
	require.NoError(t, a.Close())
}

// A worker cannot tell this host from Paperclip's by what it receives, but for what
// the hosts say of themselves.
func TestAiriHost_sendsWhatPaperclipSends(t *testing.T) {
	modules := peers.Install(t, peers.Paperclip)
	ours := peers.Fixture(t, modules, "echo", peers.Changes{Record: true})
	theirs := peers.Fixture(t, modules, "echo", peers.Changes{Record: true})
	input, fan := load.EchoInput(100), json.RawMessage(`{"calls":3,"flight":1}`)

	a := &airiHost{}
	require.NoError(t, a.Start(t.Context(), []load.Worker{{Dir: ours}}))
	_, err := a.Call(t.Context(), "data:echo", input)
	require.NoError(t, err)
	_, err = a.Call(t.Context(), "action:fan", fmt.Appendf(nil, `{"params":%s}`, fan))
	require.NoError(t, err)
	require.NoError(t, a.Close())

	m := peers.StartManager(t, modules, nil)
	m.Do(t, "workers", map[string]any{"workers": []load.Worker{{Dir: theirs}}}, nil)
	for _, c := range []struct {
		method, key string
		params      json.RawMessage
	}{{"getData", "echo", input}, {"performAction", "fan", fan}} {
		m.Do(t, "call", map[string]any{"plugin": "echo", "method": c.method, "params": map[string]any{"key": c.key, "params": c.params}}, nil)
	}
	m.Do(t, "stop", map[string]any{"plugin": "echo"}, nil)

	require.Equal(t, received(t, theirs), received(t, ours))
}

var whoTheyAre = regexp.MustCompile(`"instanceInfo":\{[^}]*\}`)

// received is what a worker recorded.
func received(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, peers.Received))
	require.NoError(t, err)
	require.Regexp(t, whoTheyAre, string(text))
	return whoTheyAre.ReplaceAllString(string(text), `"instanceInfo":{}`)
}
