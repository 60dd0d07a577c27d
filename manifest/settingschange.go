package manifest

import (
	"bytes"
	"slices"
)

// SettingsChange is a field that two files of settings do not have in common.
type SettingsChange struct {
	// Field is its path, as [Problem] has it; Path has the same in parts.
	Field string
	Path  []string
}

// ChangedSettings lists in which fields two files of settings differ that
// [ParseSettings] takes, in the order of the second; what only the first has comes
// last. An empty text stands for {}. A field may be written otherwise and say the same:
// then it is listed as well. A secret and a configuration are one field each, and so is
// an array.
func ChangedSettings(before, after []byte) []SettingsChange {
	d := &differ{}
	d.object(nil, "", settingsObject(before), settingsObject(after))
	return d.changes
}

// FieldOf is the path of a field in one piece, as [Problem] has it.
func FieldOf(path ...string) string {
	var at fieldPath
	for _, name := range path {
		at = at.member(name)
	}
	return string(at)
}

// settingsObject reads a text that is right.
func settingsObject(text []byte) value {
	root, err := decode(bytes.TrimPrefix(text, byteOrderMark), func(fieldPath, int) {})
	if err != nil || root.kind != object {
		return value{kind: object}
	}
	return root
}

type differ struct{ changes []SettingsChange }

// object compares what two objects have.
func (d *differ) object(path []string, at fieldPath, before, after value) {
	for _, m := range after.members {
		old, _ := before.get(m.name)
		d.member(append(slices.Clip(path), m.name), at.member(m.name), old, m.value)
	}
	for _, m := range before.members {
		if !after.has(m.name) {
			d.member(append(slices.Clip(path), m.name), at.member(m.name), m.value, value{})
		}
	}
}

// member compares a field, which one of them may not have.
func (d *differ) member(path []string, at fieldPath, before, after value) {
	objects := (before.kind == object || before.kind == "") && (after.kind == object || after.kind == "")
	switch {
	case objects && !isOneField(path):
		d.object(path, at, before, after)
	case before.kind != after.kind || !same(before, after):
		d.changes = append(d.changes, SettingsChange{Field: string(at), Path: path})
	}
}

// isOneField tells whether a field is compared as a whole.
func isOneField(path []string) bool {
	return len(path) == 2 && path[0] == "secrets" || len(path) > 2 && path[0] == "plugins" && path[len(path)-1] == "config"
}

// same tells whether two values are written alike, but for blanks and the order of
// members.
func same(a, b value) bool {
	if a.kind != b.kind || len(a.members) != len(b.members) || len(a.items) != len(b.items) {
		return false
	}
	for _, m := range a.members {
		other, ok := b.get(m.name)
		if !ok || !same(m.value, other) {
			return false
		}
	}
	for i := range a.items {
		if !same(a.items[i], b.items[i]) {
			return false
		}
	}
	switch a.kind {
	case text:
		return a.text == b.text
	case object, array:
		return true
	case null, boolean, number:
	}
	return string(a.raw) == string(b.raw)
}
