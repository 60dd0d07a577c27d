package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

func TestServePaperclip_tellsEventsInOrder(t *testing.T) {
	heard := make(chan string, 16)
	hear := func(as string, err error) func(context.Context, any) error {
		return func(_ context.Context, payload any) error {
			heard <- as
			if payload == nil {
				panic("no payload")
			}
			return err
		}
	}
	p := plugin.Define("listener")
	plugin.On(p, "issue.created", hear("exact", errors.New("deaf")))
	plugin.On(p, "issue.*", hear("pattern", nil))
	plugin.On(p, "issues", hear("another", nil))
	p.OnSetup(func(_ context.Context, s *plugin.Session) error {
		plugin.On(s, "issue.*", hear("pattern again", nil))
		plugin.On(s, "issue.created.*", hear("deeper", nil))
		return nil
	})
	h := newHost(t)
	subscribed := make(chan string, 8)
	h.services["events.subscribe"] = func(c protocol.Call) (json.RawMessage, error) {
		subscribed <- string(c.Input)
		return nil, nil
	}
	h.serve(t.Context(), p, plugin.PaperclipOptions{}).ready()
	patterns := map[string]bool{}
	for range 5 {
		patterns[<-subscribed] = true
	}
	require.Len(t, patterns, 4, "one of them was asked for twice")

	require.NoError(t, (<-h.begin("event:issue.created", `1`)).Err)
	require.NoError(t, (<-h.begin("event:issue.created.later", `1`)).Err)
	for _, want := range []string{"exact", "pattern again", "pattern again", "deeper"} {
		require.Equal(t, want, <-heard)
	}
	line := h.wantLog("an event handler failed")
	require.JSONEq(t, `{"handler":"event:issue.created","event":"issue.created","error":"deaf"}`, string(line.Meta))

	h.want("paperclip:onEvent", `{"event":{"eventType":"issue.x"}}`, `null`)
	require.Contains(t, string(h.wantLog("an event handler failed").Meta), "plugin tested: the handler of event:issue.* panicked: no payload")
}

func TestServePaperclip_warnsOfARefusedSubscription(t *testing.T) {
	p := plugin.Define("listener")
	plugin.On(p, "e", func(context.Context, any) error { return nil })
	h := newHost(t)
	delete(h.services, "events.subscribe")
	h.serve(t.Context(), p, plugin.PaperclipOptions{}).ready()
	line := h.wantLog("the host refused a subscription")
	require.JSONEq(t, `{"event":"e","error":"Host does not handle method \"events.subscribe\""}`, string(line.Meta))
}

func TestServePaperclip_putsOtherNotificationsOnTheChannel(t *testing.T) {
	heard := make(chan protocol.Event, 1)
	p := plugin.Define("listener").OnInit(func(_ context.Context, s *plugin.Session) error {
		s.Listen(func(e protocol.Event) { heard <- e })
		return nil
	})
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{}).ready()
	h.step(protocol.Emit{Event: protocol.Event{Name: "agents.sessions.event", Payload: json.RawMessage(`{"seq":1}`)}})
	require.Equal(t, protocol.Event{Name: "agents.sessions.event", Payload: json.RawMessage(`{"seq":1}`)}, <-heard)
}
