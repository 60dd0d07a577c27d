package services

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestEvents_anEmittedOneHasItsPluginsName(t *testing.T) {
	p := &plugins{}
	w := newWorker(t, p, Options{})
	require.Equal(t, `null`, w.call("events.emit", `{"name":"sync-done","companyId":"c2","payload":{ "a":1 }}`))
	w.call("events.emit", `{"name":"bare"}`)
	require.Equal(t, []protocol.Call{
		{Key: "event:plugin.demo.sync-done", Input: json.RawMessage(`{ "a":1 }`), Scope: "c2", Caller: "demo", Trace: "00-aa-bb-01"},
		{Key: "event:plugin.demo.bare", Scope: "c1", Caller: "demo", Trace: "00-aa-bb-01"},
	}, p.published)
}

func TestEvents_aFailureToPublishIsPassedOn(t *testing.T) {
	full := errors.New("no room")
	_, err := newWorker(t, &plugins{err: full}, Options{}).try("events.emit", `{"name":"n"}`)
	require.ErrorIs(t, err, full)
}

func TestEvents_refusesNamesThatAreNotItsOwn(t *testing.T) {
	p := &plugins{}
	w := newWorker(t, p, Options{})
	for params, words := range map[string]string{
		`{}`:                           "name: expected a string that is not blank, got nothing",
		`{"name":" "}`:                 "name: expected a string that is not blank, got a blank one",
		`{"name":"plugin.other.n"}`:    `name: must not begin with "plugin."`,
		`{"name":"a.*"}`:               `name: must not contain "*"`,
		`{"name":"a\u0000"}`:           "name: capability key",
		`{"name":"` + long(600) + `"}`: "at most 512 are allowed",
	} {
		w.wantRefused(protocol.CodeInvalid, "events.emit", params, words)
	}
	w.scope = ""
	w.wantRefused(protocol.CodeInvalid, "events.emit", `{"name":"n"}`, "companyId: expected a company")
	require.Empty(t, p.published)
}

func long(n int) string { return strings.Repeat("n", n) }

func TestEvents_subscriptionsBecomeOffersOfThePlugin(t *testing.T) {
	p := &plugins{}
	w := newWorker(t, p, Options{})
	for _, params := range []string{
		`{"eventPattern":"issue.created"}`, `{"eventPattern":"issue.*","filter":{"unknown":1,"agentId":null}}`,
		`{"eventPattern":"issue.*","filter":{"companyId":" c1 ","projectId":"p","agentId":"a","other":1}}`,
	} {
		require.Equal(t, `null`, w.call("events.subscribe", params))
	}
	require.Equal(t, []protocol.Offer{
		{Key: "event:issue.created", Invocable: true},
		{Key: "event:issue.*", Invocable: true},
		{Key: "event:issue.*", Invocable: true, Metadata: json.RawMessage(`{"filters":[{"companyId":"c1","projectId":"p","agentId":"a"}]}`)},
	}, p.offered)
	require.Equal(t, []string{"demo", "demo", "demo"}, p.offeredTo)
}

func TestEvents_aSubscriptionThatIsRefused(t *testing.T) {
	gone := errors.New("it does not run")
	_, err := newWorker(t, &plugins{onOffer: func(context.Context) error { return gone }}, Options{}).
		try("events.subscribe", `{"eventPattern":"a"}`)
	require.ErrorIs(t, err, gone)
}

func TestEvents_refusesWhatIsNoPattern(t *testing.T) {
	p := &plugins{}
	w := newWorker(t, p, Options{})
	for _, pattern := range []string{"*", ".*", "a*", "*.a", "a.*.*", "a.*.b", "a**"} {
		w.wantRefused(protocol.CodeInvalid, "events.subscribe", `{"eventPattern":"`+pattern+`"}`, `expected an event's name, or one that ends in ".*"`)
	}
	for params, words := range map[string]string{
		`{"filter":null}`:                                  "eventPattern: expected a string that is not blank, got nothing",
		`{"eventPattern":"` + long(600) + `"}`:             "at most 512 are allowed",
		`{"eventPattern":"a","filter":[]}`:                 "filter: expected an object, got an array",
		`{"eventPattern":"a","filter":{"agentId":7}}`:      "filter.agentId: expected a string that is not blank, got a number",
		`{"eventPattern":"a","filter":{"projectId":""}}`:   "filter.projectId: expected a string that is not blank, got a blank one",
		`{"eventPattern":"a","filter":{"companyId":"\t"}}`: "filter.companyId: expected a string that is not blank",
	} {
		w.wantRefused(protocol.CodeInvalid, "events.subscribe", params, words)
	}
	require.Empty(t, p.offered)
}
