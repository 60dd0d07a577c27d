package main

import (
	"slices"
	"strings"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/manifest"
)

// mostOffDuty is how many disabled plugins a caller is told of.
const mostOffDuty = 3

// offDuty says which disabled plugins declare a key that nobody offers, for
// actors.Options.Unstarted.
func (h *house) offDuty(key, plugin string) string {
	var all []string
	for _, name := range h.roster.list() {
		if plugin != "" && plugin != name || !h.disabled.has(name) {
			continue
		}
		if m := h.roster.get(name); m == nil || !declares(m, capability.Key(key)) {
			continue
		}
		all = append(all, "plugin "+name+" offers it when it runs, and is disabled: 'airi-host enable "+name+"'")
		if len(all) == mostOffDuty {
			break
		}
	}
	return strings.Join(all, "; ")
}

// declares tells whether a plugin that does not run is known to offer a key: by its
// manifest, or as a program that is compiled in.
func declares(m *manifest.Manifest, key capability.Key) bool {
	if slices.Contains(m.Host.Offers, key) {
		return true
	}
	for _, o := range m.Declared() {
		if o.Key == key {
			return true
		}
	}
	if m.Entrypoints.Go == nil {
		return false
	}
	name, _ := strings.CutPrefix(*m.Entrypoints.Go, "builtin:")
	if program := programs()[name]; program != nil {
		for _, o := range program.Offers() {
			if o.Key == string(key) {
				return true
			}
		}
	}
	return false
}
