package server

import (
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// metaOfData is what the annotations of a frame say of its data, for an event that has the
// same data; nil if they say nothing.
func metaOfData(f Frame) []byte {
	if !f.Event.Wrapped {
		return nil
	}
	var out []byte
	values := members(members(f.Event.Text, "meta")[0], "values")[0]
	protocol.EachMember(values, func(key, annotation []byte) {
		path := string(key)
		if path != "data" && !strings.HasPrefix(path, "data.") {
			return
		}
		if out == nil {
			out = append(out, `{"values":{`...)
		} else {
			out = append(out, ',')
		}
		out = append(protocol.AppendText(out, path), ':')
		out = append(out, annotation...)
	})
	if out == nil {
		return nil
	}
	return append(out, `},"v":1}`...)
}
