package peers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// What stands in for secrets: no log may have them.
const (
	secretOfEnv  = "hush-of-the-environment"
	secretOfFile = "hush-of-the-file"
)

// served is what the tests of services have in common.
type served struct {
	*home
	// open may be fetched from, shut may not.
	open, shut *httptest.Server
}

// A host with the kitchen and the waiter is started once for all that they ask of it.
func TestHost_servesWorkers(t *testing.T) {
	t.Setenv("AIRI_PEERS_SECRET", secretOfEnv)
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(secretOfFile+"\n"), 0o600))
	s := served{}
	s.open = httptest.NewServer(http.HandlerFunc(s.answer))
	s.shut = httptest.NewServer(http.HandlerFunc(s.answer))
	s.open.Config.Handler = http.HandlerFunc(s.answer) // knows both
	t.Cleanup(s.open.Close)
	t.Cleanup(s.shut.Close)
	s.home = openHome(t, Paperclip916, `{
		"secrets": {
			"env": {"env": "AIRI_PEERS_SECRET"}, "file": {"file": "`+file+`"}, "none": {"env": "AIRI_PEERS_NOTHING"},
			"narrow": {"env": "AIRI_PEERS_SECRET", "companies": ["globex"]}
		},
		"http": {"allow": ["`+strings.TrimPrefix(s.open.URL, "http://")+`"]},
		"plugins": {
			"waiter": {"grants": ["events.subscribe", "issues.read", "plugin.state.read"]},
			"kitchen": {"config": {"greeting": "Moin"}, "companies": {"globex": {"config": {"greeting": "Hey"}}}}
		}
	}`, func(o *actors.Options) { o.LogEvents = actors.KindsUsual | actors.KindChannel | actors.KindWire })
	s.start(t, "kitchen", Changes{})
	s.start(t, "waiter", Changes{})
	for name, run := range map[string]func(*testing.T, served){
		"configuration": servesConfiguration, "state": keepsState, "state as written": keepsStateAsWritten, "events": refusesEvents,
		"log": keepsLevels, "measurements": countsMeasurements, "fetching": fetches, "secrets": keepsSecrets, "refusals": refuses,
		"the embedder's own": servesTheEmbeddersOwn,
	} {
		t.Run(name, func(t *testing.T) { run(t, s) })
	}
	require.NotContains(t, s.journal.String(), secretOfEnv)
	require.NotContains(t, s.journal.String(), secretOfFile)
}

func servesConfiguration(t *testing.T, s served) {
	t.Helper()
	s.wantActs(t, `{"greeting":"Moin"}`, "kitchen", "config", "acme", `{}`)
	s.wantActs(t, `{"greeting":"Hey"}`, "kitchen", "config", "globex", `{}`)
	_, err := s.acts(t, "kitchen", "config", "", `{}`)
	wantPeerError(t, err, "-32005", `Plugin "kitchen" is not allowed to perform "config.get": company context is required`)
}

func keepsState(t *testing.T, s served) {
	t.Helper()
	at := func(kind, id, namespace string) string {
		where := map[string]string{"scopeKind": kind, "stateKey": "k"}
		if id != "" {
			where["scopeId"] = id
		}
		if namespace != "" {
			where["namespace"] = namespace
		}
		text, err := json.Marshal(where)
		require.NoError(t, err)
		return `{"where":` + string(text)
	}
	var places []string
	for kind, id := range map[string]string{
		"instance": "", "company": "acme", "project": "p", "project_workspace": "p", "agent": "p", "issue": "p", "goal": "p", "run": "p",
	} {
		places = append(places, at(kind, id, ""), at(kind, id, "other"))
	}
	for i, place := range places {
		s.wantActs(t, `null`, "kitchen", "state.get", "acme", place+`}`)
		s.wantActs(t, `null`, "kitchen", "state.set", "acme", place+`,"value":{"n":`+jsonNumber(i)+`}}`)
	}
	for i, place := range places {
		s.wantActs(t, `{"n":`+jsonNumber(i)+`}`, "kitchen", "state.get", "acme", place+`}`)
		s.wantActs(t, `null`, "kitchen", "state.delete", "acme", place+`}`)
		s.wantActs(t, `null`, "kitchen", "state.get", "acme", place+`}`)
	}
	_, err := s.acts(t, "kitchen", "state.get", "acme", at("planet", "p", "")+`}`)
	wantPeerError(t, err, "-32603", "plugin kitchen: state.get: scopeKind: expected one of "+
		"instance, company, project, project_workspace, agent, issue, goal, run")
}

