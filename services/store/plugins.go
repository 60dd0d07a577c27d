package store

import (
	"context"
	"encoding/json"
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
}

const pluginColumns = `plugin, disabled, crashes, in_a_row, given_up, last_crash, last_crash_at, grants`

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

// maxReason is how much is kept of why a plugin crashed, in bytes.
const maxReason = 4 << 10

// SetCrashes remembers how a plugin crashed; of the reason, the first 4 KiB.
func (db *DB) SetCrashes(ctx context.Context, plugin string, c Crashes) error {
	c.Last = c.Last[:min(len(c.Last), maxReason)]
	return db.change(ctx, len(plugin)+len(c.Last), func(t *tx) error {
		return t.exec(`INSERT INTO plugins (plugin, crashes, in_a_row, given_up, last_crash, last_crash_at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET crashes = excluded.crashes, in_a_row = excluded.in_a_row, given_up = excluded.given_up,
				last_crash = excluded.last_crash, last_crash_at = excluded.last_crash_at`,
			plugin, c.All, c.InARow, c.GivenUp, c.Last, milliseconds(c.LastAt))
	})
}

// SetGrants gives a plugin these grants and no others.
func (db *DB) SetGrants(ctx context.Context, plugin string, grants []string) error {
	if limit := db.limits.Grants; len(grants) > limit {
		return refused(plugin, protocol.CodeInvalid, "%d grants are too many: a plugin may have %d", len(grants), limit)
	}
	if grants == nil {
		grants = []string{}
	}
	text, err := json.Marshal(grants)
	if err != nil {
		return err
	}
	return db.change(ctx, len(text), func(t *tx) error {
		return t.exec(`INSERT INTO plugins (plugin, grants) VALUES (?, ?)
			ON CONFLICT DO UPDATE SET grants = excluded.grants`, plugin, string(text))
	})
}

func readPlugin(scan func(...any) error) (p Plugin, err error) {
	var last int64
	var grants []byte
	c := &p.Crashes
	if err := scan(&p.Name, &p.Disabled, &c.All, &c.InARow, &c.GivenUp, &c.Last, &last, &grants); err != nil {
		return p, err
	}
	c.LastAt = moment(last)
	if p.Granted = grants != nil; p.Granted {
		err = json.Unmarshal(grants, &p.Grants)
	}
	return p, err
}
