package actors_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// note records the outcome of a call.
func (l *lab) note(name string, outcome any) { l.notes = append(l.notes, noteText(name, outcome)) }

// The calls of the host's API, in the words of the transcripts: "ok PHASE" or
// "THROW MESSAGE".

func said(info actors.SessionInfo, err error) string {
	switch {
	case err != nil:
		return "THROW " + err.Error()
	case info.ID == "":
		return "ok undefined"
	default:
		return "ok " + string(info.Phase)
	}
}

func (l *lab) start(m *manifest.Manifest, opts actors.StartOptions) string {
	return said(l.host.Start(l.t.Context(), m, opts))
}

func (l *lab) init(session string) string {
	return said(l.host.Init(l.t.Context(), session, l.options()))
}

func (l *lab) stop(session string) string {
	return said(l.host.Stop(l.t.Context(), session))
}

func (l *lab) apply(session string, c protocol.Config) string {
	return said(l.host.ApplyConfiguration(l.t.Context(), session, c))
}

func (l *lab) mark(session, reason string) string {
	return said(l.host.MarkConfigurationNeeded(l.t.Context(), session, reason))
}

func (l *lab) reload(session string, opts actors.StartOptions) string {
	return said(l.host.Reload(l.t.Context(), session, opts))
}

// phase is what a session is in, or ended in.
func (l *lab) phase(session string) string {
	l.t.Helper()
	for _, s := range l.host.Sessions() {
		if s.ID == session {
			return string(s.Phase)
		}
	}
	l.catchUp()
	return string(l.phases[session])
}

// set puts one of the host's own capabilities into a state, and returns it as JSON.
func (l *lab) set(key string, to lifecycle.State, metadata string) string {
	l.t.Helper()
	d, err := l.host.SetCapability(l.t.Context(), key, to, json.RawMessage(metadata))
	require.NoError(l.t, err)
	return l.json(d)
}

func (l *lab) json(v any) string {
	l.t.Helper()
	text, err := json.Marshal(v)
	require.NoError(l.t, err)
	return string(text)
}

type (
	// order is what a puppet has to call.
	order struct {
		Tag     string          `json:"tag"`
		Content json.RawMessage `json:"content,omitempty"`
	}
	// outcome is what came of it.
	outcome struct {
		Value json.RawMessage `json:"value"`
		Error string          `json:"error"`
	}
)

// order lets the puppet call something; the channel gets what came of it.
func (l *lab) order(tag, content string) <-chan string {
	l.t.Helper()
	patience := time.After(labPatience)
	select {
	case l.orders <- order{Tag: tag, Content: json.RawMessage(content)}:
	case <-patience:
		l.t.Fatalf("the puppet did not ask for an order within %s", labPatience)
	}
	return later(func() string {
		select {
		case o := <-l.told:
			return o.String()
		case <-patience:
			return "no answer"
		}
	})
}

func (o outcome) String() string {
	if o.Error != "" {
		return "THROW " + o.Error
	}
	return "ok " + string(o.Value)
}

// later makes a call that takes until something else happens.
func later(call func() string) <-chan string {
	result := make(chan string, 1)
	go func() { result <- call() }()
	return result
}

// report is what a counting plugin told.
type report struct {
	Top, Setup int
	Cwd        string
}

func (l *lab) report() (r report) {
	l.t.Helper()
	require.NoError(l.t, json.Unmarshal(<-l.reports, &r))
	return r
}

func (r report) String() string { return fmt.Sprintf("top=%d setup=%d", r.Top, r.Setup) }