func jsonNumber(n int) string {
	text, _ := json.Marshal(n) // a number always encodes
	return string(text)
}

// What JavaScript can hold comes back as it was written: a lone half of a character,
// text that Go escapes, numbers as JavaScript writes them.
func keepsStateAsWritten(t *testing.T, s served) {
	t.Helper()
	const where = `{"where":{"scopeKind":"instance","stateKey":"raw"}`
	s.wantActs(t, `null`, "kitchen", "state.set", "", where+`,"value":{"b":"\ud800<&>\u2028é","a":[1e-7,-0,9007199254740993,1.50]}}`)
	kept, err := s.acts(t, "kitchen", "state.get", "", where+`}`)
	require.NoError(t, err)
	require.Equal(t, `{"b":"\ud800<&>`+"\u2028"+`é","a":[1e-7,0,9007199254740992,1.5]}`, kept)
}

func refusesEvents(t *testing.T, s served) {
	t.Helper()
	_, err := s.acts(t, "kitchen", "emit", "acme", `{"name":"plugin.kitchen.x","companyId":"acme"}`)
	wantPeerError(t, err, "-32603", `events.emit: name: must not begin with "plugin.": emit the bare name, e.g. "sync-done"; `+
		`the host puts "plugin.kitchen." before it`)
}

func keepsLevels(t *testing.T, s served) {
	t.Helper()
	for name, level := range map[string]string{"debug": "DEBUG", "info": "INFO", "warn": "WARN", "error": "ERROR"} {
		s.wantActs(t, `null`, "kitchen", "log", "acme", `{"level":"`+name+`","message":"at `+name+`","meta":{"n":1,"s":"x"}}`)
		s.journal.wants(t, "kitchen", level, "at "+name+` {"n":1,"s":"x"}`)
	}
	s.journal.wants(t, "kitchen", "INFO", `the kitchen is open {"id":"kitchen"}`)
}

func countsMeasurements(t *testing.T, s served) {
	t.Helper()
	s.wantActs(t, `null`, "kitchen", "metric", "acme", `{"name":"heat","value":2.5,"tags":{"hob":"left"}}`)
	s.wantActs(t, `null`, "kitchen", "metric", "acme", `{"name":"heat","value":1.5,"tags":{"hob":"left"}}`)
	s.wantActs(t, `null`, "kitchen", "track", "globex", `{"name":"dish-served","dimensions":{"a":1}}`)
	_, err := s.acts(t, "kitchen", "track", "acme", `{"name":"No slug"}`)
	wantPeerError(t, err, "-32603", "plugin kitchen: telemetry.track: eventName: "+
		`Plugin telemetry event names must be lowercase slugs using letters, numbers, "_" or "-", at most 500 of them`)
	all := s.metrics.Snapshot().Series
	require.Len(t, all, 2)
	for i := range all {
		all[i].At = all[0].At
	}
	require.Equal(t, services.Series{
		Plugin: "kitchen", Company: "acme", Kind: services.SeriesMetric, Name: "heat", Tags: map[string]string{"hob": "left"},
		Count: 2, Sum: 4, Min: 1.5, Max: 2.5, Last: 1.5, At: all[0].At,
	}, all[0])
	require.Equal(t, "globex dish-served 1", all[1].Company+" "+all[1].Name+" "+jsonNumber(int(all[1].Count)))
}

// answer is what both web servers say; /away and /out redirect.
func (s *served) answer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/away":
		http.Redirect(w, r, "/here?from=away", http.StatusFound)
	case "/out":
		http.Redirect(w, r, s.shut.URL+"/here", http.StatusFound)
	default:
		w.Header().Set("X-Method", r.Method)
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(r.URL.String() + " " + r.Header.Get("X-Mine")))
	}
}

