package client

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/superjson"
)

// event is an event of the websocket protocol's.
type event struct {
	name string
	data json.RawMessage
	// id and parent are of its metadata, "" for none.
	id, parent string
}

// read reads a record: an event, or a frame of Eventa's where isEventa tells so. A text "ping"
// or "pong" is neither.
func read(record []byte) (e event, f airi.Frame, isEventa bool, err error) {
	if s := string(record); s == "ping" || s == "pong" {
		return e, f, false, nil
	}
	frame, err := superjson.Read(record)
	if err != nil {
		return e, f, false, err
	}
	whole, err := frame.Plain()
	if err != nil {
		whole = frame.JSON
	}
	var metadata json.RawMessage
	for i, value := range members(whole, "type", "data", "metadata") {
		switch i {
		case 0:
			e.name, _ = text(value)
		case 1:
			e.data = value
		default:
			metadata = value
		}
	}
	if !frame.Wrapped && !isObject(e.data) {
		f, err = airi.ReadFrame(record)
		return e, f, true, err
	}
	of := members(metadata, "event")[0]
	e.id, _ = text(members(of, "id")[0])
	e.parent, _ = text(members(of, "parentId")[0])
	return e, f, false, nil
}

// members picks members of an object by name; those that are not there are nil.
func members(object []byte, names ...string) []json.RawMessage {
	found := make([]json.RawMessage, len(names))
	protocol.EachMember(object, func(key, value []byte) {
		if i := slices.Index(names, string(key)); i >= 0 {
			found[i] = value
		}
	})
	return found
}

// member is one of them.
func member(object []byte, name string) json.RawMessage { return members(object, name)[0] }

func textOf(object []byte, name string) string {
	s, _ := text(member(object, name))
	return s
}

func text(value []byte) (s string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	return string(protocol.TextOf(value)), true
}

func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// identity is the module's, in the words of its generation.
func (c *Client) identity() any {
	plugin := named{ID: c.o.Name, Version: c.o.Version}
	if c.o.Extensions {
		return extensionModule{ID: c.o.Instance, Extension: plugin}
	}
	return moduleIdentity{Kind: "plugin", ID: c.o.Instance, Plugin: plugin}
}

type named struct {
	ID      string `json:"id"`
	Version string `json:"version,omitempty"`
}

type moduleIdentity struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Plugin named  `json:"plugin"`
}

type extensionModule struct {
	ID        string `json:"id"`
	Extension named  `json:"extension"`
}

// source is who says something. Of an extension it has both shapes, as that of AIRI's SDK.
func (c *Client) source() json.RawMessage {
	plugin := named{ID: c.o.Name, Version: c.o.Version}
	if !c.o.Extensions {
		return encoded(moduleIdentity{Kind: "plugin", ID: c.o.Instance, Plugin: plugin})
	}
	return encoded(struct {
		Kind      string `json:"kind"`
		ID        string `json:"id"`
		Extension named  `json:"extension"`
		Plugin    named  `json:"plugin"`
	}{"plugin", c.o.Instance, plugin, plugin})
}

// encoded is a value of strings, numbers and JSON.
func encoded(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}

// say sends an event, in answer to that of an id, or of the module's own accord.
func (c *Client) say(name string, data any, parent string, out []Effect) []Effect {
	_, out = c.ask(name, data, parent, out)
	return out
}

// ask is say, and returns the event's own id.
func (c *Client) ask(name string, data any, parent string, out []Effect) (string, []Effect) {
	c.sent++
	id := c.o.Seed + "-" + strconv.FormatUint(c.sent, 10)
	record := encoded(struct {
		Type     string `json:"type"`
		Data     any    `json:"data"`
		Metadata any    `json:"metadata"`
	}{name, data, struct {
		Source json.RawMessage `json:"source"`
		Event  any             `json:"event"`
	}{c.source(), struct {
		ID     string `json:"id"`
		Parent string `json:"parentId,omitempty"`
	}{id, parent}}})
	return id, append(out, Send{record})
}

// field is a member of an object.
type field struct {
	name  string
	value any
}

// about is data about the module: its identity before what else there is.
func (c *Client) about(fields ...field) json.RawMessage {
	data := append([]byte(`{"identity":`), encoded(c.identity())...)
	for _, f := range fields {
		data = append(append(protocol.AppendText(append(data, ','), f.name), ':'), encoded(f.value)...)
	}
	return append(data, '}')
}

// isAbout tells whether data names this module.
func (c *Client) isAbout(data json.RawMessage) bool {
	identity := member(data, "identity")
	owner := member(identity, "plugin")
	if owner == nil {
		owner = member(identity, "extension")
	}
	return textOf(identity, "id") == c.o.Instance && textOf(owner, "id") == c.o.Name
}
