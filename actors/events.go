package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// Event is something that happened in the host: one of PhaseChanged, Waiting,
// CapabilityChanged, Logged, Dropped, Channel, Streamed, Wire, Called, Restart and Granted. Tests, the
// command line and an embedder's own code read the same events.
type Event interface {
	// Kind is the event's kind, the "event" member of its JSON form.
	Kind() Kind
	// Log writes the event as one record.
	Log(log *slog.Logger)
}

// Kind names a kind of Event; kinds can be joined for a subscription.
type Kind uint16

// The kinds of events. KindChannel, KindStream, KindWire and KindCall cost something
// for every event of a plugin's channel or streams, every frame and every call, so nobody gets
// them unasked.
const (
	KindPhase Kind = 1 << iota
	KindWaiting
	KindCapability
	KindLog
	KindDropped
	KindChannel
	KindWire
	KindRestart
	KindGrants
	KindConfiguration
	KindCall
	KindStream

	// KindsUsual are the moments of plugins' lives.
	KindsUsual = KindPhase | KindWaiting | KindCapability | KindLog | KindDropped | KindRestart | KindGrants | KindConfiguration
)

var kindNames = map[Kind]string{
	KindPhase: "phase", KindWaiting: "waiting", KindCapability: "capability", KindLog: "log",
	KindDropped: "dropped", KindChannel: "channel", KindWire: "wire",
	KindRestart: "restart", KindGrants: "grants", KindConfiguration: "configuring", KindCall: "call", KindStream: "stream",
}

// String is the kind's name in JSON.
func (k Kind) String() string { return kindNames[k] }

// Origin says which session an event is about.
type Origin struct {
	// Session is the session's id, e.g. "plugin-session-0".
	Session string `json:"session"`
	// Plugin is the plugin's name.
	Plugin string `json:"plugin"`
}

// About is the session itself: every event says so of whom it is.
func (o Origin) About() Origin { return o }

func (o Origin) attrs() slog.Attr {
	return slog.Group("", slog.String("plugin", o.Plugin), slog.String("session", o.Session))
}

// PhaseChanged tells that a session passed into another phase.
type PhaseChanged struct {
	Origin
	From   lifecycle.State `json:"from"`
	To     lifecycle.State `json:"to"`
	At     time.Time       `json:"at"`
	Reason string          `json:"reason"`
}

// Waiting tells what a session waits for, each time its answer changes.
type Waiting struct {
	Origin
	// For are the capabilities that are missing.
	For []string `json:"for"`
	// Cycle names the plugins that wait for each other, this one first and
	// last; nil where there is no cycle.
	Cycle []string `json:"cycle,omitempty"`
	// Because quotes why an owner of a missing capability cannot offer it.
	Because []string  `json:"because,omitempty"`
	At      time.Time `json:"at"`
}

// CapabilityChanged tells that an offer came, changed its state, or went.
type CapabilityChanged struct {
	Origin
	Key    capability.Key  `json:"key"`
	From   lifecycle.State `json:"from,omitempty"`
	To     lifecycle.State `json:"to"`
	At     time.Time       `json:"at"`
	Reason string          `json:"reason,omitempty"`
}

// Logged is a line that a plugin logged or wrote.
type Logged struct {
	Origin
	Level slog.Level `json:"level"`
	// Stream is where it came from: "log", "stdout" or "stderr".
	Stream string    `json:"stream"`
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
	// Message and Fields are the same text taken apart, where it has fields; "" where it
	// has none.
	Message string `json:"message,omitempty"`
	Fields  Fields `json:"fields,omitempty"`
}

// Fields is a JSON object, what belongs to a message; "" for none.
type Fields string

// MarshalJSON is the object itself.
func (f Fields) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(f, "null")), nil }

// UnmarshalJSON takes any JSON value.
func (f *Fields) UnmarshalJSON(text []byte) error {
	*f = Fields(text)
	return nil
}

// Dropped tells that something was not used, and how many of its kind so far.
type Dropped struct {
	Origin
	What   string    `json:"what"`
	Detail string    `json:"detail,omitempty"`
	Count  uint64    `json:"count"`
	At     time.Time `json:"at"`
}