func fetches(t *testing.T, s served) {
	t.Helper()
	type answer struct {
		Status  int
		Headers map[string]string
		Body    string
	}
	fetch := func(url, init string) (got answer, err error) {
		t.Helper()
		result, err := s.acts(t, "kitchen", "fetch", "acme", `{"url":"`+url+`","init":`+init+`}`)
		if err == nil {
			require.NoError(t, json.Unmarshal([]byte(result), &got))
		}
		return got, err
	}
	got, err := fetch(s.open.URL+"/a?b=c", `{"method":"PUT","headers":{"X-Mine":"yes"},"body":"text"}`)
	require.NoError(t, err)
	require.Equal(t, "/a?b=c yes PUT", got.Body+" "+got.Headers["x-method"])
	require.Equal(t, http.StatusTeapot, got.Status)
	got, err = fetch(s.open.URL+"/away", `{}`)
	require.NoError(t, err)
	require.Equal(t, "/here?from=away ", got.Body)

	for _, url := range []string{s.shut.URL + "/private?token=" + secretOfEnv, s.open.URL + "/out"} {
		_, err = fetch(url, `{}`)
		var failed *protocol.PeerError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, "-32001", string(failed.Code), failed.Message)
		require.Regexp(t, `^plugin kitchen: http.fetch: 127\.0\.0\.1`, failed.Message)
		require.NotContains(t, failed.Message, secretOfEnv)
	}
	_, err = fetch("file:///etc/passwd", `{}`)
	wantPeerError(t, err, "-32603", "plugin kitchen: http.fetch: url: expected an absolute URL with http: or https:")
}

func keepsSecrets(t *testing.T, s served) {
	t.Helper()
	resolve := func(company, ref string) (string, error) {
		t.Helper()
		return s.acts(t, "kitchen", "secret", company, `{"ref":`+ref+`}`)
	}
	for id, want := range map[string]string{"env": secretOfEnv, "file": secretOfFile} {
		got, err := resolve("acme", `{"type":"secret_ref","secretId":"`+id+`","version":"latest"}`)
		require.NoError(t, err)
		require.JSONEq(t, `"`+want+`"`, got)
	}
	got, err := resolve("globex", `{"type":"secret_ref","secretId":"narrow"}`)
	require.NoError(t, err)
	require.JSONEq(t, `"`+secretOfEnv+`"`, got)
	_, err = resolve("acme", `{"type":"secret_ref","secretId":"narrow"}`)
	wantPeerError(t, err, "-32001", `plugin kitchen: secrets.resolve: secret "narrow" is for other companies: whoever runs the host adds "acme" to its companies`)
	_, err = resolve("acme", `"`+secretOfEnv+`"`)
	wantPeerError(t, err, "-32603", `plugin kitchen: secrets.resolve: secretRef: expected { type: "secret_ref", secretId, version? }, got a string`)
	_, err = resolve("acme", `{"type":"secret_ref","secretId":"none"}`)
	wantPeerError(t, err, "-32603", `plugin kitchen: secrets.resolve: secret "none": variable AIRI_PEERS_NOTHING is empty or not there: set it for the host`)
}

// A refusal has the words of Paperclip's own host.
func refuses(t *testing.T, s served) {
	t.Helper()
	const inScope = `requested company "another" but the current invocation is scoped to company "acme"`
	s.wantActs(t, `[
		{"code":-32601,"message":"Host does not handle method \"projects.list\""},
		{"code":-32601,"message":"Host does not handle method \"activity.log\""},
		{"code":-32001,"message":"Plugin \"waiter\" is missing required capability \"metrics.write\" for method \"metrics.write\""},
		{"code":-32005,"message":`+quoted(t, `Plugin "waiter" is not allowed to perform "state.get": `+inScope)+`},
		{"code":-32005,"message":`+quoted(t, `Plugin "waiter" is not allowed to perform "config.get": `+inScope)+`}
	]`, "waiter", "unserved", "acme", `{}`)
	_, err := s.acts(t, "waiter", "fetch", "acme", `{"url":"`+s.open.URL+`"}`)
	wantPeerError(t, err, "-32001", `Plugin "waiter" is missing required capability "http.outbound" for method "http.fetch"`) // asked for, and not given
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	data, err := json.Marshal(text)
	require.NoError(t, err)
	return string(data)
}

func servesTheEmbeddersOwn(t *testing.T, s served) {
	t.Helper()
	s.wantActs(t, `[{"id":"i","companyId":"acme","askedBy":"waiter"}]`, "waiter", "issues", "acme", `{}`)
	_, err := s.acts(t, "waiter", "issues", "", `{"companyId":"acme"}`)
	wantPeerError(t, err, "-32005", `Plugin "waiter" is not allowed to perform "issues.list": company context is required`)
}
