package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"

	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/transport/websocket"
)

// startService starts a host as a service is: without any terminal.
func startService(t *testing.T, args ...string) *child {
	t.Helper()
	cmd := exec.Command("airi-host", unheard(args)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return startCommand(t, cmd)
}

// settle writes a file of settings.
func settle(t *testing.T, state, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(state, settingsName), []byte(text), 0o600))
}

func TestRun_aServiceReadsItsSettingsAtAHangup(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	settle(t, state, `{"log": {"level": "error"}}`)
	c := startService(t, "run", "--state", state, filepath.Join(plugins, "greeter"))
	c.wantLine(t, `^serving 1 plugin;`)

	settle(t, state, `{"log": {"level": "debug"}, "store": {"readers": 2}, "restart": {"giveUp": 2}}`)
	c.signal(t, syscall.SIGHUP)
	c.wantLogged(t, `level=INFO msg="a setting has changed" field=log.level effect=applied`)
	c.wantLogged(t, `field=store.readers effect=restart note="takes a restart of the host"`)
	c.wantLogged(t, `field=restart.giveUp effect=applied note="from the next crash on"`)

	c.signal(t, syscall.SIGHUP)
	c.wantLogged(t, `msg="the settings were read again: nothing has changed" file=`+filepath.Join(state, settingsName))

	settle(t, state, "{\n  \"drian\": 5, \"scope\": 7}")
	c.signal(t, syscall.SIGHUP)
	c.wantLogged(t, `airi-host.json:2:3: drian: unknown field`)
	c.wantLogged(t, `airi-host.json:2:15: scope: expected a string`)

	c.signal(t, syscall.SIGTERM)
	c.wantExit(t, exitDone)
}

// What --once reports is not to be changed meanwhile.
// What a hang-up has changed holds for plugins that come then; those that are known keep
// what they have.
func TestRun_grantsAtFirstSightAsOfTheLastHangup(t *testing.T) {
	need.Node(t)
	t.Parallel()
	state, dir := t.TempDir(), t.TempDir()
	come := func(name string) {
		t.Helper()
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(writePlugin(t, name, quiet))))
	}
	wantWaiting := func(c *child, name string, want ...string) {
		t.Helper()
		c.wantLine(t, "^"+name+" was started, it is new here")
		now, err := clientOf(state).Grants(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, want, now.Waiting)
	}
	const watch = `"watch": {"debounce": "50ms", "maxWait": "1s"}`
	settle(t, state, `{`+watch+`}`)
	come("known")
	c := startService(t, "run", "--watch", "--state", state, dir)
	c.wantLine(t, `^serving 1 plugin;`)
	for i, one := range []struct {
		said string
		want []string
	}{{"ask", []string{"invoke:*"}}, {"grant", nil}} {
		settle(t, state, `{"grants": {"firstSight": "`+one.said+`"}, `+watch+`}`)
		c.signal(t, syscall.SIGHUP)
		require.Eventually(t, func() bool {
			return strings.Count(c.err.String(), `field=grants.firstSight effect=applied note="for plugins that are seen for the first time"`) > i
		}, patience, 5*time.Millisecond)
		come("at-" + one.said)
		wantWaiting(c, "at-"+one.said, one.want...)
	}
	for name, want := range map[string][]string{"known": nil, "at-ask": {"invoke:*"}} {
		_, err := clientOf(state).Command(t.Context(), "reload", name)
		require.NoError(t, err)
		now, err := clientOf(state).Grants(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, want, now.Waiting, "%s was seen before", name)
	}
	c.signal(t, syscall.SIGTERM)
	c.wantExit(t, exitDone)
}

func TestRun_onceStopsAtAHangup(t *testing.T) {
	need.Node(t)
	t.Parallel()
	c := startService(t, "run", "--once", filepath.Join(broken, "silent"))
	c.wantLine(t, `silent +announced +→ preparing$`)
	c.signal(t, syscall.SIGHUP)
	c.wantExit(t, exitFailed)
	require.Contains(t, c.err.String(), "airi-host: interrupted before the plugins had started\n")
}

