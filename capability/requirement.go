package capability

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Requirement is met while at least one of its keys is ready.
type Requirement struct {
	// AnyOf lists the keys; one is enough.
	AnyOf []Key `json:"anyOf"`
}

// String lists the keys for people: "tool:a or tool:b".
func (q Requirement) String() string {
	var b strings.Builder
	for i, key := range q.AnyOf {
		if i > 0 {
			b.WriteString(" or ")
		}
		b.WriteString(string(key))
	}
	return b.String()
}

// Requirements are met while each of them is, all at the same time. The zero value
// asks for nothing and is always met.
type Requirements []Requirement

// Strings lists the requirements for people, one a string.
func (q Requirements) Strings() []string {
	list := make([]string, len(q))
	for i := range q {
		list[i] = q[i].String()
	}
	return list
}

// String lists the requirements for people: "tool:a, tool:b or tool:c".
func (q Requirements) String() string { return strings.Join(q.Strings(), ", ") }

// Validate finds a requirement without keys, which nothing could meet, and keys
// that are none.
func (q Requirements) Validate() error {
	for i := range q {
		if len(q[i].AnyOf) == 0 {
			return fmt.Errorf("requirement %d of %d: %w", i+1, len(q), errNoKeys)
		}
		for _, key := range q[i].AnyOf {
			if err := key.Validate(); err != nil {
				return fmt.Errorf("requirement %d of %d: %w", i+1, len(q), err)
			}
		}
	}
	return nil
}

var errNoKeys = errors.New("it names no capability: expected at least one key")

// Unmet returns the keys of those requirements that are not met in the snapshot, in
// the order of writing, each key once. It is empty when all is met.
func (q Requirements) Unmet(s *Snapshot) []Key {
	var missing []Key
	for i := range q {
		if !slices.ContainsFunc(q[i].AnyOf, s.Ready) {
			missing = appendNew(missing, q[i].AnyOf)
		}
	}
	return missing
}

// appendNew appends the keys that are not yet in the list.
func appendNew(list, keys []Key) []Key {
	for _, key := range keys {
		if !slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	return list
}
