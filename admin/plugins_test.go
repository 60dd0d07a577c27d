package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

func TestServer_tellsWhoAnswers(t *testing.T) {
	r := start(t, Options{Version: "v9", State: "/somewhere"})
	info, err := r.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, r.server.info().Started.UTC(), info.Started.UTC())
	require.Equal(t, r.host.ID(), info.ID)
	require.Equal(t, "v9", info.Version)
	require.Equal(t, "/somewhere", info.State)
	require.NotZero(t, info.PID)
}

func TestServer_listsPlugins(t *testing.T) {
	r := start(t, Options{Plugins: []string{"absent", "talker"}})
	list, err := r.Plugins(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "absent", list[0].Plugin)
	require.Equal(t, lifecycle.Stopped, list[0].Phase)
	require.Equal(t, "talker", list[1].Plugin)
	require.Equal(t, lifecycle.Ready, list[1].Phase)
}

func TestServer_listsPluginsThatItWasNotToldOf(t *testing.T) {
	r := start(t, Options{Plugins: []string{}})
	list, err := r.Plugins(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "talker", list[0].Plugin)
	_, err = r.Command(t.Context(), Stop, "talker")
	require.NoError(t, err)
	_, err = r.Command(t.Context(), Start, "talker")
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
}

func TestServer_inspects(t *testing.T) {
	r := start(t, Options{})
	for _, name := range []string{"talker", "plugin-session-0"} {
		detail, err := r.Inspect(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, "talker", detail.Plugin)
		require.Len(t, detail.Offers, 8)
	}
	_, err := r.Inspect(t.Context(), "tolker")
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
	require.EqualError(t, err, "no plugin and no session is called tolker; there are: talker")
}

func TestServer_listsCapabilities(t *testing.T) {
	r := start(t, Options{})
	all, err := r.Capabilities(t.Context(), "talker", "model")
	require.NoError(t, err)
	require.Len(t, all, 7)
	require.Equal(t, lifecycle.CapReady, all[0].State)
	for _, none := range [][2]string{{"airi-host", ""}, {"", "action"}} {
		list, err := r.Capabilities(t.Context(), none[0], none[1])
		require.NoError(t, err)
		require.Empty(t, list)
	}
	_, err = r.Capabilities(t.Context(), "other", "")
	require.EqualError(t, err, "no plugin and no session is called other; there are: talker, and the host itself, airi-host")
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
	_, err = r.Capabilities(t.Context(), "", "foo")
	require.ErrorContains(t, err, "?kind=foo: expected one of tool, model, ")
}

func TestServer_stopsStartsAndReloads(t *testing.T) {
	r := start(t, Options{})
	info, err := r.Command(t.Context(), Stop, "talker")
	require.NoError(t, err)
	require.Equal(t, lifecycle.Stopped, info.Phase)
	info, err = r.Command(t.Context(), Stop, "talker")
	require.NoError(t, err, "what is stopped is stopped")
	require.Equal(t, lifecycle.Stopped, info.Phase)

	detail, err := r.Inspect(t.Context(), "talker")
	require.NoError(t, err)
	require.Equal(t, lifecycle.Stopped, detail.Phase)

	info, err = r.Command(t.Context(), Start, "talker")
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, info.Phase)
	require.Equal(t, "plugin-session-1", info.ID)
	_, err = r.Command(t.Context(), Start, "talker")
	require.EqualError(t, err, "plugin talker is not stopped: it is ready (plugin-session-1); to start it anew, reload it")

	info, err = r.Command(t.Context(), Reload, "talker")
	require.NoError(t, err)
	require.Equal(t, "plugin-session-2", info.ID)
	_, err = r.Command(t.Context(), Stop, "talker")
	require.NoError(t, err)
	info, err = r.Command(t.Context(), Reload, "talker")
	require.NoError(t, err, "what is stopped is started by a reload")
	require.Equal(t, lifecycle.Ready, info.Phase)

	_, err = r.Command(t.Context(), Start, "nobody")
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
}

// A plugin's own words seldom name it: the answer does, once. Where it has none, that is said.
func TestServer_namesThePluginThatFails(t *testing.T) {
	r := start(t, Options{})
	words := &protocol.PeerError{Message: "init exploded", At: "init.mjs:2:9"}
	for fails, isPeers := range map[error]bool{words: true, errors.New("plugin talker: init exploded"): false} {
		r.server.opts.Reload = func(context.Context, string, string) (actors.SessionInfo, error) { return actors.SessionInfo{}, fails }
		_, err := r.Command(t.Context(), Reload, "talker")
		require.EqualError(t, err, "plugin talker: init exploded")
		peer, ok := errors.AsType[*protocol.PeerError](err)
		require.Equal(t, isPeers, ok)
		if ok {
			require.Equal(t, "init.mjs:2:9", peer.At)
		}
	}
	r.server.opts.Reload = func(context.Context, string, string) (actors.SessionInfo, error) {
		return actors.SessionInfo{}, &protocol.PeerError{}
	}
	_, err := r.Command(t.Context(), Reload, "talker")
	require.EqualError(t, err, "plugin talker failed and gave no reason")
}

