package manifest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestManifest_checksConfigurationsBothWays(t *testing.T) {
	m := &Manifest{Dialect: DialectAIRI, Name: "a"}
	require.NoError(t, m.CheckConfiguration(json.RawMessage(`{"any":1}`)))
	m.Host.Configuration.Schema = json.RawMessage(`{"required":["url"]}`)
	m.Paperclip = &Paperclip{InstanceConfigSchema: json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`)}
	require.NoError(t, m.CheckConfiguration(json.RawMessage(`{"url":"x","n":1}`)))
	require.ErrorContains(t, m.CheckConfiguration(json.RawMessage(`{"n":1}`)), "the configuration of plugin a: ")
	require.ErrorContains(t, m.CheckConfiguration(json.RawMessage(`{"url":"x","n":"secret"}`)), "/n")
}
