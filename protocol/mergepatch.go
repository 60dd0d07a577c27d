package protocol

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// MergePatch applies a JSON merge patch (RFC 7396). What is no object is replaced. Patches
// come from plugins: however deep one nests, each of its bytes is read a few times only.
func MergePatch(target, patch json.RawMessage) json.RawMessage {
	changes := readTree(patch)
	if changes == nil || changes.members == nil {
		return patch
	}
	merged, _ := json.Marshal(json.RawMessage(readTree(target).patched(changes).append(nil))) // of JSON values
	return merged
}

// tree is a JSON value of which the objects have been read.
type tree struct {
	// text is the value as it came, nil for an object that was changed.
	text []byte
	// members are an object's; nil for any other value.
	members map[string]*tree
}

// readTree reads a value; nil for what is none, or nests deeper than encoding/json goes.
func readTree(value []byte) *tree {
	if !json.Valid(value) {
		return nil
	}
	return scanTree(&Scanner{Data: value})
}

// scanTree reads the value that comes next, of JSON that was checked.
func scanTree(s *Scanner) *tree {
	s.Space()
	from, t := s.Pos, &tree{}
	if s.Skip('{') {
		t.members = map[string]*tree{}
		s.Space()
		for key := s.Pos; s.Key(); key = s.Pos {
			name := string(TextOf(bytes.TrimRight(s.Data[key:s.Pos], ": \t\r\n")))
			t.members[name] = scanTree(s)
			s.Space()
			s.Skip(',')
			s.Space()
		}
		s.Skip('}')
	} else {
		s.Value()
	}
	t.text = s.Data[from:s.Pos]
	return t
}

// patched is what a value becomes, itself changed; nil is one that was not there.
func (t *tree) patched(changes *tree) *tree {
	if changes.members == nil {
		return changes
	}
	if t == nil || t.members == nil {
		t = &tree{members: map[string]*tree{}}
	}
	t.text = nil
	for name, change := range changes.members {
		if string(change.text) == "null" {
			delete(t.members, name)
			continue
		}
		t.members[name] = t.members[name].patched(change)
	}
	return t
}

// append writes a value, the members of a changed object by name.
func (t *tree) append(dst []byte) []byte {
	if t.text != nil {
		return append(dst, t.text...)
	}
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(t.members)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendText(dst, name), ':')
		dst = t.members[name].append(dst)
	}
	return append(dst, '}')
}
