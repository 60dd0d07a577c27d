package actors

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// served is a worker of a host that serves methods of its wire; plugins is what they
// are given.
func served(t *testing.T, methods map[string]protocol.Service, fields ...field) (*newborn, protocol.Plugins) {
	t.Helper()
	var given protocol.Plugins
	opts := Options{Methods: func(p protocol.Plugins) map[string]map[string]protocol.Service {
		given = p
		return map[string]map[string]protocol.Service{manifest.DialectPaperclip: methods}
	}}
	handles := func(method string) bool { return methods[method] != nil }
	return grown(t, opts, paperclip.Plugin{Company: "acme", Handles: handles}, `[]`, fields...), given
}

func echoCall(_ context.Context, c protocol.Call) (json.RawMessage, error) {
	return json.Marshal([]string{c.Key, string(c.Input), c.Caller})
}

func TestMethods_areForTheirOwnWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _ := served(t, map[string]protocol.Service{"entities.list": protocol.ServiceFunc(echoCall)})
		n.says(`{"jsonrpc":"2.0","id":"a","method":"entities.list","params":{"k":1}}`)
		n.hears(`{"jsonrpc":"2.0","id":"a","result":["entities.list","{\"k\":1}","far"]}`)
		n.says(`{"jsonrpc":"2.0","id":"b","method":"entities.upsert","params":{}}`)
		n.hears(`{"jsonrpc":"2.0","id":"b","error":{"code":-32601,"message":"Host does not handle method \"entities.upsert\""}}`)
		_, err := callKey(t, n.host, "entities.list")
		wantCode(t, err, protocol.CodeNotFound, "nobody offers entities.list")
		require.True(t, n.host.HandlesMethod(manifest.DialectPaperclip, "entities.list"))
		require.False(t, n.host.HandlesMethod(manifest.DialectPaperclip, "entities.upsert"))
		require.False(t, n.host.HandlesMethod(manifest.DialectAIRI, "entities.list"))
	})
}

func TestPlugins_invokeWithinTheGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, plugins := served(t, nil, func(m *manifest.Manifest) { m.Host.Invoke = []string{"tool:*"} })
		require.NoError(t, n.host.SetService(t.Context(), protocol.ServiceOffer{Key: "tool:own", Service: protocol.ServiceFunc(echoCall)}))
		got, err := plugins.Invoke(t.Context(), protocol.Call{Key: "tool:own", Caller: "far"})
		require.NoError(t, err)
		require.JSONEq(t, `["tool:own","","far"]`, string(got))
		_, err = plugins.Invoke(t.Context(), protocol.Call{Key: "data:own", Caller: "far"})
		wantCode(t, err, protocol.CodeDenied, "plugin far may not call data:own: its manifest's airi-host.invoke does not list it")
		_, err = plugins.Invoke(t.Context(), protocol.Call{Key: "tool:own", Caller: "stranger"})
		wantCode(t, err, protocol.CodeNotFound, "plugin stranger does not run")
	})
}

func TestPlugins_logIsThePluginsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, plugins := served(t, nil)
		plugins.Log("far").Info("hello")
		settle()
		lines := n.host.Logs("far", 1)
		require.Len(t, lines, 1)
		require.Equal(t, "hello", lines[0].Text)
		plugins.Log("stranger").Info("nobody reads it")
	})
}

// subscribes makes the worker hear events, with a filter or none.
func subscribes(t *testing.T, plugins protocol.Plugins, pattern string, filters ...protocol.EventFilter) error {
	t.Helper()
	metadata, err := json.Marshal(protocol.Subscription{Filters: filters})
	require.NoError(t, err)
	return plugins.Offer(t.Context(), "far", protocol.Offer{Key: "event:" + pattern, Invocable: true, Metadata: metadata})
}

// publish tells an event, and returns what the worker hears of it: the event's name
// and payload.
func (n *newborn) publish(plugins protocol.Plugins, name, payload, company string) {
	n.t.Helper()
	require.NoError(n.t, plugins.Publish(n.t.Context(), protocol.Call{
		Key: "event:" + name, Input: json.RawMessage(payload), Scope: company, Caller: "other",
	}))
}

