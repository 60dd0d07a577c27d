package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// What a module in Node says of its configuration, and of the phase that it wants.

func (m *mixed) asks(session, full string) (protocol.Validation, error) {
	m.t.Helper()
	return m.host.AskConfiguration(m.t.Context(), session, protocol.Config{ID: "c", Revision: 7, SchemaVersion: 1, Full: json.RawMessage(full)})
}

func TestConfiguration_aModuleSaysWhetherItTakesOne(t *testing.T) {
	t.Parallel()
	m := startMixed(t, func(o *actors.Options) { o.Timeouts.Call = 2 * time.Second })
	id := m.startReady("choosy").ID

	v, err := m.asks(id, `{"a":1}`)
	require.NoError(t, err)
	require.Equal(t, protocol.Validation{Asked: true}, v)
	v, err = m.asks(id, `{"warn":1}`)
	require.NoError(t, err)
	require.Equal(t, protocol.Validation{Asked: true, Warnings: []string{"mind the gap"}}, v)
	v, err = m.asks(id, `{"bad":1}`)
	require.NoError(t, err)
	require.Equal(t, protocol.Validation{
		Asked: true, Missing: []string{"token"}, Invalid: []protocol.ConfigProblem{{Path: "/bad", Reason: "this is bad"}}, Warnings: []string{"beware"},
	}, v)
	_, err = m.asks(id, `{"throws":1}`)
	require.ErrorContains(t, err, "its listener broke")

	// Who does not answer is given up, and keeps nobody else waiting.
	_, err = m.asks(id, `{"mute":1}`)
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err))
	require.ErrorContains(t, err, "plugin choosy")
	require.ErrorContains(t, err, "the host's limit timeouts.call")
	answers := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := m.host.AskConfiguration(context.WithoutCancel(t.Context()), id, protocol.Config{Revision: 8, Full: json.RawMessage(`{"late":50}`)})
			answers <- err
		}()
	}
	for range 3 {
		require.NoError(t, <-answers)
	}

	v, err = m.asks(m.startReady("plain").ID, `{}`)
	require.NoError(t, err)
	require.Equal(t, protocol.Validation{Note: "it does not listen to module:configuration:validate:request"}, v)
}

func (m *mixed) seen() string {
	m.t.Helper()
	got, err := m.host.Invoke(m.t.Context(), protocol.Call{Key: "model:SEEN"})
	require.NoError(m.t, err)
	return string(got)
}

func TestConfiguration_aModuleIsGivenAnother(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	id := m.startReady("choosy").ID
	info, err := m.host.CommitConfiguration(t.Context(), id, protocol.Config{ID: "c", Revision: 7, SchemaVersion: 1, Full: json.RawMessage(`{"a":1}`)})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, info.Phase)
	require.JSONEq(t, `{"inits":1,"setups":2,"heard":["configured 1","commit 7","configured 7"]}`, m.seen())
}

func TestWanted_aModuleAsksToGoBack(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	id := m.startReady("choosy").ID
	ask := func(phase, reason string) {
		t.Helper()
		_, err := m.host.Invoke(t.Context(), protocol.Call{Key: "model:ASK", Input: fmt.Appendf(nil, `{"phase":%q,"reason":%q}`, phase, reason)})
		require.NoError(t, err)
	}
	m.awaitPhase("choosy", lifecycle.Ready)
	ask("announced", "there is more")
	require.Equal(t, "there is more", m.awaitPhase("choosy", lifecycle.Announced).Reason)
	m.awaitPhase("choosy", lifecycle.Ready)
	require.JSONEq(t, `{"inits":2,"setups":2,"heard":["configured 1","configured 1"]}`, m.seen())

	ask("configuration-needed", "the key has expired")
	require.Equal(t, "the key has expired", m.awaitPhase("choosy", lifecycle.ConfigurationNeeded).Reason)
	v, err := m.asks(id, `{"bad":1}`)
	require.NoError(t, err)
	require.True(t, v.Asked, "also while it waits")
	_, err = m.host.CommitConfiguration(t.Context(), id, protocol.Config{ID: "c", Revision: 2, Full: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"inits":2,"setups":3,"heard":["configured 1","configured 1","commit 2","configured 2"]}`, m.seen())
}
