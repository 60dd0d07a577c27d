package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/services/logs"
	"github.com/airi-host/airi-host/services/store"
)

// logFolder is where a state directory has the logs of plugins.
const logFolder = "logs"

// keptQueue is how many lines may wait to be handed to the files' own queues, which nobody
// waits in, unless the settings say otherwise.
const keptQueue = 8192

// logFilesTime is how long the last lines may take to be written, unless the settings say
// otherwise.
const logFilesTime = 2 * time.Second

// logFiles keep what plugins say.
type logFiles struct {
	*logs.Files
	dir string
	// lock is that of a directory outside of the state directory; else nil.
	lock *store.Lock
	// pumped closes when the last line was handed on.
	pumped chan struct{}
	// caughtUp takes what is to be closed once all lines that were said are handed on.
	caughtUp chan chan<- struct{}
	host     *actors.Host
	// drain is how long the last lines may take to be written.
	drain time.Duration
}

// keepsLogs tells whether a host on a state keeps what plugins say in files.
func (c *cli) keepsLogs(st *state) bool { return !st.temporary && !c.settings.Logs.Off }

// keepLogs has all that plugins say from now on written to files, until the host is shut
// down. Its close must follow then.
func (c *cli) keepLogs(host *actors.Host, st *state, hidden *hush, log *slog.Logger) (*logFiles, error) {
	said := c.settings.Logs
	k := &logFiles{
		dir: c.logDir(st), host: host, pumped: make(chan struct{}), caughtUp: make(chan chan<- struct{}), drain: c.settings.ends().logs,
	}
	if said.Dir != "" {
		lock, err := store.Acquire(k.dir)
		if held, ok := errors.AsType[*store.LockedError](err); ok {
			return nil, ofLogDir(held) // two hosts would rotate each other's files
		}
		if err == nil { // else it is told when something cannot be written
			k.lock = lock
		}
	}
	k.Files = logs.Open(k.dir, c.settings.logFiles(log))
	sub := host.Subscribe(actors.KindLog, c.settings.queues().kept)
	go k.pump(sub, hidden)
	return k, nil
}

// ofLogDir is an error about the directory of the settings for logs.
func ofLogDir(err error) error { return fmt.Errorf("logs.dir of the settings: %w", err) }

// pump hands on what plugins say.
func (k *logFiles) pump(sub *actors.Subscription, hidden *hush) {
	defer close(k.pumped)
	var lost uint64
	take := func(e actors.Event) {
		if now := sub.Dropped(); now > lost {
			k.Lost(now - lost)
			lost = now
		}
		if line, ok := e.(actors.Logged); ok {
			k.Add(recordOf(line, hidden))
		}
	}
	for {
		select {
		case e, open := <-sub.C:
			if !open {
				return
			}
			take(e)
		case done := <-k.caughtUp:
			for range len(sub.C) {
				if e, open := <-sub.C; open {
					take(e)
				}
			}
			close(done)
		}
	}
}

// close writes the last lines, once the host has ended.
func (k *logFiles) close() error {
	if k == nil {
		return nil
	}
	<-k.pumped
	ctx, cancel := context.WithTimeout(context.Background(), k.drain)
	defer cancel()
	err := k.Close(ctx)
	if k.lock != nil {
		err = errors.Join(err, k.lock.Release())
	}
	return err
}

// recordOf is a line as it is kept: without what may be secret, as far as that is known.
func recordOf(line actors.Logged, hidden *hush) logs.Record {
	r := logs.Record{
		Time: line.At, Level: line.Level, Plugin: line.Plugin, Session: line.Session, Stream: line.Stream,
		Message: hidden.cover(cmp.Or(line.Message, line.Text)),
	}
	if line.Fields != "" {
		r.Fields = json.RawMessage(hidden.cover(mask([]byte(line.Fields))))
	}
	return r
}

// lineOfRecord is a line that was kept.
func lineOfRecord(r logs.Record) actors.Logged {
	line := actors.Logged{
		Origin: actors.Origin{Session: r.Session, Plugin: r.Plugin}, Level: r.Level, Stream: r.Stream, Text: r.Message, At: r.Time,
	}
	if r.Fields != nil {
		line.Message, line.Fields = r.Message, actors.Fields(r.Fields)
		line.Text += fieldsText(r.Fields)
	}
	return line
}

// fieldsText shows fields as a log does: " key=value".
func fieldsText(fields json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(fields))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return " " + string(fields)
	}
	var text strings.Builder
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			break
		}
		shown := string(value)
		var plain string
		if json.Unmarshal(value, &plain) == nil {
			shown = plain
		}
		name, _ := key.(string)
		text.WriteString(" " + name + "=" + shown)
	}
	return text.String()
}

// Past is for admin.LogFiles.
func (k *logFiles) Past(plugin string, q admin.LogQuery) (lines []actors.Logged, left int, err error) {
	records, left, err := logs.ReadEnd(k.dir, plugin, logs.Query{N: q.N, Since: q.Since, Before: q.Before}, q.Bytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	return loggedOf(records), left, nil
}

// readLogs reads lines that were kept in a directory; none, if it is not there.
func readLogs(dir, plugin string, q logs.Query) ([]actors.Logged, error) {
	records, err := logs.Read(dir, plugin, q)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return loggedOf(records), nil
}

func loggedOf(records []logs.Record) []actors.Logged {
	lines := make([]actors.Logged, len(records))
	for i, r := range records {
		lines[i] = lineOfRecord(r)
	}
	return lines
}

// File is for admin.LogFiles.
func (k *logFiles) File(plugin string) admin.LogFile {
	info := k.Of(plugin)
	file := admin.LogFile{Path: info.Path, Dropped: info.Dropped}
	if info.Err != nil {
		file.Error = info.Err.Error()
	}
	return file
}

// Stats is for admin.LogFiles.
func (k *logFiles) Stats() admin.LogStats {
	s := k.Files.Stats()
	return admin.LogStats{Bytes: s.Bytes, Waiting: s.Waiting, Failing: s.Failing, Dropped: s.Dropped}
}

var _ admin.LogFiles = (*logFiles)(nil)
