package ws

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/client"
	"github.com/airi-host/airi-host/transport/websocket"
)

// Options say where a plugin is served, and as what. URL has to be there; for everything
// else the zero value works.
type Options struct {
	// URL is the server's: ws://HOST:PORT/ws or wss:.
	URL string
	// Token is shown to the server after it has answered, as AIRI's clients do, and not in
	// the request.
	Token string
	// TLS is for wss:, nil trusts the system's authorities. Header is sent with the request.
	TLS    *tls.Config
	Header http.Header

	// Name is the plugin's name there; "" is the definition's. Instance tells this one from
	// others of that name, and is its identity over all connections: who is given one keeps
	// its session over a restart of the process, too, if that is quick. "" makes one up.
	Name, Instance string
	// Version is the plugin's, "" for none.
	Version string
	// Extensions speaks as modules of AIRI 0.11 do (extension:*) instead of as those before
	// (module:*). An airi-host knows both.
	Extensions bool

	// Dependencies are keys of capabilities without which the module is of no use: the host
	// waits for them.
	Dependencies []string
	// NeedsConfig has the module wait for a configuration before OnSetup. ConfigSchema tells
	// what it has to be like, a JSON Schema or {id, version, schema?}; nil tells nothing.
	NeedsConfig  bool
	ConfigSchema json.RawMessage

	// Log takes the plugin's own log, for which the wire has no word, and this package's; nil
	// writes lines of text to standard error.
	Log slog.Handler

	// FirstPause is the pause before a connection is tried again, MostPause the longest: it
	// doubles each time, and half of it is left to chance. Zero means 500 ms and 30 s. It
	// begins anew when the module was announced.
	FirstPause, MostPause time.Duration
	// Tries is after how many connections in a row that came to nothing Serve gives up.
	// Zero means never.
	Tries int
	// DialTime bounds one try; zero means 15 s.
	DialTime time.Duration
	// AnswerTime is how long the server may take to let the module in, and to list it; zero
	// means 10 s. AskTime is how long it may take to say that it is no AIRI server; zero
	// means 2 s.
	AnswerTime, AskTime time.Duration
	// BeatEvery is the time between two heartbeats; after three without anything that comes
	// the connection is given up. Zero means 15 s.
	BeatEvery time.Duration
	// HealthEvery is how often OnHealth is asked; zero means 30 s.
	HealthEvery time.Duration

	// CallTime is how long a call may take whose context has no deadline; zero means 30 s.
	// HookTime is for each of the hooks; zero means 30 s, which is what hosts wait.
	CallTime, HookTime time.Duration
	// Grace is how long handlers and hooks may still run when their contexts have ended, before
	// they are left; zero means 400 ms.
	Grace time.Duration

	// MaxPending bounds, each for itself, calls in flight in each direction and events that
	// wait to be heard. Zero means protocol.DefaultMaxPending.
	MaxPending int
	// MaxRecord is the longest frame in bytes, each way; zero means 8 MiB, which is what
	// airi-host takes.
	MaxRecord int
	// QueueBytes is how much may wait for the server to read it. At half of it streams and
	// events wait; a server that lets all of it fill is hung up on. Zero means 16 MiB.
	QueueBytes int
}

const (
	defaultFirstPause  = 500 * time.Millisecond
	defaultMostPause   = 30 * time.Second
	defaultHealthEvery = 30 * time.Second
	defaultCallTime    = 30 * time.Second
	defaultHookTime    = 30 * time.Second
	defaultGrace       = 400 * time.Millisecond
	defaultQueueBytes  = 16 << 20
	// drainTime is how long the server may take to read what was written before the end.
	drainTime = 5 * time.Second
)

func (o Options) resolved(d *plugin.Definition) (Options, error) {
	if o.URL == "" {
		return o, fmt.Errorf("ws.Options.URL: expected the address of a websocket, such as ws://127.0.0.1:6121/ws, got none")
	}
	o.Name = cmp.Or(o.Name, d.Name())
	o.Instance = cmp.Or(o.Instance, chance())
	if o.Log == nil {
		o.Log = slog.NewTextHandler(os.Stderr, nil)
	}
	for limit, usual := range map[*time.Duration]time.Duration{
		&o.FirstPause: defaultFirstPause, &o.MostPause: defaultMostPause, &o.HealthEvery: defaultHealthEvery,
		&o.CallTime: defaultCallTime, &o.HookTime: defaultHookTime, &o.Grace: defaultGrace,
	} {
		if *limit <= 0 {
			*limit = usual
		}
	}
	if o.MaxRecord <= 0 {
		o.MaxRecord = websocket.DefaultMaxRecord
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = defaultQueueBytes
	}
	return o, nil
}

// chance is what nobody else has.
func chance() string { return strconv.FormatUint(rand.Uint64(), 36) }

func (o Options) pending() int { return protocol.Settings{MaxPending: o.MaxPending}.Pending() }

// queueRecords is how many frames may wait: one for each call in flight, and as many again.
func (o Options) queueRecords() int { return 4 * o.pending() }

func (o Options) client() client.Options {
	return client.Options{
		Name: o.Name, Instance: o.Instance, Version: o.Version, Extensions: o.Extensions, Token: o.Token, Seed: chance(),
		Dependencies: o.Dependencies, ConfigSchema: o.schema(), NeedsConfig: o.NeedsConfig, MaxPending: o.MaxPending,
		AnswerTime: o.AnswerTime, AskTime: o.AskTime, BeatEvery: o.BeatEvery,
	}
}

// schema is ConfigSchema in the words of AIRI's.
func (o Options) schema() json.RawMessage {
	var has struct {
		ID      string `json:"id"`
		Version *int   `json:"version"`
	}
	if err := json.Unmarshal(o.ConfigSchema, &has); err != nil || has.ID != "" && has.Version != nil {
		return o.ConfigSchema
	}
	wrapped, err := json.Marshal(struct {
		ID      string          `json:"id"`
		Version int             `json:"version"`
		Schema  json.RawMessage `json:"schema"`
	}{o.Name, 1, o.ConfigSchema})
	if err != nil {
		return nil
	}
	return wrapped
}

func (o Options) dial() websocket.DialOptions {
	return websocket.DialOptions{
		Options: websocket.Options{MaxRecord: o.MaxRecord, QueueBytes: o.QueueBytes, QueueRecords: o.queueRecords()},
		Timeout: o.DialTime, Header: o.Header, TLS: o.TLS,
	}
}

// pause is how long it is waited before the next try, after so many that came to nothing.
func (o Options) pause(failed int, luck func(time.Duration) time.Duration) time.Duration {
	p := o.FirstPause
	for ; failed > 1 && p < o.MostPause; failed-- {
		p *= 2
	}
	p = min(p, o.MostPause)
	return p/2 + luck(p/2)
}
