package main

import (
	"github.com/airi-host/airi-host/manifest"
	paperclipwire "github.com/airi-host/airi-host/protocol/paperclip"
)

// routes are the bounds of plugins' routes.
func (s *settings) routes() paperclipwire.Limits {
	r := s.Routes
	return paperclipwire.Limits{
		Log:     paperclipwire.LogLimits{Chunk: r.Log.Chunk, Total: r.Log.Total},
		Stream:  paperclipwire.StreamLimits{Open: r.Streams.Open, Name: r.Streams.Name},
		PTY:     routeLimits(r.PTY),
		Duplex:  routeLimits(r.Duplex),
		Session: paperclipwire.SessionLimits{Name: r.Sessions.Name, Past: r.Sessions.Past},
	}
}

func routeLimits(b manifest.RouteBounds) paperclipwire.RouteLimits {
	return paperclipwire.RouteLimits{
		Chunk: b.Chunk, Write: b.Write, Total: b.Total, Held: b.Held, HeldChunks: b.HeldChunks, Writes: b.Writes, Unanswered: b.Unanswered,
		Faults: b.Faults, Life: b.Life, Open: b.OpenTimeout, Close: b.CloseTimeout, Answer: b.AnswerTimeout,
	}
}