func TestServer_isReadyWhenAllPluginsAre(t *testing.T) {
	r := start(t, Options{Plugins: []string{"talker", "absent"}})
	status, body := r.get(t, pathReady)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.JSONEq(t, `{"ready":false,"plugins":2,"notReady":[{"plugin":"absent","phase":"stopped"}]}`, body)
	status, body = r.get(t, pathAPI+"/ready")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `"ready":false`)
	status, body = r.get(t, pathHealth)
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"status":"ok"}`, body)

	// What was stopped by hand is awaited by nobody, until it is started by hand.
	for _, name := range []string{"absent", "talker"} {
		_, err := r.Command(t.Context(), Stop, name)
		require.NoError(t, err)
	}
	status, body = r.get(t, pathReady)
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"ready":true,"plugins":0}`, body)
	_, err := r.Command(t.Context(), Start, "talker")
	require.NoError(t, err)
	var now Readiness
	_, body = r.get(t, pathReady)
	require.NoError(t, json.Unmarshal([]byte(body), &now))
	require.Equal(t, Readiness{Ready: true, Plugins: 1}, now)
}

func TestServer_aHostThatIsShutDownSaysSo(t *testing.T) {
	r := start(t, Options{})
	require.NoError(t, r.host.Shutdown(t.Context()))
	_, err := r.Call(t.Context(), CallRequest{Key: "model:ECHO"})
	require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err))
	status, _ := r.get(t, pathReady)
	require.Equal(t, http.StatusServiceUnavailable, status)
}

func TestServer_disablesAndEnables(t *testing.T) {
	kept := map[string]bool{"absent": true}
	r := start(t, Options{
		Plugins:  []string{"absent", "talker"},
		Disabled: func(plugin string) bool { return kept[plugin] },
		SetDisabled: func(_ context.Context, plugin string, is bool) error {
			kept[plugin] = is
			return nil
		},
	})
	status, body := r.get(t, pathReady)
	require.Equal(t, http.StatusOK, status, "nobody waits for what is disabled")
	require.JSONEq(t, `{"ready":true,"plugins":1}`, body)

	for range 2 {
		info, err := r.Command(t.Context(), Disable, "talker")
		require.NoError(t, err)
		require.True(t, info.Disabled)
		require.Equal(t, lifecycle.Stopped, info.Phase)
	}
	require.Equal(t, map[string]bool{"absent": true, "talker": true}, kept)
	for _, command := range []string{Start, Reload} {
		_, err := r.Command(t.Context(), command, "talker")
		require.EqualError(t, err, "plugin talker is disabled: enable it, which starts it too")
	}
	list, err := r.Plugins(t.Context())
	require.NoError(t, err)
	require.True(t, list[0].Disabled && list[1].Disabled)
	detail, err := r.Inspect(t.Context(), "talker")
	require.NoError(t, err)
	require.True(t, detail.Disabled)
	_, body = r.get(t, pathReady)
	require.JSONEq(t, `{"ready":true,"plugins":0}`, body)

	for range 2 {
		info, err := r.Command(t.Context(), Enable, "talker")
		require.NoError(t, err)
		require.False(t, info.Disabled)
		require.Equal(t, "plugin-session-1", info.ID, "what runs is not started again")
	}
	_, err = r.Command(t.Context(), Disable, "nobody")
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
}

func TestServer_whatCannotBeKeptChangesNothing(t *testing.T) {
	full := errors.New("the disk is full")
	r := start(t, Options{SetDisabled: func(context.Context, string, bool) error { return full }})
	for _, command := range []string{Disable, Enable} {
		_, err := r.Command(t.Context(), command, "talker")
		require.EqualError(t, err, "plugin talker: the disk is full")
	}
	list, err := r.Plugins(t.Context())
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, list[0].Phase)
	require.Equal(t, "plugin-session-0", list[0].ID)
}

func TestServer_disablesOnlyWhereThatIsKept(t *testing.T) {
	r := start(t, Options{})
	_, err := r.Command(t.Context(), Disable, "talker")
	require.EqualError(t, err, "plugin talker: this host keeps nothing for the next one: stop and start are what it can do")

	stranger := start(t, Options{Plugins: []string{}, SetDisabled: func(context.Context, string, bool) error { return nil }})
	_, err = stranger.Command(t.Context(), Disable, "talker")
	require.EqualError(t, err, "plugin talker is none of those that this host was told to run")
}
