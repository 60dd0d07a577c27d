package admin

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
)

func TestEventFilter_wants(t *testing.T) {
	of := actors.Origin{Plugin: "bot"}
	for _, c := range []struct {
		name   string
		filter eventFilter
		event  actors.Event
		want   bool
	}{
		{"another kind", eventFilter{kinds: actors.KindCall}, actors.Channel{Origin: of}, false},
		{"any plugin", eventFilter{kinds: actors.KindChannel}, actors.Channel{Origin: of}, true},
		{"the plugin", eventFilter{kinds: actors.KindPhase, plugin: "bot"}, actors.PhaseChanged{Origin: of}, true},
		{"another plugin", eventFilter{kinds: actors.KindPhase, plugin: "cat"}, actors.PhaseChanged{Origin: of}, false},
		{"the type", eventFilter{kinds: actors.KindChannel, ofType: "spark:notify"}, actors.Channel{Origin: of, Name: "spark:notify"}, true},
		{"another type", eventFilter{kinds: actors.KindChannel, ofType: "spark:notify"}, actors.Channel{Origin: of, Name: "spark:notify:x"}, false},
		{"a beginning", eventFilter{kinds: actors.KindChannel, ofType: "spark:*"}, actors.Channel{Origin: of, Name: "spark:notify"}, true},
		{"another beginning", eventFilter{kinds: actors.KindChannel, ofType: "spark:*"}, actors.Channel{Origin: of, Name: "chat:spark:x"}, false},
		{"a type is of channels", eventFilter{kinds: actors.KindCall, ofType: "spark:*"}, actors.Called{Origin: of}, true},
		{"the company", eventFilter{kinds: actors.KindCall, company: "acme"}, actors.Called{Origin: of, Scope: "acme"}, true},
		{"another company", eventFilter{kinds: actors.KindStream, company: "acme"}, actors.Streamed{Origin: of}, false},
	} {
		require.Equal(t, c.want, c.filter.wants(c.event), c.name)
	}
}

func TestEvents_ofOnePlugin(t *testing.T) {
	r := start(t, Options{})
	events := func(wanted EventsWanted) (n int) {
		require.NoError(t, r.EventsOf(t.Context(), wanted, 0, false, func([]byte) error { n++; return nil }))
		return n
	}
	wantEventually(t, func() bool { return events(EventsWanted{Kinds: "phase", Plugin: "talker"}) > 0 }, "there are its phases")
	require.Zero(t, events(EventsWanted{Plugin: "nobody"}))
}

// What goes over channels may hold secrets: it is not for every user of the machine.
func TestEvents_ofChannelsAreForTheOperator(t *testing.T) {
	const path = pathAPI + "/events?kind=phase,channel"
	open := startGuarded(t, Options{}, Guard{Loopback: true})
	status, body := open.get(t, path)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, "airi-host events, which asks through the control socket")
	status, _ = open.get(t, pathAPI+"/events?kind=phase")
	require.Equal(t, http.StatusOK, status)
	closed := startGuarded(t, Options{}, Guard{Loopback: true, Token: "0123456789abcdef"})
	status, _ = closed.get(t, path, "Authorization", "Bearer 0123456789abcdef")
	require.Equal(t, http.StatusOK, status)
}
