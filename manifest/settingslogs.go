package manifest

import (
	"path/filepath"
	"time"
)

// LogFileSettings are about the files in which the logs of plugins are kept.
type LogFileSettings struct {
	// Dir is the absolute path of their directory.
	Dir string
	// MaxBytes is how long a file may be, at least MinLogBytes; Files how many there may
	// be of one plugin, at most MaxLogFiles; Total how many bytes all may have.
	MaxBytes, Files, Total int
	// Off keeps none.
	Off bool
	// Queue and QueueBytes are how many records of one plugin may wait to be written, and
	// how many bytes they may have.
	Queue, QueueBytes int
	// Retry is the pause after a write that failed, MaxRetry the longest, and Drain how
	// long the last records may take once the host has ended.
	Retry, MaxRetry, Drain time.Duration
}

// The bounds of LogFileSettings.
const (
	MinLogBytes = 64 << 10
	MaxLogBytes = 1 << 40
	MaxLogFiles = 100
)

var logFilesShape = shape[LogFileSettings]{
	fields: []field[LogFileSettings]{
		{"dir", "", func(r *reader, at fieldPath, v value, l *LogFileSettings) {
			if v.kind != text || !filepath.IsAbs(v.text) {
				r.add(at, `expected the absolute path of a directory, e.g. "/var/log/airi-host", found %s`, v.found())
				return
			}
			l.Dir = v.text
		}},
		{"maxBytes", "", integer(func(l *LogFileSettings) *int { return &l.MaxBytes }, MinLogBytes, MaxLogBytes)},
		{"files", "", integer(func(l *LogFileSettings) *int { return &l.Files }, 1, MaxLogFiles)},
		{"total", "", integer(func(l *LogFileSettings) *int { return &l.Total }, MinLogBytes, MaxLogBytes)},
		{"queue", "", count(func(l *LogFileSettings) *int { return &l.Queue })},
		{"queueBytes", "", bytesOf(func(l *LogFileSettings) *int { return &l.QueueBytes })},
		{"retry", "", timeout(func(l *LogFileSettings) *time.Duration { return &l.Retry })},
		{"maxRetry", "", timeout(func(l *LogFileSettings) *time.Duration { return &l.MaxRetry })},
		{"drain", "", timeout(func(l *LogFileSettings) *time.Duration { return &l.Drain })},
		{"off", "", truth(func(l *LogFileSettings) *bool { return &l.Off })},
	},
	also: func(r *reader, at fieldPath, v value) {
		most, ok := whole(v.at("maxBytes"))
		total, is := whole(v.at("total"))
		if ok && is && most > total && most <= MaxLogBytes && total >= MinLogBytes {
			r.add(at.member("total"), "expected at least maxBytes, %d, found %s", most, v.at("total").found())
		}
	},
}