// A token that was changed where it is read holds from the next request on.
func TestRun_takesAnotherToken(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	token := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(token, []byte(strings.Repeat(text, leastToken)), 0o600))
	}
	write("a")
	settings := `{"listen": {"address": "127.0.0.1:0", "token": {"file": "` + token + `"}`
	settle(t, state, settings+`}}`)
	c := startService(t, "run", "--state", state, "--listen", "127.0.0.1:0", filepath.Join(plugins, "greeter"))
	c.wantLine(t, `^serving 1 plugin;`)
	base := regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)\n`).FindStringSubmatch(c.seen.String())[1]
	wantStatus := func(want int, text, origin string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/readyz", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+strings.Repeat(text, leastToken))
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		r.Close = true
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, answer.Body)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode)
	}
	reload := func(want ...string) {
		t.Helper()
		again := startHost(t, "reload", "--state", state)
		text := again.rest()
		require.Equal(t, strings.Join(want, "\n")+"\n", text)
	}
	wantStatus(http.StatusOK, "a", "")
	dial := func(text string) (*websocket.Conn, error) {
		return websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(base, "http")+"/ws", websocket.DialOptions{Token: strings.Repeat(text, leastToken)})
	}
	peer, err := dial("a")
	require.NoError(t, err)
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/events?follow=true", nil)
	require.NoError(t, err)
	ask.Header.Set("Authorization", "Bearer "+strings.Repeat("a", leastToken))
	follower, err := http.DefaultClient.Do(ask)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, follower.StatusCode)
	write("b")
	reload("listen.token: applied: there is another one in the same place")
	late := time.AfterFunc(patience, func() { _, _ = peer.Close(), follower.Body.Close() })
	defer late.Stop()
	_, err = io.Copy(io.Discard, follower.Body)
	require.NoError(t, err, "whoever follows is told that it is over")
	require.NoError(t, follower.Body.Close())
	for err == nil {
		_, err = peer.Recv()
	}
	require.Equal(t, &websocket.CloseError{Code: websocket.CodePolicy, Reason: "the host has another token now"}, err)
	<-peer.Done()
	_, err = dial("a")
	require.Error(t, err)
	peer, err = dial("b")
	require.NoError(t, err)
	require.NoError(t, peer.Close())
	<-peer.Done()
	wantStatus(http.StatusUnauthorized, "a", "")
	wantStatus(http.StatusOK, "b", "")

	wantStatus(http.StatusForbidden, "b", "http://localhost:5173")
	settle(t, state, settings+`, "origins": ["http://localhost:5173"]}}`)
	reload("listen.origins: applied")
	wantStatus(http.StatusOK, "b", "http://localhost:5173")

	require.NoError(t, os.Chmod(token, 0o644))
	reload("listen.token.file "+token+": it can be read by others (mode 0644): chmod 600 "+token, "nothing was changed")
	wantStatus(http.StatusOK, "b", "")
	c.signal(t, syscall.SIGTERM)
	c.wantExit(t, exitDone)
}

// Services hold to what the settings say now.
func TestPaperclip_changesWithTheSettings(t *testing.T) {
	t.Setenv("AIRI_HOST_TEST_SECRET", "first")
	before := wantSettings(t, `{"secrets": {"a": {"env": "AIRI_HOST_TEST_SECRET"}}, "services": {"secrets": 2}}`)
	p := &paperclip{st: &state{configs: configurations{settings: before}}, manifestOf: noManifest}
	all := p.services(noPlugins{}, before)
	resolve := func(id string) (string, protocol.Code) {
		value, err := all["secrets.resolve"].Serve(t.Context(), protocol.Call{
			Key: "secrets.resolve", Caller: "hello", Scope: "acme",
			Input: json.RawMessage(`{"secretRef":{"type":"secret_ref","secretId":"` + id + `"},"companyId":"acme"}`),
		})
		return string(value), protocol.CodeOf(err)
	}
	want := func(id, value string, code protocol.Code) {
		t.Helper()
		got, failed := resolve(id)
		require.Equal(t, value, got)
		require.Equal(t, code, failed)
	}
	const id = "a"
	want(id, `"first"`, "")
	same := wantSettings(t, `{"secrets": {"a": {"env": "AIRI_HOST_TEST_SECRET"}}, "services": {"secrets": 2}, "http": {"atOnce": 1}}`)
	place := p.placed["http.fetch"].Load()
	p.change(before, same)
	require.NotSame(t, place, p.placed["http.fetch"].Load())
	want(id, `"first"`, "")
	want(id, "", protocol.CodeOverloaded) // what does not change counts on
	p.change(same, wantSettings(t, `{"secrets": {"b": {"env": "AIRI_HOST_TEST_SECRET"}}}`))
	want("b", `"first"`, "")
	_, failed := resolve(id)
	require.NotEmpty(t, failed)

	folder := t.TempDir()
	status := func() string {
		value, err := all["localFolders.status"].Serve(t.Context(), protocol.Call{
			Key: "localFolders.status", Caller: "hello", Input: json.RawMessage(`{"companyId":"acme","folderKey":"notes"}`),
		})
		require.NoError(t, err)
		return string(value)
	}
	require.NotContains(t, status(), folder)
	declared := wantSettings(t, `{"plugins": {"hello": {"folders": {"notes": {"path": "`+folder+`"}}}}}`)
	p.change(before, declared)
	require.Contains(t, status(), folder)
}

// picky is a plugin that fails with a configuration that has "bad"; seen are all that it
// was given.
type picky struct {
	*house
	m    *manifest.Manifest
	seen []string
}

// pickyReloader reads settings again, which write writes, for a host with that plugin.
func pickyReloader(t *testing.T) (p *picky, r *reloader, write func(text string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), settingsName)
	c := &cli{stateGiven: t.TempDir(), config: file, settings: &settings{}, logLevel: "info", err: newOutput(io.Discard), out: newOutput(io.Discard)}
	st, err := c.openState(t.Context(), false)
	require.NoError(t, err)
	builtin := "builtin:picky"
	p = &picky{m: &manifest.Manifest{
		Dialect: manifest.DialectAIRI, Name: "picky", File: "picky/plugin.json", Entrypoints: manifest.Entrypoints{Go: &builtin},
	}}
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"picky": plugin.Define("picky").OnSetup(p.setup)}})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, host.Shutdown(context.Background()))
		require.NoError(t, st.close())
	})
	log, err := c.logger()
	require.NoError(t, err)
	p.house = &house{
		Host: host, log: log, configs: &st.configs, grants: &st.grants, disabled: &st.disabled, roster: newRoster([]*manifest.Manifest{p.m}, manifest.Options{}), paperclip: &paperclip{st: st},
	}
	f := &front{listen: listenOptions{by: func(string) bool { return false }}}
	f.guards.Store(&admin.Guard{})
	return p, newReloader(c, p.house, f, p.configurator(st.db)), func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
}

func (p *picky) setup(_ context.Context, s *plugin.Session) error {
	var config map[string]any
	if err := s.Config(&config); err != nil {
		return err
	}
	text, _ := json.Marshal(config) // it was JSON
	p.seen = append(p.seen, string(text))
	if config["bad"] != nil {
		return errors.New("this is bad")
	}
	return nil
}

func TestReloader_offersConfigurations(t *testing.T) {
	p, r, write := pickyReloader(t)
	want := func(effect admin.SettingEffect, message string) {
		t.Helper()
		report, err := r.reload(t.Context())
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		require.Len(t, report.Changes, 1)
		require.Equal(t, "plugins.picky.config", report.Changes[0].Field)
		require.Equal(t, effect, report.Changes[0].Effect)
		require.Contains(t, report.Changes[0].Message, message)
	}
	write(`{"plugins": {"picky": {"config": {"a": 1}}}}`)
	want(admin.SettingNextStart, "from its next start on")
	_, err := p.Start(t.Context(), p.m, p.configs.start(p.m))
	require.NoError(t, err)
	write(`{"plugins": {"picky": {"config": {"a": 2}}}}`)
	want(admin.SettingApplied, "the plugin has taken it")
	write(`{"plugins": {"picky": {"config": {"bad": 3}}}}`)
	want(admin.SettingRefused, "this is bad")
	want(admin.SettingRefused, "this is bad") // it is asked again
	require.JSONEq(t, `{"a": 2}`, string(p.configs.Value("picky", "")))
	p.m.Host.Configuration.Schema = json.RawMessage(`{"properties": {"a": {"type": "integer"}}}`)
	write(`{"plugins": {"picky": {"config": {"a": "x"}}}}`)
	want(admin.SettingRefused, "/a")
	write(`{}`)
	want(admin.SettingApplied, "the plugin has taken it")
	require.Equal(t, []string{
		`{"a":1}`, `{"a":2}`, `{"bad":3}`, `{"a":2}`, `{"bad":3}`, `{"a":2}`, `{}`,
	}, p.seen, "the schema alone has refused one")

	_, err = r.configs.Commit(t.Context(), "picky", configuration.Change{Value: json.RawMessage(`{"a":5}`)})
	require.NoError(t, err)
	write(`{"plugins": {"picky": {"config": {"a": 6}, "companies": {"globex": {"config": {"a": 7}}}}}}`)
	report, err := r.reload(t.Context())
	require.NoError(t, err)
	require.Equal(t, []admin.SettingChange{
		{Field: "plugins.picky.config", Plugin: "picky", Effect: admin.SettingHidden, Message: "what was set by 'airi-host config set picky' goes before it"},
		{Field: "plugins.picky.companies.globex.config", Plugin: "picky", Effect: admin.SettingApplied},
	}, report.Changes)
	require.JSONEq(t, `{"a": 7}`, string(p.configs.Value("picky", "globex")))
}

// A session goes on for the company that it began with, whatever the scope is by now.
func TestReloader_comparesForTheCompanyThatASessionBeganWith(t *testing.T) {
	p, r, write := pickyReloader(t)
	read := func(scope string, acme, globex int) {
		t.Helper()
		write(fmt.Sprintf(`{"scope": %q, "plugins": {"picky": {"companies": {"acme": {"config": {"a": %d}}, "globex": {"config": {"a": %d}}}}}}`, scope, acme, globex))
		report, err := r.reload(t.Context())
		require.NoError(t, err)
		require.Empty(t, report.Problems)
	}
	set := func(company string, a int) {
		t.Helper()
		_, err := r.configs.Commit(t.Context(), "picky", configuration.Change{Company: company, Value: fmt.Appendf(nil, `{"a":%d}`, a)})
		require.NoError(t, err)
	}
	read("acme", 1, 10)
	info, err := p.Start(t.Context(), p.m, p.configs.start(p.m))
	require.NoError(t, err)
	read("globex", 1, 10)
	read("globex", 1, 20)
	require.Equal(t, []string{`{"a":1}`}, p.seen, "the other company's is none of its")
	read("globex", 2, 20)
	require.Equal(t, []string{`{"a":1}`, `{"a":2}`}, p.seen)
	set("globex", 30)
	set("acme", 3)
	require.Equal(t, []string{`{"a":1}`, `{"a":2}`, `{"a":3}`}, p.seen)
	_, err = p.Start(t.Context(), p.m, p.configs.start(p.m))
	require.Error(t, err, "it runs")
	set("acme", 4)
	_, err = p.again(t.Context(), p.m, info.ID)
	require.NoError(t, err)
	set("acme", 5)
	set("globex", 40)
	require.Equal(t, []string{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":4}`, `{"a":30}`, `{"a":40}`}, p.seen, "it began anew, for the new scope")
}

// Settings are read by one at a time.
func TestReloader_waitsForItsTurn(t *testing.T) {
	_, r, write := pickyReloader(t)
	write(`{}`)
	r.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.reload(ctx)
	require.ErrorIs(t, err, context.Canceled)
	<-r.turn
	_, err = r.reload(t.Context())
	require.NoError(t, err)
}

func TestSettings_keepOnePluginsConfigurations(t *testing.T) {
	old := wantSettings(t, `{"plugins": {"a": {"config": {"x": 1}, "grants": []}}}`)
	next := wantSettings(t, `{"plugins": {"a": {"config": {"x": 2}}, "b": {"config": {"x": 3}}}}`)
	kept := next.keeping("a", old)
	require.JSONEq(t, `{"x": 1}`, string(kept.pluginConfig("a", "")))
	require.Nil(t, kept.Plugins["a"].Grants, "what else is new holds")
	require.JSONEq(t, `{"x": 3}`, string(kept.pluginConfig("b", "")))
	require.JSONEq(t, `{"x": 2}`, string(next.pluginConfig("a", "")))
	require.Equal(t, map[string]manifest.PluginSettings{"c": {}}, wantSettings(t, `{}`).keeping("c", old).Plugins)
}