// hearsNothing checks that nothing waits to be heard: what is asked next is next.
func (n *newborn) hearsNothing() {
	n.t.Helper()
	done := beginCall(n.t, n.host, protocol.Call{Key: "paperclip:health", Plugin: "far"})
	frame, err := n.conn.Recv()
	require.NoError(n.t, err)
	var asked struct {
		ID     json.RawMessage
		Method string
	}
	require.NoError(n.t, json.Unmarshal(frame, &asked))
	require.Equal(n.t, "health", asked.Method, "%s", frame)
	n.answers(string(asked.ID), "{}")
	<-done
}

// hearsEvent checks the next frame, an event.
func (n *newborn) hearsEvent(name, payload string) {
	n.t.Helper()
	frame, err := n.conn.Recv()
	require.NoError(n.t, err)
	var got struct {
		Method string
		Params struct {
			Event struct {
				EventType string
				Payload   json.RawMessage
			}
		}
	}
	require.NoError(n.t, json.Unmarshal(frame, &got))
	require.Equal(n.t, "onEvent", got.Method)
	require.Equal(n.t, name, got.Params.Event.EventType)
	require.Equal(n.t, payload, string(got.Params.Event.Payload))
}

func TestEvents_areHeardOnceByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, plugins := served(t, nil)
		for _, pattern := range []string{"issue.created", "issue.*", "issue.*", "plugin.a.*"} {
			require.NoError(t, subscribes(t, plugins, pattern))
		}
		n.publish(plugins, "issue.created", "1", "")
		n.publish(plugins, "issues.created", "2", "")
		n.publish(plugins, "issue", "3", "")
		n.publish(plugins, "issue.deep.down", "4", "")
		n.publish(plugins, "plugin.a.b", "5", "")
		n.hearsEvent("issue.created", "1")
		n.hearsEvent("issue.deep.down", "4")
		n.hearsEvent("plugin.a.b", "5")
		n.hearsNothing()
	})
}

func TestEvents_areFiltered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, plugins := served(t, nil)
		require.NoError(t, subscribes(t, plugins, "x", protocol.EventFilter{CompanyID: "acme", ProjectID: "p"}))
		require.NoError(t, subscribes(t, plugins, "x", protocol.EventFilter{AgentID: "a"}))
		n.publish(plugins, "x", `{"projectId":"p"}`, "acme")
		n.publish(plugins, "x", `{"projectId":"p","n":2}`, "other")
		n.publish(plugins, "x", `{"projectId":7,"n":3}`, "acme")
		n.publish(plugins, "x", `{"agentId":"a","n":4}`, "")
		n.publish(plugins, "x", `"text"`, "acme")
		n.hearsEvent("x", `{"projectId":"p"}`)
		n.hearsEvent("x", `{"agentId":"a","n":4}`)
		n.hearsNothing()
		require.NoError(t, subscribes(t, plugins, "x"))
		n.publish(plugins, "x", `"text"`, "other")
		n.hearsEvent("x", `"text"`)
	})
}

func TestEvents_filtersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, plugins := served(t, nil)
		for i := range 2 * maxFilters {
			require.NoError(t, subscribes(t, plugins, "x", protocol.EventFilter{AgentID: strconv.Itoa(i / 2)}))
		}
		wantCode(t, subscribes(t, plugins, "x", protocol.EventFilter{AgentID: "a"}), protocol.CodeOverloaded,
			"plugin far has 256 filtered subscriptions to event:x, the limit: subscribe without a filter")
		require.NoError(t, subscribes(t, plugins, "x"))
		err := plugins.Offer(t.Context(), "far", protocol.Offer{Key: "event:y", Metadata: json.RawMessage(`[]`)})
		require.ErrorContains(t, err, "the metadata of event:y: expected a subscription")
		require.Error(t, plugins.Publish(t.Context(), protocol.Call{Key: "event:"}))
	})
}

func TestEvents_subscriptionsGoWithTheirSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, plugins := served(t, nil)
		require.NoError(t, subscribes(t, plugins, "x"))
		go func() { _, _ = n.host.Stop(context.Background(), "plugin-session-0") }()
		settle()
		n.hears(`{"jsonrpc":"2.0","id":2,"method":"shutdown","params":{}}`)
		n.publish(plugins, "x", "1", "")
		n.answers("2", "null")
		wantOffers(t, n.host)
		require.EqualError(t, subscribes(t, plugins, "x"), "plugin far does not run")
	})
}
