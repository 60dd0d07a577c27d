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
	// Past returns lines of a plugin, the oldest first, and how many before them were asked
	// for and left out, since together they have more than the query's Bytes.
	Past(plugin string, q LogQuery) (lines []actors.Logged, left int, err error)
	// File tells how a plugin's file stands.
	File(plugin string) LogFile
	// Stats tells how all stand.
	Stats() LogStats
}

// LogQuery says which lines of a plugin are wanted.
type LogQuery struct {
	// N is how many of the last ones, Bytes how many bytes these may have, beside one line:
	// whoever reads them holds no more.
	N, Bytes int
	// Since leaves out what is older, Before what is not; zero is no limit.
	Since, Before time.Time
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
// has, and before that what the files have, within Limits.LogBytes.
func (s *Server) logOf(plugin string, n int, since time.Time) excerpt {
	if plugin != "" {
		return s.logOfOne(plugin, n, since)
	}
	var all excerpt
	for _, plugin := range s.pluginNames() {
		all = all.merged(s.logOfOne(plugin, n, since)).within(n, s.limits.LogBytes)
	}
	return all
}

func (s *Server) logOfOne(plugin string, n int, since time.Time) excerpt {
	one := excerpt{lines: s.host.Logs(plugin, n)}
	q := LogQuery{N: n - len(one.lines), Bytes: s.limits.LogBytes, Since: since}
	for _, line := range one.lines {
		q.Bytes = max(1, q.Bytes-sizeOf(line)) // those that are left out are still counted
	}
	if len(one.lines) > 0 {
		q.Before = one.lines[0].At
	}
	if q.N > 0 && s.opts.LogFiles != nil {
		past, left, err := s.opts.LogFiles.Past(plugin, q)
		if err != nil {
			s.log.Warn("a plugin's log file cannot be read", "plugin", plugin, "error", err)
		}
		one = excerpt{append(past, one.lines...), left}
	}
	one.lines = slices.DeleteFunc(one.lines, func(e actors.Logged) bool { return e.At.Before(since) })
	return one.within(n, s.limits.LogBytes)
}

// excerpt is the end of logs: lines, the oldest first, and how many before them were asked
// for and are left out.
type excerpt struct {
	lines []actors.Logged
	left  int
}

// within is the last n lines of an excerpt, or as many of them as have no more bytes than
// that, beside one line.
func (e excerpt) within(n, most int) excerpt {
	from := len(e.lines)
	for from > max(0, len(e.lines)-n) && most > 0 {
		from--
		most -= sizeOf(e.lines[from])
	}
	shown := slices.Clone(e.lines[from:]) // the others are let go of
	return excerpt{shown, min(n, e.left+len(e.lines)) - len(shown)}
}

// sizeOf is how many bytes a line has, more or less.
func sizeOf(line actors.Logged) int {
	const around = 128 // names and times
	return around + len(line.Text) + len(line.Message) + len(line.Fields)
}

// begin is when the first line was said of an excerpt that lacks some before it; else zero.
func (e excerpt) begin() time.Time {
	if e.left == 0 || len(e.lines) == 0 {
		return time.Time{}
	}
	return e.lines[0].At
}

// merged is two excerpts of different logs as one. What is older than a line that is left
// out is left out as well, so that none is missing in between.
func (e excerpt) merged(other excerpt) excerpt {
	all := excerpt{inOrder(append(e.lines, other.lines...)), e.left + other.left + len(e.lines) + len(other.lines)}
	for _, begin := range []time.Time{e.begin(), other.begin()} {
		all.lines = slices.DeleteFunc(all.lines, func(line actors.Logged) bool { return line.At.Before(begin) })
	}
	all.left -= len(all.lines)
	return all
}

// joined is an excerpt with lines that may be among its own, or come after them.
func (e excerpt) joined(later []actors.Logged) excerpt {
	again := map[actors.Logged]int{}
	for _, line := range later {
		again[line]++
	}
	begin := e.begin()
	own := slices.DeleteFunc(e.lines, func(line actors.Logged) bool {
		again[line]--
		return again[line] >= 0
	})
	later = slices.DeleteFunc(later, func(line actors.Logged) bool { return line.At.Before(begin) }) // it is one of those left out
	return excerpt{inOrder(append(own, later...)), e.left}
}

// inOrder sorts lines by time.
func inOrder(all []actors.Logged) []actors.Logged {
	slices.SortStableFunc(all, func(a, b actors.Logged) int { return a.At.Compare(b.At) })
	return all
}

// lastOf sorts lines by time and leaves the last n.
func lastOf(all []actors.Logged, n int) []actors.Logged {
	return inOrder(all)[max(0, len(all)-n):]
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
