package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/audit"
	"github.com/airi-host/airi-host/services/store"
)

// What is kept of what plugins were denied, and of what was done by hand.

// actionDenied is the Action of a record of a denial.
const actionDenied = "denied"

// audit says how much is kept.
func (s *settings) audit(log *slog.Logger) audit.Options {
	a := s.Audit
	return audit.Options{
		Queue: a.Queue, Kinds: a.Kinds, Plugins: a.Plugins, Window: a.Window, MaxWindow: a.MaxWindow, Write: a.Write, Log: log,
	}
}

// denied has a denial kept.
func (st *state) denied(d actors.Denial) { st.trail.Deny(denialRecord(d)) }

func denialRecord(d actors.Denial) services.Record {
	r := services.Record{
		Plugin: d.Plugin, Company: d.Scope, Action: actionDenied, Message: d.Reason, EntityType: "method", EntityID: d.What,
	}
	if d.Grant != "" || d.Chain != nil {
		r.Metadata, _ = json.Marshal(struct { // of strings
			Grant string          `json:"grant,omitempty"`
			Chain []protocol.Link `json:"chain,omitempty"`
		}{d.Grant, d.Chain})
	}
	return r
}

// ordered has it kept that a plugin was given a command.
func (st *state) ordered(command, plugin string, err error) {
	r := services.Record{Plugin: plugin, Action: command, Message: command + " by hand"}
	if err != nil {
		r.Message = sentence(r.Message+" failed", err.Error())
	}
	st.trail.Add(r)
}

// attached has it kept that somebody was attached to a terminal or a channel of a plugin, or
// was refused that: not to which program, nor what the plugin said, which may quote what was
// asked for.
func (st *state) attached(kind protocol.RouteKind, plugin, scope string, err error) {
	r := services.Record{Plugin: plugin, Company: scope, Action: string(kind), EntityType: "route", Message: string(kind) + " by hand"}
	if err != nil {
		r.Message += " was refused"
		if code := protocol.CodeOf(err); code != "" {
			r.Message += ": " + string(code)
		}
	}
	st.trail.Add(r)
}

// configuring has it kept when a configuration is changed by hand.
type configuring struct {
	admin.Configurations
	trail *audit.Trail
}

// Commit implements admin.Configurations.
func (c configuring) Commit(ctx context.Context, plugin string, change configuration.Change) (configuration.Configuration, error) {
	kept, err := c.Configurations.Commit(ctx, plugin, change)
	r := services.Record{Plugin: plugin, Company: change.Company, Action: "configure", EntityType: "configuration"}
	if err != nil {
		r.Message = "a change of its configuration by hand was refused" // the reason may quote it
	} else {
		r.Message = "its configuration was changed by hand"
		r.Metadata, _ = json.Marshal(map[string]int64{"revision": kept.Revision}) // of a number
	}
	c.trail.Add(r)
	return kept, err
}

// auditWait is how long a search waits for what was done before it to be written.
const auditWait = time.Second

// searchAudit is admin.Options.Audit. What was done before is found, unless it takes too long
// to be written: the counts tell what waits.
func (st *state) searchAudit(ctx context.Context, s admin.AuditSearch) (list []admin.AuditRecord, err error) {
	soon, cancel := context.WithTimeout(ctx, auditWait)
	defer cancel()
	_ = st.trail.Flush(soon)
	all, err := st.db.AuditRecords(ctx, store.Search{Plugin: s.Plugin, Company: s.Company, Since: s.Since, Before: s.Before, Limit: s.Limit})
	for _, r := range all {
		list = append(list, admin.AuditRecord(r))
	}
	return list, err
}

func (st *state) auditCounts() admin.AuditCounts { return admin.AuditCounts(st.trail.Counts()) }
