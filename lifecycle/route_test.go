package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoute_stories(t *testing.T) {
	tests := []story{
		{
			"the peer ends it",
			[]Event{RouteAsk, RouteConfirmed, RoutePeerEnded, RouteDrained},
			[]State{RouteOpening, RouteOpen, RouteClosing, RouteClosed},
		},
		{
			"the host ends it, and the peer at the same time",
			[]Event{RouteAsk, RouteConfirmed, RouteEnd, RoutePeerEnded, RouteEnd, RouteDrained},
			[]State{RouteOpening, RouteOpen, RouteClosing, RouteClosing, RouteClosing, RouteClosed},
		},
		{
			"the peer refuses",
			[]Event{RouteAsk, RouteRefused},
			[]State{RouteOpening, RouteClosed},
		},
		{
			"the peer has ended before it answers",
			[]Event{RouteAsk, RoutePeerEnded, RouteConfirmed, RouteDrained},
			[]State{RouteOpening, RouteClosing, RouteClosing, RouteClosed},
		},
		{
			"the host changes its mind, then the peer refuses",
			[]Event{RouteAsk, RouteEnd, RouteRefused},
			[]State{RouteOpening, RouteClosing, RouteClosed},
		},
		{
			"never asked for",
			[]Event{RouteEnd},
			[]State{RouteClosed},
		},
		{
			"its call is answered before it was needed",
			[]Event{RoutePeerEnded},
			[]State{RouteClosed},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantStory(t, Route, tt) })
	}
}

func TestRoute_failsFromEveryState(t *testing.T) {
	for _, state := range Route.States() {
		require.Equal(t, state != RouteClosed, Route.Can(state, RouteFail), state)
		if state == RouteClosed {
			continue
		}
		closed, err := Route.Fire("r-1", state, RouteFail)
		require.NoError(t, err)
		require.Equal(t, RouteClosed, closed)
	}
}

func TestRoute_drainsOnlyOnceItIsClosing(t *testing.T) {
	for _, state := range Route.States() {
		require.Equal(t, state == RouteClosing, Route.Can(state, RouteDrained), state)
	}
}