// Channel is an event on a plugin's own channel.
type Channel struct {
	Origin
	// FromPlugin tells who put it there.
	FromPlugin bool            `json:"fromPlugin"`
	Name       string          `json:"name"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Phase      lifecycle.State `json:"phase"`
	At         time.Time       `json:"at"`
}

// Streamed is something on an event stream of a plugin's own: a channel that it opens,
// puts items on and closes, for one tenant.
type Streamed struct {
	Origin
	// What is StreamOpened, StreamItem or StreamClosed. Items may come on a stream that was
	// not opened.
	What StreamPart `json:"what"`
	// Channel names the stream, Scope is the tenant that it is for, "" for none.
	Channel string `json:"channel"`
	Scope   string `json:"scope,omitempty"`
	// Item is what a StreamItem carries.
	Item json.RawMessage `json:"item,omitempty"`
	// Lost tells of a StreamClosed that the plugin did not close it: it has ended.
	Lost bool      `json:"lost,omitempty"`
	At   time.Time `json:"at"`
}

// StreamPart says what a Streamed is.
type StreamPart string

// The parts of an event stream.
const (
	StreamOpened StreamPart = "open"
	StreamItem   StreamPart = "item"
	StreamClosed StreamPart = "close"
)

var streamParts = map[protocol.StreamPart]StreamPart{
	protocol.StreamOpen: StreamOpened, protocol.StreamItem: StreamItem, protocol.StreamClose: StreamClosed,
}

// Wire is one frame of a peer's wire, in its dialect's type. It may hold
// secrets: it is never logged as it is.
type Wire struct {
	Origin
	FromPlugin bool             `json:"fromPlugin"`
	Message    protocol.Message `json:"-"`
	Phase      lifecycle.State  `json:"phase"`
	At         time.Time        `json:"at"`
}

// Called tells of a call that is over, and because of which others it was made. Nothing of
// what it carried is in it.
type Called struct {
	// Origin is the session that was called.
	Origin
	// Ecosystem is that of its plugin: "go" of one that is compiled in.
	Ecosystem string `json:"ecosystem"`
	// Key is what was called, by the plugin Caller; "" where that is who asks the host.
	Key    capability.Key `json:"key"`
	Caller string         `json:"caller,omitempty"`
	// Scope is the tenant that the call named, or "".
	Scope string `json:"scope,omitempty"`
	// Chain are the calls that led to it, each made for the sake of the one before; it is
	// the last itself. A link without a key stands for those that nobody knows.
	Chain []protocol.Link `json:"chain"`
	// Took is how long the caller waited, in nanoseconds.
	Took time.Duration `json:"took"`
	// Code is how it failed, "peer" in the plugin's own words; "" where it did not.
	Code protocol.Code `json:"code,omitempty"`
	At   time.Time     `json:"at"`
}

// Restart tells that a plugin crashed, and what its supervisor makes of it. It
// comes after the phase change of the session that failed.
type Restart struct {
	Origin
	// Reason is why it crashed.
	Reason string `json:"reason"`
	// InARow is how many crashes there were that are not forgiven; Crashes, how
	// many in all.
	InARow  int `json:"inARow"`
	Crashes int `json:"crashes"`
	// Next is when it will be started again; zero if it is given up.
	Next time.Time `json:"next,omitzero"`
	// GivenUp tells that it stays failed until it is started by hand.
	GivenUp bool      `json:"givenUp"`
	At      time.Time `json:"at"`
}

// Granted tells which grants a plugin has, when that is decided or changes. A host has no
// grants of its own: who decides tells of it, by Host.TellGrants.
type Granted struct {
	// Origin has no session where the plugin has none.
	Origin
	// Grants are those that it has, of what it asks for; New, those of them that it was
	// given now.
	Grants []string `json:"grants"`
	New    []string `json:"new,omitempty"`
	// Waiting are those that it asks for and has not: they wait to be approved.
	Waiting []string  `json:"waiting,omitempty"`
	At      time.Time `json:"at"`
}

// TellGrants publishes that a plugin has been given grants, or has to wait for some; the
// session and the time are the host's to add.
func (h *Host) TellGrants(e Granted) {
	if who := h.current(e.Plugin); who != nil {
		e.Origin = who.Origin
	}
	e.At = time.Now()
	h.publish(e)
}

// Kind is KindPhase.
func (PhaseChanged) Kind() Kind { return KindPhase }

// Kind is KindWaiting.
func (Waiting) Kind() Kind { return KindWaiting }

// Kind is KindCapability.
func (CapabilityChanged) Kind() Kind { return KindCapability }

// Kind is KindLog.
func (Logged) Kind() Kind { return KindLog }

// Kind is KindDropped.
func (Dropped) Kind() Kind { return KindDropped }

// Kind is KindChannel.
func (Channel) Kind() Kind { return KindChannel }

// Kind is KindStream.
func (Streamed) Kind() Kind { return KindStream }

// Kind is KindWire.
func (Wire) Kind() Kind { return KindWire }

// Kind is KindCall.
func (Called) Kind() Kind { return KindCall }

// Kind is KindRestart.
func (Restart) Kind() Kind { return KindRestart }

// Kind is KindGrants.
func (Granted) Kind() Kind { return KindGrants }

// Log writes the phase change; a failure is an error.
func (e PhaseChanged) Log(log *slog.Logger) {
	level := slog.LevelInfo
	if e.To == lifecycle.Failed {
		level = slog.LevelError
	}
	log.Log(context.Background(), level, "phase", e.attrs(),
		slog.String("from", string(e.From)), slog.String("to", string(e.To)), slog.String("reason", e.Reason))
}

// Log writes what is awaited; a cycle is a warning.
func (e Waiting) Log(log *slog.Logger) {
	level := slog.LevelInfo
	if e.Cycle != nil {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "waiting", e.attrs(),
		slog.Any("for", e.For), slog.Any("cycle", e.Cycle), slog.Any("because", e.Because))
}

// Log writes the change of a capability.
func (e CapabilityChanged) Log(log *slog.Logger) {
	log.Debug("capability", e.attrs(), slog.String("key", string(e.Key)),
		slog.String("from", string(e.From)), slog.String("to", string(e.To)), slog.String("reason", e.Reason))
}

// Log repeats the plugin's line at its own level.
func (e Logged) Log(log *slog.Logger) {
	log.Log(context.Background(), e.Level, "said", e.attrs(), slog.String("text", e.Text), slog.String("stream", e.Stream))
}

// Log writes what was dropped.
func (e Dropped) Log(log *slog.Logger) {
	log.Warn("dropped", e.attrs(), slog.String("what", e.What), slog.String("detail", e.Detail), slog.Uint64("count", e.Count))
}

// Log names the channel's event; its payload stays out of logs.
func (e Channel) Log(log *slog.Logger) {
	log.Debug("channel", e.attrs(), slog.String("name", e.Name), slog.Bool("from_plugin", e.FromPlugin))
}

// Log names the stream; its items stay out of logs.
func (e Streamed) Log(log *slog.Logger) {
	log.Debug("stream", e.attrs(), slog.String("what", string(e.What)), slog.String("channel", e.Channel), slog.String("scope", e.Scope), slog.Bool("lost", e.Lost))
}

// Log tells that a frame passed; what it says stays out of logs.
func (e Wire) Log(log *slog.Logger) {
	log.Debug("wire", e.attrs(), slog.Bool("from_plugin", e.FromPlugin))
}

// Log writes who called what, for debugging.
func (e Called) Log(log *slog.Logger) {
	log.Debug("called", e.attrs(), slog.String("key", string(e.Key)), slog.String("caller", e.Caller), slog.String("scope", e.Scope),
		slog.String("chain", protocol.ChainText(e.Chain)), slog.Duration("took", e.Took), slog.String("code", string(e.Code)))
}

// Log writes what follows the crash; giving up is an error.
func (e Restart) Log(log *slog.Logger) {
	what, level := slog.Duration("after", e.Next.Sub(e.At)), slog.LevelWarn
	if e.GivenUp {
		what, level = slog.Bool("given_up", true), slog.LevelError
	}
	log.Log(context.Background(), level, "crashed", e.attrs(), slog.String("reason", e.Reason),
		slog.Int("in_a_row", e.InARow), slog.Int("crashes", e.Crashes), what)
}

// Log writes what was granted, and what waits.
func (e Granted) Log(log *slog.Logger) {
	level := slog.LevelInfo
	if len(e.Waiting) > 0 {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "grants", e.attrs(), slog.Any("grants", e.Grants),
		slog.Any("new", e.New), slog.Any("waiting", e.Waiting))
}

// EncodeEvent gives an event's JSON object, "event" first.
func EncodeEvent(e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	head := `{"event":"` + e.Kind().String() + `",`
	return append([]byte(head), body[1:]...), nil
}
