package manifest

import "time"

// WebsocketSettings are about AIRI's peers on websockets, at /ws where the host listens.
// Who may connect is said by [ListenSettings].
type WebsocketSettings struct {
	// Disabled serves none.
	Disabled bool
	// Invoke are the keys of what others offer that a peer's plugin may call, with "*" for
	// any run of characters: nil for all. What is granted to a plugin by its name goes first.
	Invoke []string

	// FrameBytes is the largest frame, EarlyFrameBytes before a peer is authenticated; at
	// most [MaxFrameBytes].
	FrameBytes, EarlyFrameBytes int
	// QueueFrames and QueueBytes may wait for one peer, QueuedTotal bytes for all of them.
	QueueFrames, QueueBytes, QueuedTotal int
	// RefuseSlow leaves a peer connected whose queue is full: it misses what comes.
	RefuseSlow bool
	// PingEvery is how long a peer may say nothing before it is pinged, Silence before it
	// is closed.
	PingEvery, Silence time.Duration
	// MessageTimeout is for one message, from its first frame, WriteTimeout for 64 KiB that
	// the peer is to read, CloseTimeout for the end, UpgradeTimeout for the beginning.
	MessageTimeout, WriteTimeout, CloseTimeout, UpgradeTimeout time.Duration
	// Connections is how many there may be, PerAddress of one address that is not loopback,
	// Early of those that are not authenticated.
	Connections, PerAddress, Early int

	// Authentication is how long a peer may take to authenticate, Beat how long it may be
	// without a heartbeat.
	Authentication, Beat time.Duration
	// SyncEvery is how often the list of modules is sent at most, Grace how long a module is
	// waited for whose connection is gone.
	SyncEvery, Grace time.Duration
	// Pong is the message of a heartbeat's answer.
	Pong string
	// NoBypass refuses devtools to pass by destinations, delivery and policy.
	NoBypass bool
	// Policy says who gets what is sent to others.
	Policy WebsocketPolicy
	// Limits are what is kept of peers.
	Limits WebsocketLimits

	// LinkFrames and LinkBytes may wait for one module's session.
	LinkFrames, LinkBytes int
}

// WebsocketPolicy says who gets what peers send to others: by ids of plugins, and by
// selectors of labels, "key" or "key=value".
type WebsocketPolicy struct {
	AllowPlugins, DenyPlugins, AllowLabels, DenyLabels []string
}

// WebsocketLimits are what is kept of peers.
type WebsocketLimits struct {
	// Modules is how many one connection may announce, Sessions how many there may be of all
	// together, Away how many of them without a connection.
	Modules, Sessions, Away int
	// Configurations is of how many plugins of peers a configuration is kept that a peer has
	// given them, ConfigurationBytes how long all of them are together.
	Configurations, ConfigurationBytes int
	// RegistryBytes is the length of the list of modules, ActedBytes of a frame that the
	// host acts on itself, AnnouncementBytes of an announcement, IdentityBytes of an
	// identity, TextBytes of a name.
	RegistryBytes, ActedBytes, AnnouncementBytes, IdentityBytes, TextBytes int
	// Aliases is how many ids a peer may choose, Consumers how many events it may register
	// for, Sticky how many keys are remembered of one group of these.
	Aliases, Consumers, Sticky int
	// Terms, Depth and DestinationBytes bound the destinations of one event: expressions,
	// how deep they nest, and the length of one text.
	Terms, Depth, DestinationBytes int
}

// MaxRouteDepth is as deep as destinations may nest.
const MaxRouteDepth = 256

