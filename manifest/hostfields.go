package manifest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/airi-host/airi-host/capability"
)

// hostShape is the object "airi-host", the same in every ecosystem's manifest.
var hostShape = shape[HostFields]{fields: []field[HostFields]{
	{"requires", "", list(func(h *HostFields) *[]capability.Requirement { return (*[]capability.Requirement)(&h.Requires) },
		`an array of keys, e.g. ["tool:greet", {"anyOf": ["a", "b"]}]`, readRequirement)},
	{"offers", "", list(func(h *HostFields) *[]capability.Key { return &h.Offers },
		`an array of keys, e.g. ["tool:greet"]`, readKey)},
	{"command", "", readCommand},
	{"configuration", "", func(r *reader, at fieldPath, v value, h *HostFields) {
		configurationShape.read(r, at, v, &h.Configuration)
	}},
	{"invoke", "", list(func(h *HostFields) *[]string { return &h.Invoke },
		`an array of key patterns, e.g. ["tool:*"]`, readPattern)},
	{"env", "", readEnv},
	{"timeouts", "", func(r *reader, at fieldPath, v value, h *HostFields) {
		timeoutsShape.read(r, at, v, &h.Timeouts)
	}},
	{"limits", "", func(r *reader, at fieldPath, v value, h *HostFields) {
		limitsShape.read(r, at, v, &h.Limits)
	}},
	{"scope", "", func(r *reader, at fieldPath, v value, h *HostFields) {
		if scope, ok := nonBlank("a string, the tenant's id")(r, at, v); ok {
			h.Scope = scope
		}
	}},
	{"priority", "", integer(func(h *HostFields) *int { return &h.Priority }, -maxPriority, maxPriority)},
}}

// maxPriority keeps priorities exact in every JSON reader.
const maxPriority = 1_000_000

var requirementShape = shape[capability.Requirement]{fields: []field[capability.Requirement]{
	{"anyOf", `an array of keys, e.g. ["a", "b"]`, list(func(q *capability.Requirement) *[]capability.Key { return &q.AnyOf },
		`an array of keys, e.g. ["a", "b"]`, readKey)},
}}

var configurationShape = shape[Configuration]{fields: []field[Configuration]{
	{"required", "", truth(func(c *Configuration) *bool { return &c.Required })},
	{"schema", "", rawObject(func(c *Configuration) *json.RawMessage { return &c.Schema }, "an object, a JSON Schema")},
}}

var timeoutsShape = shape[Timeouts]{fields: []field[Timeouts]{
	{"load", "", timeout(func(t *Timeouts) *time.Duration { return &t.Load })},
	{"init", "", timeout(func(t *Timeouts) *time.Duration { return &t.Init })},
	{"setup", "", timeout(func(t *Timeouts) *time.Duration { return &t.Setup })},
	{"stop", "", timeout(func(t *Timeouts) *time.Duration { return &t.Stop })},
	{"call", "", timeout(func(t *Timeouts) *time.Duration { return &t.Call })},
	{"idle", "", timeout(func(t *Timeouts) *time.Duration { return &t.Idle })},
	{"capabilities", "", timeout(func(t *Timeouts) *time.Duration { return &t.Capabilities })},
}}

var limitsShape = shape[Limits]{fields: append([]field[Limits]{
	{"frameBytes", "", integer(func(l *Limits) *int { return &l.FrameBytes }, 1, MaxFrameBytes)},
	{"pendingCalls", "", integer(func(l *Limits) *int { return &l.PendingCalls }, 1, MaxPendingCalls)},
	{"logLines", "", integer(func(l *Limits) *int { return &l.LogLines }, 1, MaxLogLines)},
}, partly(workerLimitsShape, func(l *Limits) *WorkerLimits { return &l.Worker })...)}

// readKey reads one capability's key.
func readKey(r *reader, at fieldPath, v value) (capability.Key, bool) {
	if !r.expect(at, v, text, `a key, e.g. "tool:greet"`) {
		return "", false
	}
	key := capability.Key(v.text)
	if err := key.Validate(); err != nil {
		r.add(at, "%v", err)
		return "", false
	}
	if strings.TrimFunc(v.text, isBlank) != v.text {
		r.add(at, "expected a key, found %s: remove the blanks around it", v.found())
		return "", false
	}
	return key, true
}

// readPattern reads a key in which "*" may stand for any run of characters.
func readPattern(r *reader, at fieldPath, v value) (string, bool) {
	key, ok := readKey(r, at, v)
	return string(key), ok
}

// readRequirement reads a key, or an object that names several of which one will do.
func readRequirement(r *reader, at fieldPath, v value) (capability.Requirement, bool) {
	var q capability.Requirement
	switch v.kind {
	case text:
		key, ok := readKey(r, at, v)
		q.AnyOf = []capability.Key{key}
		return q, ok
	case object:
		requirementShape.read(r, at, v, &q)
		if keys, ok := v.get("anyOf"); ok && keys.kind == array && len(keys.items) == 0 {
			r.add(at.member("anyOf"), "expected at least one key, found none: remove the requirement or name one")
		}
		return q, len(q.AnyOf) > 0
	case null, boolean, number, array:
	}
	r.add(at, `expected a key or {"anyOf": ["a", "b"]}, found %s`, v.found())
	return q, false
}

// readCommand reads a program and its arguments; an argument may be empty.
func readCommand(r *reader, at fieldPath, v value, h *HostFields) {
	const what = `an array of strings, the program and its arguments, e.g. ["./worker", "--flag"]`
	list(func(h *HostFields) *[]string { return &h.Command }, what, readArgument)(r, at, v, h)
	if v.kind == array && (len(v.items) == 0 || v.items[0].kind == text && v.items[0].text == "") {
		r.add(at, "expected %s, found no program: name one or remove the command", what)
	}
}

// readArgument reads a string that a process can be given.
func readArgument(r *reader, at fieldPath, v value) (string, bool) {
	if !r.expect(at, v, text, "a string") {
		return "", false
	}
	if strings.ContainsRune(v.text, 0) {
		r.add(at, "expected a string without NUL, found %s", v.found())
		return "", false
	}
	return v.text, true
}

// readEnv reads the variables of a worker's environment, each with what its value
// refers to in the host's.
func readEnv(r *reader, at fieldPath, v value, h *HostFields) {
	if !r.expect(at, v, object, `an object of strings, e.g. {"API_KEY": "${MY_API_KEY}"}`) {
		return
	}
	h.Env = make(map[string]string, len(v.members))
	size := 0
	for _, m := range v.members {
		place := at.member(m.name)
		if m.name == "" || strings.ContainsAny(m.name, "=\x00") {
			r.add(place, `expected a variable's name: it may not be empty nor hold "=" or NUL`)
			continue
		}
		variable, ok := readArgument(r, place, m.value)
		if !ok {
			continue
		}
		expanded, errs := expand(variable, r.opts.lookup())
		for _, err := range errs {
			r.add(place, "%v", err)
		}
		if size += len(m.name) + len(expanded); size > maxEnvironment {
			r.add(at, "expected at most %d bytes in all: put what is long into a file and give the file's path", maxEnvironment)
			return
		}
		h.Env[m.name] = expanded
	}
}
