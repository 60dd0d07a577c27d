package manifest

import "time"

// RouteSettings bound the routes of all plugins: pseudo-terminals, channels, and what is
// logged and streamed.
type RouteSettings struct {
	// Open is how many pseudo-terminals and channels all plugins together may have.
	Open int
	// Chunks and Bytes are what may wait for whoever reads one of them.
	Chunks, Bytes int
	// ExitTimeout is for how long what comes is still taken when the program has ended.
	ExitTimeout time.Duration
	// Log is about what a command logs, Streams about event streams.
	Log     RouteLogSettings
	Streams RouteStreamSettings
	// PTY and Duplex bound each pseudo-terminal and each channel, Sessions what is
	// remembered of the names that a plugin gives to them.
	PTY, Duplex RouteBounds
	Sessions    RouteSessionSettings
}

// RouteLogSettings bound what one command logs: a chunk, and all of it, in UTF-16 units.
type RouteLogSettings struct{ Chunk, Total int }

// RouteStreamSettings bound the event streams of a plugin: how many are open, and the
// bytes of a name.
type RouteStreamSettings struct{ Open, Name int }

// RouteSessionSettings bound what is remembered of a plugin's names for its routes: the
// bytes of one, and how many of those that are over.
type RouteSessionSettings struct{ Name, Past int }

// RouteBounds bound one route; the dialect says in which units.
type RouteBounds struct {
	// Chunk and Write are the longest of each, Total is what may come in all.
	Chunk, Write, Total int
	// Held and HeldChunks are what is kept until there is a reader.
	Held, HeldChunks int
	// Writes and Unanswered are what may wait for the plugin: so many writes and bytes.
	Writes, Unanswered int
	// Faults is how many malformed chunks may come.
	Faults int
	// Life is how long it may be open; OpenTimeout, CloseTimeout and AnswerTimeout are how
	// long the plugin may take for each.
	Life, OpenTimeout, CloseTimeout, AnswerTimeout time.Duration
}

var routesShape = shape[RouteSettings]{fields: []field[RouteSettings]{
	{"open", "", count(func(s *RouteSettings) *int { return &s.Open })},
	{"chunks", "", count(func(s *RouteSettings) *int { return &s.Chunks })},
	{"bytes", "", bytesOf(func(s *RouteSettings) *int { return &s.Bytes })},
	{"exitTimeout", "", timeout(func(s *RouteSettings) *time.Duration { return &s.ExitTimeout })},
	{"log", "", nested(func(s *RouteSettings) *RouteLogSettings { return &s.Log }, &routeLogShape)},
	{"streams", "", nested(func(s *RouteSettings) *RouteStreamSettings { return &s.Streams }, &routeStreamsShape)},
	{"pty", "", nested(func(s *RouteSettings) *RouteBounds { return &s.PTY }, &routeShape)},
	{"duplex", "", nested(func(s *RouteSettings) *RouteBounds { return &s.Duplex }, &routeShape)},
	{"sessions", "", nested(func(s *RouteSettings) *RouteSessionSettings { return &s.Sessions }, &routeSessionsShape)},
}}

var routeLogShape = shape[RouteLogSettings]{fields: []field[RouteLogSettings]{
	{"chunk", "", bytesOf(func(s *RouteLogSettings) *int { return &s.Chunk })},
	{"total", "", bytesOf(func(s *RouteLogSettings) *int { return &s.Total })},
}}

var routeStreamsShape = shape[RouteStreamSettings]{fields: []field[RouteStreamSettings]{
	{"open", "", count(func(s *RouteStreamSettings) *int { return &s.Open })},
	{"name", "", count(func(s *RouteStreamSettings) *int { return &s.Name })},
}}

var routeSessionsShape = shape[RouteSessionSettings]{fields: []field[RouteSessionSettings]{
	{"name", "", count(func(s *RouteSessionSettings) *int { return &s.Name })},
	{"past", "", count(func(s *RouteSessionSettings) *int { return &s.Past })},
}}

var routeShape = shape[RouteBounds]{fields: []field[RouteBounds]{
	{"chunk", "", bytesOf(func(s *RouteBounds) *int { return &s.Chunk })},
	{"write", "", bytesOf(func(s *RouteBounds) *int { return &s.Write })},
	{"total", "", bytesOf(func(s *RouteBounds) *int { return &s.Total })},
	{"held", "", bytesOf(func(s *RouteBounds) *int { return &s.Held })},
	{"heldChunks", "", count(func(s *RouteBounds) *int { return &s.HeldChunks })},
	{"writes", "", count(func(s *RouteBounds) *int { return &s.Writes })},
	{"unanswered", "", bytesOf(func(s *RouteBounds) *int { return &s.Unanswered })},
	{"faults", "", count(func(s *RouteBounds) *int { return &s.Faults })},
	{"life", "", timeout(func(s *RouteBounds) *time.Duration { return &s.Life })},
	{"openTimeout", "", timeout(func(s *RouteBounds) *time.Duration { return &s.OpenTimeout })},
	{"closeTimeout", "", timeout(func(s *RouteBounds) *time.Duration { return &s.CloseTimeout })},
	{"answerTimeout", "", timeout(func(s *RouteBounds) *time.Duration { return &s.AnswerTimeout })},
}}
