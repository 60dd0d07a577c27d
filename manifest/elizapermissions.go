package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ElizaPermissions are what an elizaOS plugin asks for, or is given.
type ElizaPermissions struct {
	// Host and Bun have what is said of each permission, as it was written: true and
	// false, from whoever keeps to the rules.
	Host, Bun map[string]json.RawMessage
	// Isolation is how the worker is kept apart: IsolationShared or IsolationProcess.
	Isolation string
}

// ReadElizaPermissions reads permissions in any form that there was: the object, an
// older array of words like "bun:fs" and "storage", or nothing. What it does not know
// it passes over; null and what is no permissions at all ask for nothing.
func ReadElizaPermissions(raw json.RawMessage) ElizaPermissions {
	v, err := decode(raw, func(fieldPath, int) {})
	if err != nil {
		v = value{}
	}
	return elizaPermissionsOf(v)
}

// legacyBun is what the older words mean.
var legacyBun = map[string][]string{
	"bun:fs": {"read", "write"}, "bun:env": {"env"}, "bun:child_process": {"run"}, "bun:ffi": {"ffi"}, "bun:addons": {"addons"},
}

func elizaPermissionsOf(v value) ElizaPermissions {
	p := ElizaPermissions{Host: map[string]json.RawMessage{}, Bun: map[string]json.RawMessage{}, Isolation: IsolationShared}
	for _, word := range v.items {
		for _, name := range legacyBun[word.text] {
			p.Bun[name] = json.RawMessage("true")
		}
		if slices.Contains(elizaHostPermissions, word.text) {
			p.Host[word.text] = json.RawMessage("true")
		}
	}
	for _, m := range v.at("host").members {
		p.Host[m.name] = m.value.raw
	}
	for _, m := range v.at("bun").members {
		p.Bun[m.name] = m.value.raw
	}
	if isolation := v.word("isolation"); isolation != "" {
		p.Isolation = isolation
	}
	return p
}

// JSON returns the permissions as an object, with all three members.
func (p ElizaPermissions) JSON() json.RawMessage {
	raw, _ := json.Marshal(struct {
		Host      map[string]json.RawMessage `json:"host"`
		Bun       map[string]json.RawMessage `json:"bun"`
		Isolation string                     `json:"isolation"`
	}{p.Host, p.Bun, p.Isolation}) // JSON already, and a string
	return raw
}

// Has tells whether a permission is given, by its tag: "host:tray", "bun:read".
func (p ElizaPermissions) Has(tag string) bool {
	return slices.Contains(p.Tags(), tag)
}

// Tags lists what is given, in the ecosystem's order, and how the worker is kept apart:
// "host:storage", "bun:read", "isolation:shared-worker".
func (p ElizaPermissions) Tags() []string {
	return append(append(granted("host:", p.Host, elizaHostPermissions), granted("bun:", p.Bun, elizaBunPermissions)...),
		"isolation:"+p.Isolation)
}

func granted(prefix string, said map[string]json.RawMessage, known []string) (tags []string) {
	for _, name := range known {
		if string(said[name]) == "true" {
			tags = append(tags, prefix+name)
		}
	}
	return tags
}

// Only returns the permissions with those refused whose tags are not in the list. What
// was said stays said: that nothing is allowed is not that nothing was asked for.
func (p ElizaPermissions) Only(tags []string) ElizaPermissions {
	only := func(prefix string, said map[string]json.RawMessage) map[string]json.RawMessage {
		said = maps.Clone(said)
		for name := range said {
			if !slices.Contains(tags, prefix+name) {
				said[name] = json.RawMessage("false")
			}
		}
		return said
	}
	return ElizaPermissions{Host: only("host:", p.Host), Bun: only("bun:", p.Bun), Isolation: p.Isolation}
}

// Merge returns the permissions with those of others put over them, each for itself.
// The isolation is the others' where they name one.
func (p ElizaPermissions) Merge(over json.RawMessage) ElizaPermissions {
	other := ReadElizaPermissions(over)
	merged := ElizaPermissions{Host: maps.Clone(p.Host), Bun: maps.Clone(p.Bun), Isolation: p.Isolation}
	maps.Copy(merged.Host, other.Host)
	maps.Copy(merged.Bun, other.Bun)
	if v, err := decode(over, func(fieldPath, int) {}); err == nil && v.word("isolation") != "" {
		merged.Isolation = other.Isolation
	}
	return merged
}

// Beyond lists the tags that were not given before: what somebody has to be asked
// about. What is asked for no more is not told.
func (p ElizaPermissions) Beyond(before ElizaPermissions) []string {
	had := before.Tags()
	return slices.DeleteFunc(p.Tags(), func(tag string) bool { return slices.Contains(had, tag) })
}

// IsElizaTag tells whether a word is the tag of a permission or of an isolation.
func IsElizaTag(tag string) bool {
	scope, name, _ := strings.Cut(tag, ":")
	switch scope {
	case "host":
		return slices.Contains(elizaHostPermissions, name)
	case "bun":
		return slices.Contains(elizaBunPermissions, name)
	case "isolation":
		return name == IsolationShared || name == IsolationProcess
	}
	return false
}
