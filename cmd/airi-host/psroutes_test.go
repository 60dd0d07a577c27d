package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/protocol"
)

func TestPs_notesOpenRoutes(t *testing.T) {
	one := admin.PluginInfo{SessionInfo: actors.SessionInfo{Waits: []string{"tool:a"}}}
	for note, routes := range map[string]map[protocol.RouteKind]actors.RouteCounts{
		"waits for tool:a":                {protocol.RoutePTY: {Opened: 3, Lost: 3}},
		"waits for tool:a; 1 open route":  {protocol.RoutePTY: {Open: 1}},
		"waits for tool:a; 3 open routes": {protocol.RoutePTY: {Open: 1}, protocol.RouteDuplex: {Open: 2}},
	} {
		one.Routes = routes
		require.Equal(t, note, (&cli{}).notesOf(one, time.Now()))
	}
}
