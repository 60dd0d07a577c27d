package manifest

import (
	"bytes"
	_ "embed" // for the schema's text
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of an AIRI manifest with this
// host's own fields. The object "airi-host", which every ecosystem's manifest may
// hold, is its definition "airi-host".
func Schema() []byte { return bytes.Clone(schema) }
