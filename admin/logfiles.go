package admin

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/airi-host/airi-host/actors"
)

// LogFiles are where the logs of plugins are kept beyond what the host has of them. Its
// methods are called from any goroutine.
type LogFiles interface {
	// Past returns the last n lines of a plugin that were said before a time (zero is any)
	// and not before since, the oldest first.
	Past(plugin string, n int, since, before time.Time) ([]actors.Logged, error)
	// File tells how a plugin's file stands.
	File(plugin string) LogFile
	// Stats tells how all stand.
	Stats() LogStats
}

// LogFile says where a plugin's log is kept.
type LogFile struct {
	Path string `json:"path"`
	// Dropped is how many lines are missing there since the host began.
	Dropped uint64 `json:"dropped,omitempty"`
	// Error is why it cannot be written now.
	Error string `json:"error,omitempty"`
}

// LogStats say how the files of all plugins stand.
type LogStats struct {
	// Bytes is what they have, Waiting how many lines wait to be written, Failing how many
	// files cannot be, and Dropped how many lines were.
	Bytes            int64
	Waiting, Failing int
	Dropped          uint64
}

// fileOf tells where a plugin's log is kept; nil for nowhere.
func (s *Server) fileOf(plugin string) *LogFile {
	if s.opts.LogFiles == nil {
		return nil
	}
	file := s.opts.LogFiles.File(plugin)
	return &file
}

// logOf is the end of a plugin's log, or of all logs in the order of time: what the host
// has, and before that what the files have.
func (s *Server) logOf(plugin string, n int, since time.Time) []actors.Logged {
	if plugin != "" {
		return s.logOfOne(plugin, n, since)
	}
	var all []actors.Logged
	for _, one := range s.plugins() {
		all = lastOf(append(all, s.logOfOne(one.Plugin, n, since)...), n)
	}
	return all
}

func (s *Server) logOfOne(plugin string, n int, since time.Time) []actors.Logged {
	kept := s.host.Logs(plugin, n)
	var before time.Time
	if len(kept) > 0 {
		before = kept[0].At
	}
	if missing := n - len(kept); missing > 0 && s.opts.LogFiles != nil {
		past, err := s.opts.LogFiles.Past(plugin, missing, since, before)
		if err != nil {
			s.log.Warn("a plugin's log file cannot be read", "plugin", plugin, "error", err)
		}
		kept = append(past, kept...)
	}
	return slices.DeleteFunc(kept, func(e actors.Logged) bool { return e.At.Before(since) })
}

// lastOf sorts lines by time and leaves the last n.
func lastOf(all []actors.Logged, n int) []actors.Logged {
	slices.SortStableFunc(all, func(a, b actors.Logged) int { return a.At.Compare(b.At) })
	return all[max(0, len(all)-n):]
}

// joined puts lines that follow each other together: those of earlier that are before all
// of later, and later.
func joined(earlier, later []actors.Logged, n int) []actors.Logged {
	if len(later) > 0 {
		earlier = slices.DeleteFunc(earlier, func(e actors.Logged) bool { return !e.At.Before(later[0].At) })
	}
	all := append(earlier, later...)
	return all[max(0, len(all)-n):]
}

var (
	descLogBytes   = describe("log_file_bytes", "What the files of plugins' logs have, in bytes, more or less.")
	descLogWaiting = describe("log_file_waiting", "Lines that wait to be written to the files of logs.")
	descLogFailing = describe("log_files_failing", "Plugins whose file cannot be written now.")
	descLogDropped = describe("log_file_dropped_total", "Lines that are missing in the files of logs.")
)

// logMetrics are about the files of logs.
func (s *Server) logMetrics(put func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string)) {
	if s.opts.LogFiles == nil {
		return
	}
	stats := s.opts.LogFiles.Stats()
	put(descLogBytes, prometheus.GaugeValue, float64(stats.Bytes))
	put(descLogWaiting, prometheus.GaugeValue, float64(stats.Waiting))
	put(descLogFailing, prometheus.GaugeValue, float64(stats.Failing))
	put(descLogDropped, prometheus.CounterValue, float64(stats.Dropped))
}
