package eliza

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// The surfaces of a plugin.
const (
	surfaceAction    = "action"
	surfaceProvider  = "provider"
	surfaceService   = "service"
	surfaceModel     = "model"
	surfaceEvent     = "event"
	surfaceRoute     = "route"
	surfaceEvaluator = "evaluator"
	surfaceTests     = "tests"
)

// Grants are the permissions given to a plugin. The zero value is none said of, which
// allows everything, as in the reference.
type Grants struct {
	// said tells that there is an entry at all, right or wrong.
	said             bool
	read, write, run bool
	// host is any permission of the host.
	host bool
}

// GrantsOf reads a grant, {host?, bun?, isolation?}, by JavaScript's idea of truth. What
// is no object, or has no entry in its host and bun maps, says nothing.
func GrantsOf(granted json.RawMessage) Grants {
	var g Grants
	protocol.EachMember(member(granted, "host"), func(_, value []byte) {
		g.said = true
		g.host = g.host || truthy(value)
	})
	protocol.EachMember(member(granted, "bun"), func(key, value []byte) {
		g.said = true
		switch string(key) {
		case "read":
			g.read = truthy(value)
		case "write":
			g.write = truthy(value)
		case "run":
			g.run = truthy(value)
		}
	})
	return g
}

// inGranted is the member of an init's context with the permissions, {host?, bun?}.
const inGranted = "grantedPermissions"

// granted are the permissions that the context of an init tells, {host?, bun?}; nil where it
// tells none. The reference has them as an object or, in one place, as a list of tags.
func granted(context json.RawMessage) json.RawMessage {
	told := member(context, inGranted)
	if typeOf(told) != "an array" {
		return told
	}
	parts := map[string]object{"host": newObject(), "bun": newObject()}
	eachItem(told, func(item json.RawMessage) {
		of, name, _ := strings.Cut(textOf(item), ":")
		if part, ok := parts[of]; ok {
			parts[of] = part.raw(name, isTrue)
		}
	})
	return newObject().raw("host", parts["host"].done()).raw("bun", parts["bun"].done()).done()
}

// withGranted is the context of an init with the permissions, where there are any.
func withGranted(context, permissions json.RawMessage) json.RawMessage {
	if isAbsent(permissions) || !isObject(context) {
		return context
	}
	return newObject().join(context).raw(inGranted, permissions).done()
}

// The permissions that something asks for, as the reference labels them.
const (
	wantsRun   = "bun:run | host:*"
	wantsRead  = "bun:read | host:*"
	wantsWrite = "bun:write | host:*"
)

// Surface tells whether a surface may be called, and if not, which permission would
// allow it:
//
//	action, service, route              bun.run or any of the host's
//	provider, evaluator, model, event   bun.read, bun.run or any of the host's
func (g Grants) Surface(surface string) (wanted string, allowed bool) {
	switch surface {
	case surfaceAction, surfaceService, surfaceRoute:
		return g.needs(wantsRun, g.run)
	case surfaceProvider, surfaceEvaluator, surfaceModel, surfaceEvent:
		return g.needs(wantsRead, g.read || g.run)
	}
	return "", true
}

// Method tells the same of a method of the runtime, where the reference asks nobody:
//
//	getService, getMemory, getSetting, composeState    bun.read, bun.run or any of the host's
//	createMemory, updateMemory, setSetting             bun.write, bun.run or any of the host's
//	any other                                          bun.run or any of the host's
func (g Grants) Method(method string) (wanted string, allowed bool) {
	switch method {
	case "getService", "getMemory", "getSetting", "composeState":
		return g.needs(wantsRead, g.read || g.run)
	case "createMemory", "updateMemory", "setSetting":
		return g.needs(wantsWrite, g.write || g.run)
	}
	return g.needs(wantsRun, g.run)
}

func (g Grants) needs(wanted string, given bool) (string, bool) {
	if !g.said || given || g.host {
		return "", true
	}
	return wanted, false
}

// Denial is something that a plugin's grants do not allow, or a call that its worker did
// not take for the host's.
type Denial struct {
	Plugin string
	// Surface and Target name what was called of the plugin; for a method of the
	// runtime that the plugin called, they are "runtime" and the method.
	Surface, Target string
	// Permission is what would have allowed it, e.g. "bun:run | host:*"; "" where that is
	// none, and Reason says why.
	Permission, Reason string
}

// audit tells of a denial.
func audit(to func(Denial), d Denial) {
	if to != nil {
		to(d)
	}
}

// isSurface tells whether a word is one of the surfaces.
func isSurface(word string) bool {
	return slices.Contains([]string{
		surfaceAction, surfaceProvider, surfaceService, surfaceModel, surfaceEvent, surfaceRoute, surfaceEvaluator, surfaceTests,
	}, word)
}
