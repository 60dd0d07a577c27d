package server

import (
	"fmt"
	"slices"
	"strings"
)

// term is one destination, or a part of one.
type term struct {
	kind string
	// any are the texts that it compares with; terms the parts of "and" and "or".
	any      []string
	terms    []term
	inverted bool
}

// The kinds of terms. The ones with a colon stand for a text with that prefix, which is
// compared in other ways than an expression is.
const (
	termAll      = "*"
	termAnd      = "and"
	termOr       = "or"
	termGlob     = "glob"
	termIDs      = "ids"
	termPlugin   = "plugin"
	termInstance = "instance"
	termLabel    = "label"
	termModule   = "module"
	termSource   = "source"
	// termText is a text without a known prefix: a glob.
	termText = ":"
	// termNone matches nobody.
	termNone = ""
)

// lists are the members that hold what an expression compares with.
var lists = map[string]string{
	termAnd: "all", termOr: "any", termIDs: "ids", termPlugin: "plugins", termInstance: "instances",
	termLabel: "selectors", termModule: "modules", termSource: "sources",
}

// termReader reads destinations, within limits.
type termReader struct {
	limits Limits
	terms  int
	err    error
}

// readDestinations reads a list of destinations. What the reference server dies of is an
// error: an expression without its list, or null.
func readDestinations(list []byte, l Limits) ([]term, error) {
	// Each level is looked at again for what is in it.
	if most := l.Terms * l.Destination; len(list) > most {
		return nil, &BadFrame{fmt.Sprintf("%s: destinations have more than %d bytes", invalidEvent, most)}
	}
	r := &termReader{limits: l}
	terms := r.list(list, func(item []byte) term { return r.destination(item) })
	return terms, r.err
}

func (r *termReader) list(list []byte, read func([]byte) term) (terms []term) {
	if !isList(list) {
		r.fail(errEvent)
		return nil
	}
	eachItem(list, func(item []byte) bool {
		if r.terms++; r.terms > r.limits.Terms {
			r.fail(&BadFrame{fmt.Sprintf("%s: destinations have more than %d expressions", invalidEvent, r.limits.Terms)})
		}
		if r.err == nil {
			terms = append(terms, read(item))
		}
		return r.err == nil
	})
	return terms
}

