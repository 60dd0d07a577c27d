package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Plugin is what is remembered of a plugin from one run of the host to the next.
type Plugin struct {
	Name string
	// Disabled tells that it is not started with the host.
	Disabled bool
	// Crashes are what its supervisor counts.
	Crashes Crashes
	// Grants are those that it was given, if Granted; else nobody has decided.
	Grants  []string
	Granted bool
	// Refused are those that it asked for and was not given for good.
	Refused []string
}

// Crashes are how a plugin's worker has crashed.
type Crashes struct {
	// All is how many there were; InARow, how many of them are not forgiven.
	All, InARow int
	// GivenUp tells that it is not started again but by hand.
	GivenUp bool
	// Last is why it crashed last, at LastAt, which is zero if it never has.
	Last   string
	LastAt time.Time
	// Next is when it is to be started again; zero if that is not planned.
	Next time.Time
}

const pluginColumns = `plugin, disabled, crashes, in_a_row, given_up, last_crash, last_crash_at, next_restart_at, grants, refused`

// Plugin returns what is remembered of a plugin: only its name, if nothing is.
func (db *DB) Plugin(ctx context.Context, name string) (Plugin, error) {
	all, err := rowsOf(ctx, db, readPlugin, `SELECT `+pluginColumns+` FROM plugins WHERE plugin = ?`, name)
	if len(all) == 0 {
		return Plugin{Name: name}, err
	}
	return all[0], err
}

// Plugins returns all that is remembered, by name.
func (db *DB) Plugins(ctx context.Context) ([]Plugin, error) {
	return rowsOf(ctx, db, readPlugin, `SELECT `+pluginColumns+` FROM plugins ORDER BY plugin`)
}

// SetDisabled says whether a plugin is not started with the host.
func (db *DB) SetDisabled(ctx context.Context, plugin string, disabled bool) error {
	return db.change(ctx, len(plugin), func(t *tx) error {
		return t.exec(`INSERT INTO plugins (plugin, disabled) VALUES (?, ?)
			ON CONFLICT DO UPDATE SET disabled = excluded.disabled`, plugin, disabled)
	})
}

// maxReason is how much is kept of why a plugin crashed or a run failed, in bytes.
const maxReason = 4 << 10

// reason is as much of a text as is kept, in whole characters.
func reason(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "")
}

// SetCrashes remembers how a plugin crashed; of the reason, the first 4 KiB.
func (db *DB) SetCrashes(ctx context.Context, plugin string, c Crashes) error {
	c.Last = reason(c.Last)
	return db.change(ctx, len(plugin)+len(c.Last), func(t *tx) error {
		return t.exec(`INSERT INTO plugins (plugin, crashes, in_a_row, given_up, last_crash, last_crash_at, next_restart_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET crashes = excluded.crashes, in_a_row = excluded.in_a_row, given_up = excluded.given_up,
				last_crash = excluded.last_crash, last_crash_at = excluded.last_crash_at,
				next_restart_at = excluded.next_restart_at`,
			plugin, c.All, c.InARow, c.GivenUp, c.Last, milliseconds(c.LastAt), milliseconds(c.Next))
	})
}

// SetGrants gives a plugin these grants and no others, and remembers which it was refused.
func (db *DB) SetGrants(ctx context.Context, plugin string, grants, refused []string) error {
	if n, limit := len(grants)+len(refused), db.limits.Grants; n > limit {
		return tooMany(plugin, n, limit)
	}
	given, no := listOf(grants), listOf(refused)
	return db.change(ctx, len(given)+len(no), func(t *tx) error {
		return t.exec(`INSERT INTO plugins (plugin, grants, refused) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET grants = excluded.grants, refused = excluded.refused`, plugin, given, no)
	})
}

func tooMany(plugin string, n, limit int) error {
	return refused(plugin, protocol.CodeInvalid, "%d grants are too many: a plugin may have %d, those that it was refused among them", n, limit)
}

// listOf is a JSON array of texts.
func listOf(list []string) string {
	text, _ := json.Marshal(append([]string{}, list...)) // of strings
	return string(text)
}

func readPlugin(scan func(...any) error) (p Plugin, err error) {
	var last, next int64
	var grants, refused []byte
	c := &p.Crashes
	if err := scan(&p.Name, &p.Disabled, &c.All, &c.InARow, &c.GivenUp, &c.Last, &last, &next, &grants, &refused); err != nil {
		return p, err
	}
	c.LastAt, c.Next = moment(last), moment(next)
	if p.Granted = grants != nil; p.Granted {
		err = json.Unmarshal(grants, &p.Grants)
	}
	if string(refused) != "[]" {
		err = errors.Join(err, json.Unmarshal(refused, &p.Refused))
	}
	return p, err
}
