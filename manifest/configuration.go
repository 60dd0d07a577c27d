package manifest

import (
	"encoding/json"
	"fmt"

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
