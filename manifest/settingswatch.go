package manifest

import (
	"path/filepath"
	"time"
)

// WatchSettings say when a plugin whose files change is reloaded, where the host is told to
// do that.
type WatchSettings struct {
	// Debounce is how long nothing must have changed; MaxWait is when a plugin is reloaded
	// in any case, at least the Debounce.
	Debounce, MaxWait time.Duration
	// Directories is how many of them are watched, at most MaxWatched.
	Directories int
	// ReloadsPerMinute is how often a plugin may be reloaded for its files, at most
	// MaxReloads.
	ReloadsPerMinute int
	// Ignore are patterns of names of files and directories that are not watched.
	Ignore []string
}

// The bounds of [WatchSettings].
const (
	MaxWatched = 1_000_000
	MaxReloads = 1000
)

var watchShape = shape[WatchSettings]{
	fields: []field[WatchSettings]{
		{"debounce", "", timeout(func(s *WatchSettings) *time.Duration { return &s.Debounce })},
		{"maxWait", "", timeout(func(s *WatchSettings) *time.Duration { return &s.MaxWait })},
		{"directories", "", integer(func(s *WatchSettings) *int { return &s.Directories }, 1, MaxWatched)},
		{"reloadsPerMinute", "", integer(func(s *WatchSettings) *int { return &s.ReloadsPerMinute }, 1, MaxReloads)},
		{"ignore", "", listOnce(func(s *WatchSettings) *[]string { return &s.Ignore },
			`an array of patterns of names, e.g. ["data", "*.log"]`, namePattern)},
	},
	also: func(r *reader, at fieldPath, v value) {
		debounce, ok := duration(v.at("debounce"))
		most, is := duration(v.at("maxWait"))
		if ok && is && debounce > most && most > 0 {
			r.add(at.member("maxWait"), "expected at least the debounce, %s, found %s", debounce, v.at("maxWait").found())
		}
	},
}

// namePattern reads a pattern of names.
func namePattern(r *reader, at fieldPath, v value) (string, bool) {
	const want = `a pattern of names, e.g. "*.log"`
	name, ok := tidy(want)(r, at, v)
	if !ok {
		return "", false
	}
	if _, err := filepath.Match(name, ""); err != nil || filepath.Base(name) != name {
		r.add(at, "expected %s, found %s", want, v.found())
		return "", false
	}
	return name, true
}