func (r *termReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// destination is one item of the list: a text, or an expression.
func (r *termReader) destination(item []byte) term {
	s, ok := text(item)
	if !ok {
		return r.expression(item, 1)
	}
	r.bound(s)
	if s == "*" {
		return term{kind: termAll}
	}
	// What stands behind a second colon does not count.
	prefix, value, _ := strings.Cut(s, ":")
	value, _, _ = strings.Cut(value, ":")
	switch prefix {
	case termPlugin, termInstance, termModule, termSource, "peer":
		return term{kind: prefix + ":", any: []string{value}}
	case termLabel:
		return term{kind: termLabel, any: []string{value}}
	}
	return term{kind: termText, any: []string{s}}
}

func (r *termReader) bound(s string) {
	if len(s) > r.limits.Destination {
		r.fail(&BadFrame{fmt.Sprintf("%s: a destination has more than %d bytes", invalidEvent, r.limits.Destination)})
	}
}

// expression reads an object. What is none is an expression of no type.
func (r *termReader) expression(item []byte, depth int) term {
	if isNull(item) {
		r.fail(errEvent)
	}
	if depth > r.limits.Depth {
		r.fail(&BadFrame{fmt.Sprintf("%s: destinations nest deeper than %d", invalidEvent, r.limits.Depth)})
	}
	if r.err != nil || !isObject(item) {
		return term{}
	}
	parts := members(item, "type", "inverted", "glob")
	t := term{inverted: isTrue(parts[1])}
	t.kind, _ = text(parts[0])
	switch t.kind {
	case termAnd, termOr:
		t.inverted = false
		t.terms = r.list(members(item, lists[t.kind])[0], func(part []byte) term { return r.expression(part, depth+1) })
	case termGlob:
		t.any = []string{r.glob(parts[2])}
	case termLabel:
		t.any = r.texts(members(item, lists[t.kind])[0], true)
	case termIDs, termPlugin, termInstance, termModule, termSource:
		t.any = r.texts(members(item, lists[t.kind])[0], false)
	default:
		return term{}
	}
	return t
}

func (r *termReader) glob(value []byte) string {
	glob, ok := text(value)
	if r.bound(glob); !ok {
		r.fail(errEvent)
	}
	return glob
}

// texts reads a list of texts, which count as terms. What is no text equals none; where
// only texts can be used, it is an error.
func (r *termReader) texts(list []byte, only bool) (found []string) {
	r.list(list, func(item []byte) term {
		s, ok := text(item)
		if r.bound(s); ok {
			found = append(found, s)
		} else if only {
			r.fail(errEvent)
		}
		return term{}
	})
	return found
}

// matches tells whether a connection is one of those that any of the terms means.
func (s *Server) matches(c *conn, terms []term) bool {
	return slices.ContainsFunc(terms, func(t term) bool { return s.matchesTerm(c, t) })
}

func (s *Server) matchesTerm(c *conn, t term) bool {
	switch t.kind {
	case termAll:
		return true
	case termAnd:
		return !slices.ContainsFunc(t.terms, func(part term) bool { return !s.matchesTerm(c, part) })
	case termOr:
		return s.matches(c, t.terms)
	case termNone:
		return false
	}
	return s.compares(c, t) != t.inverted
}

// compares tells whether a term's own texts are true of a connection. In an expression ""
// finds those that have no such thing; in a text it finds nobody.
func (s *Server) compares(c *conn, t term) bool {
	faces := c.faces()
	has := func(of func(Identity) string) bool {
		return slices.ContainsFunc(faces, func(id Identity) bool { return contains(t.any, of(id)) })
	}
	switch t.kind {
	case termPlugin + ":":
		return t.any[0] != "" && has(pluginOf)
	case termInstance + ":":
		return t.any[0] != "" && has(instanceOf)
	case termModule + ":", termSource + ":":
		return t.any[0] != "" && c.called(t.any)
	case "peer:", termIDs:
		return slices.ContainsFunc(t.any, func(id string) bool { return s.is(c, id) })
	case termPlugin:
		return has(pluginOf) || len(faces) == 0 && contains(t.any, "")
	case termInstance:
		return has(instanceOf) || len(faces) == 0 && contains(t.any, "")
	case termModule, termSource:
		return c.called(t.any) || len(c.modules) == 0 && contains(t.any, "")
	case termLabel:
		return c.labelled(t.any)
	}
	return c.globbed(t.any[0])
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func pluginOf(id Identity) string   { return id.Plugin }
func instanceOf(id Identity) string { return id.Instance }

// faces are all that a connection is known as: its modules, the extension that it said it
// is, and what it says in its events.
func (c *conn) faces() []Identity {
	if c.known != nil {
		return c.known
	}
	faces := make([]Identity, 0, len(c.modules)+2)
	for _, m := range c.modules {
		faces = append(faces, m.Identity)
	}
	if c.extension != nil {
		faces = append(faces, *c.extension)
	}
	if c.source != nil {
		faces = append(faces, *c.source)
	}
	c.known = faces
	return faces
}

// called tells whether a module of a connection has one of the names, or of the ids that a
// module of an extension has.
func (c *conn) called(names []string) bool {
	return slices.ContainsFunc(c.modules, func(m *module) bool {
		return contains(names, m.Name) || m.Generation == Extensions && contains(names, m.Identity.Instance)
	})
}

// labelled tells whether all selectors hold for one face.
func (c *conn) labelled(selectors []string) bool {
	for _, id := range c.faces() {
		if selected(selectors, id.Labels) {
			return true
		}
	}
	return selected(selectors, nil)
}

// selected tells whether all selectors hold: "key", or "key=value". What stands behind a
// second "=" does not count.
func selected(selectors []string, labels map[string]string) bool {
	return !slices.ContainsFunc(selectors, func(selector string) bool {
		key, want, equals := strings.Cut(selector, "=")
		want, _, _ = strings.Cut(want, "=")
		key, want = strings.TrimSpace(key), strings.TrimSpace(want)
		has, ok := labels[key]
		return key == "" || !ok || equals && has != want
	})
}

// globbed tells whether a glob means a connection: by a module's name, a plugin, or an
// instance.
func (c *conn) globbed(glob string) bool {
	for _, m := range c.modules {
		if globs(glob, m.Name) {
			return true
		}
	}
	return slices.ContainsFunc(c.faces(), func(id Identity) bool { return globs(glob, id.Plugin) || globs(glob, id.Instance) })
}

// globs tells whether a glob matches all of a text. Only "*" is special, and nothing is
// matched by no glob.
func globs(glob, s string) bool {
	if s == "" {
		return false
	}
	first, rest, starred := strings.Cut(glob, "*")
	if !starred {
		return glob == s
	}
	s, ok := strings.CutPrefix(s, first)
	for ok {
		part, more, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(s, part)
		}
		rest = more
		_, s, ok = strings.Cut(s, part)
	}
	return false
}
