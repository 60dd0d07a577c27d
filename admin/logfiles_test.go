package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
)

// pastOnly are files with ten lines of a minute ago, a second apart.
type pastOnly struct{ now time.Time }

func (p pastOnly) Past(plugin string, n int, since, before time.Time) (all []actors.Logged, err error) {
	if plugin != "talker" {
		return nil, errors.New("a broken disk")
	}
	for i := range 10 {
		at := p.now.Add(time.Duration(i-60) * time.Second)
		if !at.Before(since) && (before.IsZero() || at.Before(before)) {
			all = append(all, actors.Logged{Origin: actors.Origin{Plugin: plugin}, Text: fmt.Sprint("past ", i), At: at})
		}
	}
	return all[max(0, len(all)-n):], nil
}

func (pastOnly) File(plugin string) LogFile {
	return LogFile{Path: plugin + ".log", Dropped: 7, Error: "a broken disk"}
}

func (pastOnly) Stats() LogStats { return LogStats{Bytes: 100, Waiting: 2, Failing: 1, Dropped: 7} }

func TestLogFiles_comeBeforeWhatTheHostHas(t *testing.T) {
	now := time.Now()
	r := start(t, Options{LogFiles: pastOnly{now}, Plugins: []string{"talker", "quiet"}})
	_, err := r.Call(t.Context(), CallRequest{Key: "model:TALKS", Input: json.RawMessage(`2`)})
	require.NoError(t, err)
	for name, want := range map[string]struct {
		plugin string
		n      int
		since  time.Time
		lines  []string
	}{
		"enough in memory": {"talker", 2, time.Time{}, []string{"i=0", "i=1"}},
		"some of a file":   {"talker", 4, time.Time{}, []string{"past 8", "past 9", "i=0", "i=1"}},
		"of all plugins":   {"", 3, time.Time{}, []string{"past 9", "i=0", "i=1"}},
		"since":            {"talker", 100, now.Add(-52 * time.Second), []string{"past 8", "past 9", "i=0", "i=1"}},
		"since late":       {"", 100, now.Add(time.Hour), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			collect := func(line []byte) error {
				lines = append(lines, string(line))
				return nil
			}
			require.NoError(t, r.Logs(t.Context(), want.plugin, want.n, want.since, false, collect))
			require.Len(t, lines, len(want.lines))
			for i, line := range lines {
				require.Contains(t, line, want.lines[i])
			}
		})
	}
	status, body := r.get(t, pathAPI+"/logs?since=yesterday")
	require.Equal(t, 400, status)
	require.Contains(t, body, "expected a time such as 2026-01-31T12:00:00Z")
}

func TestLogFiles_areFollowedFromTheirEnd(t *testing.T) {
	r := start(t, Options{LogFiles: pastOnly{time.Now()}})
	_, err := r.Call(t.Context(), CallRequest{Key: "model:TALKS", Input: json.RawMessage(`1`)})
	require.NoError(t, err)
	lines, _ := following(t, func(ctx context.Context, line func([]byte) error) error {
		return r.Logs(ctx, "talker", 3, time.Time{}, true, line)
	})
	for _, want := range []string{"past 8", "past 9", "i=0"} {
		require.Contains(t, next(t, lines).Text, want)
	}
}

func TestLogFiles_areInspectedAndMeasured(t *testing.T) {
	r := start(t, Options{LogFiles: pastOnly{time.Now()}})
	detail, err := r.Inspect(t.Context(), "talker")
	require.NoError(t, err)
	require.Equal(t, &LogFile{Path: "talker.log", Dropped: 7, Error: "a broken disk"}, detail.LogFile)
	_, body := r.get(t, pathMetrics)
	for _, line := range []string{
		"airi_host_log_file_bytes 100", "airi_host_log_file_waiting 2", "airi_host_log_files_failing 1", "airi_host_log_file_dropped_total 7",
	} {
		require.True(t, strings.Contains(body, "\n"+line+"\n"), line)
	}
}
