package manifest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseSettings_grants(t *testing.T) {
	require.True(t, wantSettings(t, `{"grants": {"firstSight": "ask"}}`).Grants.Ask)
	require.False(t, wantSettings(t, `{"grants": {"firstSight": "grant"}}`).Grants.Ask)
	given := wantSettings(t, `{"plugins": {"p": {"grants": ["http.outbound", "invoke:tool:*"]}}}`).Plugins["p"].Grants
	require.Equal(t, []string{"http.outbound", "invoke:tool:*"}, given)
	wantSettingsProblems(t, `{"grants": {"firstSight": "deny"}, "plugins": {"p": {"grants": ["invoke:", "invoke:tool:"]}}}`,
		`grants.firstSight: expected one of "grant", "ask", found "deny"`,
		`plugins.p.grants[0]: a capability's key is empty: expected "<kind>:<name>", e.g. "tool:greet"`,
		`plugins.p.grants[1]: capability key "tool:" has no name: expected one after "tool:"`,
	)
}

func TestParseSettings_audit(t *testing.T) {
	s := wantSettings(t, `{"audit": {"queue": 1, "kinds": 2, "plugins": 3, "window": "1s", "maxWindow": "2s", "write": "3s"}}`)
	require.Equal(t, AuditSettings{
		Queue: 1, Kinds: 2, Plugins: 3, Window: time.Second, MaxWindow: 2 * time.Second, Write: 3 * time.Second,
	}, s.Audit)
}
