package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/services"
)

// That settings have changed is kept in the audit, by field and never by value: a value may
// be a configuration, and what a plugin says of it may quote it.

// The most that one reload leaves in the audit.
const (
	maxSettingsRecords = 64  // plugins with a record of their own; what is of others is the host's
	maxSettingsFields  = 50  // fields that one record names
	maxSettingsField   = 120 // bytes of one field's name
)

// settingsRecords are what is kept of a reload: a record for the host's own settings, and
// one for each plugin's.
func settingsRecords(report admin.SettingsReload) []services.Record {
	if n := len(report.Problems); n > 0 {
		return []services.Record{settingsRecord("", fmt.Sprintf("the settings were to be read again, and nothing was changed, for %s",
			plural(n, "problem", "problems")), nil)}
	}
	by := map[string][]admin.SettingChange{}
	var order []string
	for _, one := range report.Changes {
		plugin := one.Plugin
		if plugin != "" && by[plugin] == nil && len(order) >= maxSettingsRecords {
			plugin = ""
		}
		if by[plugin] == nil {
			order = append(order, plugin)
		}
		by[plugin] = append(by[plugin], one)
	}
	var list []services.Record
	for _, plugin := range order {
		list = append(list, changesRecord(plugin, by[plugin]))
	}
	return list
}

// changesRecord is the record of changes that are about one plugin, or about the host.
func changesRecord(plugin string, changes []admin.SettingChange) services.Record {
	fields := make([]fieldEffect, 0, min(len(changes), maxSettingsFields))
	words := make([]string, 0, cap(fields))
	for _, one := range changes[:cap(fields)] {
		field := cut(one.Field, maxSettingsField)
		fields = append(fields, fieldEffect{field, one.Effect})
		words = append(words, field+" ("+cameOf[one.Effect]+")")
	}
	message := "the settings were read again by hand: " + strings.Join(words, ", ")
	if more := len(changes) - len(fields); more > 0 {
		message += fmt.Sprintf(" and %d more", more)
	}
	return settingsRecord(plugin, message, fields)
}

// fieldEffect is what has come of a change of one field.
type fieldEffect struct {
	Field  string              `json:"field"`
	Effect admin.SettingEffect `json:"effect"`
}

func settingsRecord(plugin, message string, fields []fieldEffect) services.Record {
	r := services.Record{Plugin: plugin, Action: "settings", EntityType: "settings", Message: message}
	if fields != nil {
		r.Metadata, _ = json.Marshal(map[string][]fieldEffect{"fields": fields}) // of texts
	}
	return r
}

// keep has it kept what has come of a reload.
func (r *reloader) keep(report admin.SettingsReload) {
	for _, one := range settingsRecords(report) {
		r.h.grants.trail.Add(one)
	}
}
