package manifest

import (
	"strings"
	"time"
)

// GrantSettings are about the grants of plugins for which the settings list none.
type GrantSettings struct {
	// Ask has a plugin that is seen for the first time wait for the approval of what it
	// asks for; otherwise it is granted that.
	Ask bool
}

// AuditSettings bound how it is kept what plugins were denied and what was done by hand.
type AuditSettings struct {
	// Queue is how many records may wait to be written.
	Queue int
	// Kinds is how many kinds of denials of one plugin are told apart in one window, and
	// Plugins of how many plugins denials are counted at a time.
	Kinds, Plugins int
	// Window is for how long denials of one kind are one record, at first; MaxWindow is
	// what that grows to while they go on.
	Window, MaxWindow time.Duration
	// Write is how long writing one record may take.
	Write time.Duration
}

var grantsShape = shape[GrantSettings]{fields: []field[GrantSettings]{
	{"firstSight", "", func(r *reader, at fieldPath, v value, g *GrantSettings) {
		oneOf("grant", "ask").check(r, at, v)
		g.Ask = v.text == "ask"
	}},
}}

var auditShape = shape[AuditSettings]{fields: []field[AuditSettings]{
	{"queue", "", count(func(a *AuditSettings) *int { return &a.Queue })},
	{"kinds", "", count(func(a *AuditSettings) *int { return &a.Kinds })},
	{"plugins", "", count(func(a *AuditSettings) *int { return &a.Plugins })},
	{"window", "", timeout(func(a *AuditSettings) *time.Duration { return &a.Window })},
	{"maxWindow", "", timeout(func(a *AuditSettings) *time.Duration { return &a.MaxWindow })},
	{"write", "", timeout(func(a *AuditSettings) *time.Duration { return &a.Write })},
}}

// grantName reads the name of a grant: one that Paperclip or elizaOS knows, or that to
// call what matches a pattern.
func grantName(r *reader, at fieldPath, v value) (string, bool) {
	before := len(r.problems)
	if pattern, ok := strings.CutPrefix(v.text, InvokePrefix); ok && v.kind == text {
		readPattern(r, at, value{kind: text, text: pattern})
	} else if !IsElizaTag(v.text) || strings.HasPrefix(v.text, "isolation:") {
		aGrant.check(r, at, v)
	}
	return v.text, len(r.problems) == before
}
