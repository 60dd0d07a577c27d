package server

import (
	"encoding/json"
	"maps"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// Generation says which release's server a peer was written for.
type Generation int

const (
	// Undecided is a connection that has not announced anything.
	Undecided Generation = iota
	// Modules is the generation of module:announce, served as AIRI 0.10.2 does.
	Modules
	// Extensions is the generation of extension:* and peer:*, served as AIRI 0.11.3 does.
	Extensions
)

func (g Generation) String() string {
	switch g {
	case Modules:
		return "modules"
	case Extensions:
		return "extensions"
	case Undecided:
	}
	return "undecided"
}

// Identity is who a module is, whatever generation says it.
type Identity struct {
	// Plugin is the id of the plugin, or of the extension; Instance is the module's own;
	// "" where it has none, which is never the same as another connection's.
	Plugin, Instance string
	Version          string
	// Labels are the plugin's with the instance's over them.
	Labels map[string]string
	// Raw is the identity as others see it: what was announced, and in the shape of
	// [Modules] where that was the published client's.
	Raw json.RawMessage
	// own are the labels that say who may pass by the routing.
	own map[string]string
}

// The shapes that an identity has had:
//
//	{plugin: "p", instanceId: "i", version?, labels?}            published clients
//	{kind: "plugin", plugin: {id, version?, labels?}, id, labels?}   Modules
//	{id, extension: {id, version?, labels?}, labels?}            Extensions, a module
//	{id, version?, labels?}                                      Extensions, an extension
//
// and a source may be of both generations at once.
type shape struct {
	kind, plugin, id, instance, extension, version, labels []byte
}

func readShape(value []byte) (s shape) {
	protocol.EachMember(value, func(key, value []byte) {
		switch string(key) {
		case "kind":
			s.kind = value
		case "plugin":
			s.plugin = value
		case "id":
			s.id = value
		case "instanceId":
			s.instance = value
		case "extension":
			s.extension = value
		case "version":
			s.version = value
		case "labels":
			s.labels = value
		}
	})
	return s
}

// published tells the shape of the client that npm has, which names itself in a text.
func (s shape) published() bool { return s.kind == nil && isText(s.plugin) && isText(s.instance) }

// readSource reads the source of an event, of any shape; ok is false for none.
func readSource(value []byte) (id Identity, ok bool) {
	s := readShape(value)
	switch {
	case s.published():
		return s.normalised(), true
	case isObject(s.extension):
		id = s.module(s.extension)
	case isObject(s.plugin):
		id = s.module(s.plugin)
		if id.own["devtools"] == "" {
			// Servers of this generation take the plugin's own label for it, too.
			id.own = id.Labels
		}
	default:
		return id, false
	}
	id.Raw = compact(value)
	return id, true
}

// readModuleIdentity reads what module:announce has; ok is false for what the reference
// server refuses, but for the published client's shape, and the one that this client is
// given where its author follows the newer servers.
func readModuleIdentity(value []byte) (id Identity, ok bool) {
	s := readShape(value)
	if s.kind == nil && isObject(s.extension) {
		id, ok = readExtensionModule(value)
		return id, ok && id.Instance != ""
	}
	if s.published() {
		id = s.normalised()
		return id, id.Plugin != ""
	}
	kind, _ := text(s.kind)
	if kind != "plugin" || !isObject(s.plugin) {
		return id, false
	}
	id = s.module(s.plugin)
	id.Raw = compact(value)
	return id, id.Plugin != ""
}

// readExtensionModule reads what extension:module:announce has.
func readExtensionModule(value []byte) (id Identity, ok bool) {
	s := readShape(value)
	if !isText(s.id) || !isObject(s.extension) {
		return id, false
	}
	id = s.module(s.extension)
	id.Raw = compact(value)
	return id, id.Plugin != ""
}

// readExtension reads what extension:announce has: an id is all it takes.
func readExtension(value []byte) (id Identity, ok bool) {
	s := readShape(value)
	if !isText(s.id) {
		return id, false
	}
	id.Plugin, _ = text(s.id)
	id.Version, _ = text(s.version)
	id.own = readLabels(nil, s.labels)
	id.Labels = id.own
	id.Raw = compact(value)
	return id, true
}

// module is an identity with a plugin or an extension in it.
func (s shape) module(of []byte) (id Identity) {
	parts := members(of, "id", "version", "labels")
	id.Plugin, _ = text(parts[0])
	id.Version, _ = text(parts[1])
	id.Instance, _ = text(s.id)
	id.own = readLabels(nil, s.labels)
	id.Labels = readLabels(readLabels(nil, parts[2]), s.labels)
	return id
}

// normalised is the published client's identity in the shape of its own generation's
// servers.
func (s shape) normalised() (id Identity) {
	id.Plugin, _ = text(s.plugin)
	id.Instance, _ = text(s.instance)
	id.Version, _ = text(s.version)
	id.own = readLabels(nil, s.labels)
	id.Labels = id.own
	out := append([]byte(`{"kind":"plugin","plugin":{"id":`), compact(s.plugin)...)
	if isText(s.version) {
		out = append(append(out, `,"version":`...), compact(s.version)...)
	}
	out = append(append(out, `},"id":`...), compact(s.instance)...)
	if isObject(s.labels) {
		out = append(append(out, `,"labels":`...), compact(s.labels)...)
	}
	id.Raw = append(out, '}')
	return id
}

// readLabels adds labels over others; what is no text is none.
func readLabels(over map[string]string, value []byte) map[string]string {
	labels := maps.Clone(over)
	protocol.EachMember(value, func(key, value []byte) {
		if s, ok := text(value); ok {
			if labels == nil {
				labels = make(map[string]string)
			}
			labels[string(key)] = s
		}
	})
	return labels
}

// devtools tells who may pass by destinations, delivery and policy.
func (id Identity) devtools() bool {
	return id.own["devtools"] == "true" || id.own["devtools"] == "1"
}

// key is what one identity has, and no other; "" where it cannot be recognised again.
func (id Identity) key() string {
	if id.Instance == "" {
		return ""
	}
	return strconv.Itoa(len(id.Plugin)) + ":" + id.Plugin + id.Instance
}
