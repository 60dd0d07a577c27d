package peers

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// journal is all that a host logs, as JSON.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// record is what a line of it may have.
type record struct {
	Level, Msg, Plugin, Text, Stream, What string
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// String is all that was logged so far.
func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// records are its lines that are so.
func (j *journal) records(t *testing.T, are func(record) bool) []record {
	t.Helper()
	var all []record
	for line := range bytes.Lines([]byte(j.String())) {
		var r record
		require.NoError(t, json.Unmarshal(line, &r))
		if are(r) {
			all = append(all, r)
		}
	}
	return all
}

// wants waits until a plugin's line is there, at that level.
func (j *journal) wants(t *testing.T, plugin, level, text string) {
	t.Helper()
	eventually(t, func() bool {
		return slices.ContainsFunc(j.records(t, func(r record) bool { return r.Plugin == plugin }), func(r record) bool {
			return r.Level == level && r.Text == text
		})
	}, j)
}
