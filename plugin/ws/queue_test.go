package ws

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/client"
)

func TestQueue_failsAboveItsBounds(t *testing.T) {
	big := json.RawMessage(strings.Repeat("1", mostBytes/2))
	for name, c := range map[string]struct {
		item json.RawMessage
		fits int
	}{
		"items":            {json.RawMessage("1"), mostItems},
		"bytes":            {big, 2},
		"one that is long": {json.RawMessage(strings.Repeat("1", mostBytes+1)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue()
			for range c.fits {
				q.add(c.item)
			}
			require.False(t, q.over)
			q.add(c.item)
			q.add(c.item)
			q.end(nil) // it has failed before
			got := 0
			var err error
			for _, err = range q.each(t.Context()) {
				if err == nil {
					got++
				}
			}
			require.Equal(t, c.fits, got)
			require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err))
		})
	}
}

// Of events that nobody has the time to hear all are counted, and the log shows the beginning.
func TestModule_showsFewOfTheEventsThatAreNotHeard(t *testing.T) {
	p := plugin.Define("slow")
	plugin.On(p, "rain", func(context.Context, any) error { return nil })
	var log bytes.Buffer
	o, err := Options{URL: "ws://127.0.0.1:1/ws", MaxPending: 2, Log: slog.NewTextHandler(&log, nil)}.resolved(p)
	require.NoError(t, err)
	m := newModule(t.Context(), p, o)
	m.mu.Lock()
	m.hearing = true // by somebody who is busy
	for range 2 + 100 {
		m.heard(client.Heard{Name: "rain", Data: json.RawMessage(`{}`)})
	}
	require.Len(t, m.events, 2)
	require.EqualValues(t, 100, m.count)
	remarks := m.remarks
	m.mu.Unlock()
	for _, tell := range remarks {
		tell()
	}
	require.Equal(t, protocol.StrayBurst, strings.Count(log.String(), "an event was not heard"))
	m.cancel()
}
