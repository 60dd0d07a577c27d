package main

import (
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/server"
	"github.com/airi-host/airi-host/transport/websocket"
)

// What the settings say of AIRI's peers on websockets, but for who may connect and for what
// takes a host.

func (s *settings) gateway() gateway.Options {
	w := s.Websocket
	return gateway.Options{
		Socket: s.sockets(), Server: s.airiServer(), Collecting: func() airi.Collecting { return s.now().collecting() }, LinkRecords: w.LinkFrames, LinkBytes: w.LinkBytes,
	}
}

// sockets bounds the connections.
func (s *settings) sockets() websocket.ServerOptions {
	w := s.Websocket
	o := websocket.ServerOptions{
		Options: websocket.Options{
			MaxRecord: w.FrameBytes, MaxEarlyRecord: w.EarlyFrameBytes, QueueRecords: w.QueueFrames, QueueBytes: w.QueueBytes,
			PingEvery: w.PingEvery, Silence: w.Silence, MessageTime: w.MessageTimeout, WriteTime: w.WriteTimeout,
			AuthTime: w.Authentication, CloseTime: w.CloseTimeout,
			PassControl: true, // they are signs of life to AIRI's server
		},
		MaxConns: w.Connections, MaxPerAddress: w.PerAddress, MaxEarly: w.Early, MaxQueued: w.QueuedTotal, UpgradeTime: w.UpgradeTimeout,
	}
	if w.RefuseSlow {
		o.SlowPeer = websocket.RefuseSlow
	}
	return o
}

// airiServer bounds what is kept of peers.
func (s *settings) airiServer() server.Options {
	w := s.Websocket
	return server.Options{
		Authentication: w.Authentication, Beat: w.Beat, SyncEvery: w.SyncEvery, Grace: w.Grace, Pong: w.Pong, NoBypass: w.NoBypass,
		Policy: server.Policy(w.Policy), Limits: s.airiLimits(),
	}
}

func (s *settings) airiLimits() server.Limits {
	l := s.Websocket.Limits
	return server.Limits{
		Conns: s.Websocket.Connections, Modules: l.Modules, Sessions: l.Sessions, Away: l.Away,
		Registry: l.RegistryBytes, Acted: l.ActedBytes, Announcement: l.AnnouncementBytes, Identity: l.IdentityBytes, Text: l.TextBytes,
		Aliases: l.Aliases, Consumers: l.Consumers, Sticky: l.Sticky,
		Terms: l.Terms, Depth: l.Depth, Destination: l.DestinationBytes,
	}
}
