package protocoltest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Now is the time of all that happens in a replay.
var Now = time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)

// Line is one line of a recorded conversation.
type Line struct {
	Dir   string          `json:"dir"`
	Frame json.RawMessage `json:"frame"`
	// Raw is what stood there where that was no JSON.
	Raw *string `json:"raw"`
	// Proc numbers the processes of one recording, from 0.
	Proc int `json:"proc"`
}

// FromHost tells which end wrote it.
func (l Line) FromHost() bool { return l.Dir == "host->worker" }

// Record is the line as it stood on the wire.
func (l Line) Record() []byte {
	if l.Raw != nil {
		return []byte(*l.Raw)
	}
	return l.Frame
}

// Conversations are the recorded lines of one file, process by process.
func Conversations(tb testing.TB, file string) (procs [][]Line) {
	tb.Helper()
	data, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		tb.Fatal(err)
	}
	for one := range strings.Lines(string(data)) {
		var l Line
		if err := json.Unmarshal([]byte(one), &l); err != nil {
			tb.Fatalf("%s: %v: %s", file, err, one)
		}
		for len(procs) <= l.Proc {
			procs = append(procs, nil)
		}
		procs[l.Proc] = append(procs[l.Proc], l)
	}
	return slices.DeleteFunc(procs, func(p []Line) bool { return len(p) == 0 })
}

// WantAllReplayed compares the recordings below a directory with those that are replayed,
// which stand there with what they are about. Names have no ending.
func WantAllReplayed(tb testing.TB, dir string, about map[string]string) {
	tb.Helper()
	var missing []string
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(filepath.ToSlash(path), ".ndjson"); ok && err == nil {
			name = strings.TrimPrefix(name, dir+"/")
			if found[name] = true; about[name] == "" {
				missing = append(missing, name)
			}
		}
		return err
	})
	if err != nil || len(found) == 0 {
		tb.Fatalf("no recordings below %s: %v", dir, err)
	}
	for name := range about {
		if !found[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		tb.Fatalf("not recorded, or not replayed, or without a word on what it is about: %q", missing)
	}
}

// WantLost closes a driver's connection: so many calls end then, and nobody knows how.
func WantLost(tb testing.TB, d protocol.Driver, calls int) {
	tb.Helper()
	completed := 0
	for _, e := range d.Step(Now, protocol.Closed{}, nil) {
		done, ok := e.(protocol.Complete)
		if !ok {
			continue
		}
		completed++
		if code := protocol.CodeOf(done.Err); code != protocol.CodeOutcomeUnknown {
			tb.Fatalf("expected a call to end with %s, got %s: %v", protocol.CodeOutcomeUnknown, code, done.Err)
		}
	}
	if completed != calls {
		tb.Fatalf("expected %d calls to end with the connection, got %d", calls, completed)
	}
}
