package paperclip

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol/protocoltest"
)

// The recorded manifests ask for all that their workers call.
func TestGrantOf_coversWhatIsCalled(t *testing.T) {
	for name := range replays {
		for _, lines := range conversations(t, name) {
			grants := manifestGrants(t, lines)
			refused := name == "v824/19-host-call-denials"
			for _, l := range lines {
				r, ok := decodeAny(t, l).(Request)
				if grant := grantOf[r.Method]; ok && !l.FromHost() && grant != "" && !refused {
					require.Contains(t, grants, grant, "%s: %s", name, r.Method)
				}
			}
		}
	}
}

func TestGrantOf_isForServicesAlone(t *testing.T) {
	for method, grant := range grantOf {
		require.NotEmpty(t, grant)
		require.False(t, known(method), method)
	}
	for _, free := range []string{"config.get", "entities.upsert", "entities.list", "log", "localFolders.declarations"} {
		require.NotContains(t, grantOf, free)
	}
}

func decodeAny(t *testing.T, l protocoltest.Line) any {
	t.Helper()
	messages, err := codec{}.Decode(l.Record())
	require.NoError(t, err)
	if len(messages) == 0 {
		return nil
	}
	return messages[0]
}