var websocketShape = shape[WebsocketSettings]{
	fields: []field[WebsocketSettings]{
		{"enabled", "", func(r *reader, at fieldPath, v value, s *WebsocketSettings) {
			on := true
			truth(func(*WebsocketSettings) *bool { return &on })(r, at, v, s)
			s.Disabled = !on
		}},
		{"invoke", "", func(r *reader, at fieldPath, v value, s *WebsocketSettings) {
			s.Invoke = []string{} // none is another thing than all
			listOnce(func(s *WebsocketSettings) *[]string { return &s.Invoke },
				`an array of key patterns, e.g. ["tool:*"]; without it a peer may call everything`, readPattern)(r, at, v, s)
		}},
		{"frameBytes", "", integer(func(s *WebsocketSettings) *int { return &s.FrameBytes }, 1, MaxFrameBytes)},
		{"earlyFrameBytes", "", integer(func(s *WebsocketSettings) *int { return &s.EarlyFrameBytes }, 1, MaxFrameBytes)},
		{"queueFrames", "", count(func(s *WebsocketSettings) *int { return &s.QueueFrames })},
		{"queueBytes", "", bytesOf(func(s *WebsocketSettings) *int { return &s.QueueBytes })},
		{"queuedTotal", "", bytesOf(func(s *WebsocketSettings) *int { return &s.QueuedTotal })},
		{"slowPeer", "", func(r *reader, at fieldPath, v value, s *WebsocketSettings) {
			var what string
			word(func(*WebsocketSettings) *string { return &what }, "close", "refuse")(r, at, v, s)
			s.RefuseSlow = what == "refuse"
		}},
		{"pingEvery", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.PingEvery })},
		{"silence", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.Silence })},
		{"messageTimeout", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.MessageTimeout })},
		{"writeTimeout", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.WriteTimeout })},
		{"closeTimeout", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.CloseTimeout })},
		{"upgradeTimeout", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.UpgradeTimeout })},
		{"connections", "", count(func(s *WebsocketSettings) *int { return &s.Connections })},
		{"perAddress", "", count(func(s *WebsocketSettings) *int { return &s.PerAddress })},
		{"early", "", count(func(s *WebsocketSettings) *int { return &s.Early })},
		{"authentication", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.Authentication })},
		{"beat", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.Beat })},
		{"syncEvery", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.SyncEvery })},
		{"grace", "", timeout(func(s *WebsocketSettings) *time.Duration { return &s.Grace })},
		{"pong", "", func(r *reader, at fieldPath, v value, s *WebsocketSettings) {
			s.Pong, _ = tidy("a string, what a heartbeat is answered with")(r, at, v)
		}},
		{"noBypass", "", truth(func(s *WebsocketSettings) *bool { return &s.NoBypass })},
		{"policy", "", nested(func(s *WebsocketSettings) *WebsocketPolicy { return &s.Policy }, &websocketPolicyShape)},
		{"limits", "", nested(func(s *WebsocketSettings) *WebsocketLimits { return &s.Limits }, &websocketLimitsShape)},
		{"linkFrames", "", count(func(s *WebsocketSettings) *int { return &s.LinkFrames })},
		{"linkBytes", "", bytesOf(func(s *WebsocketSettings) *int { return &s.LinkBytes })},
	},
	also: func(r *reader, at fieldPath, v value) {
		every, ok := duration(v.at("pingEvery"))
		silence, is := duration(v.at("silence"))
		if ok && is && silence > 0 && every >= silence {
			r.add(at.member("silence"), "expected more than pingEvery, %s, found %s: else a peer is closed before it is asked for life", every, v.at("silence").found())
		}
	},
}

var websocketPolicyShape = shape[WebsocketPolicy]{fields: []field[WebsocketPolicy]{
	{"allowPlugins", "", pluginIDs(func(p *WebsocketPolicy) *[]string { return &p.AllowPlugins })},
	{"denyPlugins", "", pluginIDs(func(p *WebsocketPolicy) *[]string { return &p.DenyPlugins })},
	{"allowLabels", "", labelSelectors(func(p *WebsocketPolicy) *[]string { return &p.AllowLabels })},
	{"denyLabels", "", labelSelectors(func(p *WebsocketPolicy) *[]string { return &p.DenyLabels })},
}}

func pluginIDs(to func(*WebsocketPolicy) *[]string) func(*reader, fieldPath, value, *WebsocketPolicy) {
	return listOnce(to, `an array of plugins' ids, e.g. ["discord-bot"]`, tidy("a string, a plugin's id"))
}

func labelSelectors(to func(*WebsocketPolicy) *[]string) func(*reader, fieldPath, value, *WebsocketPolicy) {
	return listOnce(to, `an array of selectors, e.g. ["env=prod", "app"]`, tidy(`a selector, "key" or "key=value"`))
}

var websocketLimitsShape = shape[WebsocketLimits]{fields: []field[WebsocketLimits]{
	{"modules", "", count(func(l *WebsocketLimits) *int { return &l.Modules })},
	{"sessions", "", count(func(l *WebsocketLimits) *int { return &l.Sessions })},
	{"away", "", count(func(l *WebsocketLimits) *int { return &l.Away })},
	{"configurations", "", count(func(l *WebsocketLimits) *int { return &l.Configurations })},
	{"configurationBytes", "", bytesOf(func(l *WebsocketLimits) *int { return &l.ConfigurationBytes })},
	{"registryBytes", "", bytesOf(func(l *WebsocketLimits) *int { return &l.RegistryBytes })},
	{"actedBytes", "", bytesOf(func(l *WebsocketLimits) *int { return &l.ActedBytes })},
	{"announcementBytes", "", bytesOf(func(l *WebsocketLimits) *int { return &l.AnnouncementBytes })},
	{"identityBytes", "", bytesOf(func(l *WebsocketLimits) *int { return &l.IdentityBytes })},
	{"textBytes", "", bytesOf(func(l *WebsocketLimits) *int { return &l.TextBytes })},
	{"aliases", "", count(func(l *WebsocketLimits) *int { return &l.Aliases })},
	{"consumers", "", count(func(l *WebsocketLimits) *int { return &l.Consumers })},
	{"sticky", "", count(func(l *WebsocketLimits) *int { return &l.Sticky })},
	{"terms", "", count(func(l *WebsocketLimits) *int { return &l.Terms })},
	{"depth", "", integer(func(l *WebsocketLimits) *int { return &l.Depth }, 1, MaxRouteDepth)},
	{"destinationBytes", "", bytesOf(func(l *WebsocketLimits) *int { return &l.DestinationBytes })},
}}
