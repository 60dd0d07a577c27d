package manifest

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// elizaIssue is one thing that the ecosystem's own reader finds wrong.
type elizaIssue struct {
	// path and words are that reader's own.
	path, words string
	// at is the same place as problems name it.
	at fieldPath
	// found is what stands there; of no kind where nothing does.
	found value
}

// String says what is wrong in the way of this package.
func (i elizaIssue) String() string {
	words := strings.TrimSuffix(strings.ToLower(i.words[:1])+i.words[1:], ".")
	switch {
	case strings.HasPrefix(words, "unknown permission"):
		known := elizaHostPermissions
		if strings.HasPrefix(i.path, "permissions.bun") {
			known = elizaBunPermissions
		}
		return words + ": remove it (known are " + strings.Join(known, ", ") + ")"
	case i.found.kind == "":
		return "is missing: " + words
	case i.path == "permissions" && i.found.kind == array:
		return words + `, found an array: write {"host": {…}, "bun": {…}} with true for each permission`
	}
	return words + ", found " + i.found.found()
}

// The permissions that elizaOS knows.
var (
	elizaHostPermissions = []string{"windows", "tray", "notifications", "storage", "manage-remote-plugins"}
	elizaBunPermissions  = []string{"read", "write", "env", "run", "ffi", "addons", "worker"}
)

// elizaIssues are all issues that the ecosystem's own reader finds, in its order.
func elizaIssues(root value) []elizaIssue {
	c := &elizaChecks{}
	if root.kind != object {
		c.add("$", "", "Expected object.", root)
		return c.issues
	}
	for _, name := range []string{"id", "name", "version", "description"} {
		v := root.at(name)
		switch {
		case !saysSomething(v):
			c.add("$."+name, fieldPath(name), "Expected non-empty string.", v)
		case name == "id" && !isID(v.text):
			c.add("$.id", "id", "Expected remote plugin id segments containing only letters, numbers, underscores, hyphens, or dots.", v)
		}
	}
	if v := root.at("mode"); v.kind != text || v.text != "window" && v.text != "background" {
		c.add("mode", "mode", "Expected window or background.", v)
	}
	c.permissions(root.at("permissions"))
	c.view(root.at("view"))
	if worker := root.at("worker"); c.object("worker", "worker", worker) {
		c.nonBlank(worker, "worker", "worker", "relativePath")
	}
	if v, ok := root.get("dependencies"); ok && c.object("dependencies", "dependencies", v) {
		for _, m := range v.members {
			if m.value.kind != text {
				c.add("dependencies."+m.name, fieldPath("dependencies").member(m.name), "Expected string.", m.value)
			}
		}
	}
	if v, ok := root.get("remoteUIs"); ok && c.object("remoteUIs", "remoteUIs", v) {
		for _, m := range v.members {
			path, at := "remoteUIs."+m.name, fieldPath("remoteUIs").member(m.name)
			if c.object(path, at, m.value) {
				c.nonBlank(m.value, path, at, "name", "path")
			}
		}
	}
	return c.issues
}

// elizaChecks collects issues.
type elizaChecks struct{ issues []elizaIssue }

func (c *elizaChecks) add(path string, at fieldPath, words string, found value) {
	c.issues = append(c.issues, elizaIssue{path, words, at, found})
}

func (c *elizaChecks) object(path string, at fieldPath, v value) bool {
	if v.kind != object {
		c.add(path, at, "Expected object.", v)
	}
	return v.kind == object
}

// nonBlank wants members that are text and say something.
func (c *elizaChecks) nonBlank(of value, path string, at fieldPath, names ...string) {
	for _, name := range names {
		if v := of.at(name); !saysSomething(v) {
			c.add(path+"."+name, at.member(name), "Expected non-empty string.", v)
		}
	}
}

func saysSomething(v value) bool {
	return v.kind == text && strings.TrimFunc(v.text, isBlank) != ""
}

func (c *elizaChecks) permissions(v value) {
	if !c.object("permissions", "permissions", v) {
		return
	}
	for _, of := range []struct {
		name  string
		known []string
	}{{"host", elizaHostPermissions}, {"bun", elizaBunPermissions}} {
		path, at := "permissions."+of.name, fieldPath("permissions").member(of.name)
		all, ok := v.get(of.name)
		if !ok || !c.object(path, at, all) {
			continue
		}
		for _, m := range all.members {
			switch {
			case !slices.Contains(of.known, m.name):
				c.add(path+"."+m.name, at.member(m.name), "Unknown permission.", m.value)
			case m.value.kind != boolean:
				c.add(path+"."+m.name, at.member(m.name), "Expected boolean.", m.value)
			}
		}
	}
	if i, ok := v.get("isolation"); ok && (i.kind != text || i.text != IsolationShared && i.text != IsolationProcess) {
		c.add("permissions.isolation", "permissions.isolation", "Expected shared-worker or isolated-process.", i)
	}
}

func (c *elizaChecks) view(v value) {
	if !c.object("view", "view", v) {
		return
	}
	c.nonBlank(v, "view", "view", "relativePath", "title")
	for _, name := range []string{"width", "height"} {
		if size := v.at(name); !isFinite(size) {
			c.add("view."+name, fieldPath("view").member(name), "Expected finite number.", size)
		}
	}
	if style, ok := v.get("titleBarStyle"); ok {
		switch {
		case style.kind != text:
			c.add("view.titleBarStyle", "view.titleBarStyle", "Expected string.", style)
		case !slices.Contains([]string{"hidden", "hiddenInset", "default"}, style.text):
			c.add("view.titleBarStyle", "view.titleBarStyle", "Expected hidden, hiddenInset, or default.", style)
		}
	}
	for _, name := range []string{"hidden", "transparent"} {
		if b, ok := v.get(name); ok && b.kind != boolean {
			c.add("view."+name, fieldPath("view").member(name), "Expected boolean.", b)
		}
	}
}

// isFinite tells whether a value is a number that a double has.
func isFinite(v value) bool {
	f, err := strconv.ParseFloat(string(v.raw), 64)
	return v.kind == number && err == nil && !math.IsInf(f, 0)
}
