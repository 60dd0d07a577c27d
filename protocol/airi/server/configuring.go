package server

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/airi-host/airi-host/protocol"
)

const noModule = "module not found, it hasn't announced itself or the name is incorrect"

// uiConfigure hands a configuration to a module that is meant by name and index, or by
// name and identity. Its sender may mean itself.
func (s *Server) uiConfigure(c *conn, f Frame) {
	data := f.Plain()
	parts := members(data, "moduleName", "moduleIndex", "identity", "config")
	index, ok := readIndex(parts[1])
	name, isName := text(parts[0])
	if parts[0] == nil || isNull(parts[0]) {
		name, isName = nameOf(parts[2]), true
	}
	problem := ""
	switch {
	case isName && name == "":
		problem = "the field 'moduleName' can't be empty for event 'ui:configure'"
	case !ok:
		problem = "the field 'moduleIndex' must be a non-negative integer for event 'ui:configure'"
	}
	if problem != "" {
		s.refuse(c, problem, nil)
		return
	}
	m := s.meant(name, index, parts[2])
	if m == nil {
		s.refuse(c, noModule, nil)
		return
	}
	meta := metaOfData(f)
	config := members(f.Data, "config")[0]
	if present(parts[3]) == nil {
		config, meta = []byte("{}"), nil
	}
	s.sendTo([]Conn{m.conn.id}, s.configureFrame(config, f.metadata, meta))
}

// nameOf is the name that is meant where only an identity is given: a plugin's id, or the
// id of an extension's module.
func nameOf(identity []byte) string {
	if id, ok := readExtensionModule(identity); ok {
		return id.Instance
	}
	id, _ := readModuleIdentity(identity)
	return id.Plugin
}

// configureFrame has the metadata of the request, as it was; of one that has none, the
// server's own.
func (s *Server) configureFrame(config, metadata, meta []byte) []byte {
	data := append(append([]byte(`{"config":`), config...), '}')
	if metadata == nil {
		return s.make("module:configure", data, nil, meta)
	}
	out := append([]byte(`{"json":{"type":"module:configure","data":`), data...)
	out = append(append(out, `,"metadata":`...), metadata...)
	return closeWrapper(append(out, '}'), meta)
}

// meant is the module of a name. An identity of an extension's module, then an index, says
// which; else there must be only one of extensions. Of two with the same name and index
// the one that was announced last is meant.
func (s *Server) meant(name string, index *int, identity []byte) *module {
	var modules, extensions []*module
	wanted, exact := readExtensionModule(identity)
	for _, c := range s.order {
		for _, m := range c.modules {
			switch {
			case m.Name != name:
			case m.Generation == Modules && !exact && sameIndex(m.Index, index):
				modules = append(modules, m)
			case m.Generation == Extensions && (exact && m.Identity.Instance == wanted.Instance || !exact && index == nil):
				extensions = append(extensions, m)
			}
		}
	}
	if len(modules) > 0 {
		return slices.MaxFunc(modules, func(a, b *module) int { return cmp.Compare(a.announced, b.announced) })
	}
	if len(extensions) == 1 {
		return extensions[0]
	}
	return nil
}

func sameIndex(a, b *int) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// configure is the host's own module:configure.
func (s *Server) configure(in Configure) {
	m := s.sessions[in.Session]
	if m == nil || m.conn == nil {
		s.add(Dropped{Reason: DroppedUnknown})
		return
	}
	config := in.Config
	if present(config) == nil {
		config = json.RawMessage("{}")
	}
	s.send(m.conn, "module:configure", append(append([]byte(`{"config":`), config...), '}'), nil)
}

// tell puts a session's identity before what is said of it, unless it is Bare.
func (s *Server) tell(in Tell) {
	m := s.sessions[in.Session]
	if m == nil || m.conn == nil && !in.Everyone {
		s.add(Dropped{Reason: DroppedUnknown})
		return
	}
	if in.Bare {
		s.tellIt(m, in, in.Data)
		return
	}
	data := append([]byte(`{"identity":`), m.Identity.Raw...)
	protocol.EachMember(in.Data, func(key, value []byte) {
		if string(key) == "identity" {
			return
		}
		data = append(protocol.AppendText(append(data, ','), string(key)), ':')
		data = append(data, value...)
	})
	s.tellIt(m, in, append(data, '}'))
}

func (s *Server) tellIt(m *module, in Tell, data []byte) {
	if in.Everyone {
		s.broadcast(nil, in.Type, data, nil, nil)
		return
	}
	s.send(m.conn, in.Type, data, nil)
}
