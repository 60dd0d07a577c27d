package manifest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/airi-host/airi-host/capability"
)

// CheckConfiguration holds a configuration to the schemas that the manifest declares, this
// host's own and the ecosystem's. The error names the plugin and what is wrong, and quotes
// no value.
func (m *Manifest) CheckConfiguration(value json.RawMessage) error {
	schemas := []json.RawMessage{m.Host.Configuration.Schema}
	if m.Paperclip != nil {
		schemas = append(schemas, m.Paperclip.InstanceConfigSchema)
	}
	for _, raw := range schemas {
		schema, err := capability.CompileSchema(raw)
		if err == nil {
			err = schema.Check(value)
		}
		if err != nil {
			return fmt.Errorf("the configuration of plugin %s: %w", m.PluginName(), err)
		}
	}
	return nil
}

// MissingConfiguration lists the members that the schemas of the manifest require of a
// configuration and that it has not got, as far as they stand at the top of a schema.
func (m *Manifest) MissingConfiguration(value json.RawMessage) (missing []string) {
	schemas := []json.RawMessage{m.Host.Configuration.Schema}
	if m.Paperclip != nil {
		schemas = append(schemas, m.Paperclip.InstanceConfigSchema)
	}
	var has map[string]json.RawMessage
	_ = json.Unmarshal(value, &has) // what is no object has no members
	for _, raw := range schemas {
		var schema struct {
			Required []string `json:"required"`
		}
		_ = json.Unmarshal(raw, &schema) // one that is wrong is told elsewhere
		for _, name := range schema.Required {
			if _, ok := has[name]; !ok && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	return missing
}
