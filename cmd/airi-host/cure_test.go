package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/lifecycle"
)

func TestCures_nameWhatTheHostCanBeToldBy(t *testing.T) {
	require.Equal(t, "'airi-host config set p JSON', or plugins.p.config in the settings", cures{}.cure("p"))
	require.Equal(t, "'airi-host config set p JSON --state mine', or plugins.p.config in the settings", cures{state: "mine"}.cure("p"))
	require.Equal(t, "give it as plugins.p.config in the settings (--config FILE)", cures{once: true, state: "mine"}.cure("p"),
		"nobody can be asked once that has ended")
	require.Equal(t, " (config set)", cures{}.short())
	require.Equal(t, " (--config)", cures{once: true}.short())
}

func TestNote_isOneLineAndShort(t *testing.T) {
	long := strings.Repeat("é", longestNote)
	for want, got := range map[string]string{
		"":             note("", ""),
		"a b: mend it": note("a\nb", "mend it"),
		strings.Repeat("é", longestNote/2) + "…":          note(long, ""),
		strings.Repeat("é", longestNote/2) + "…: mend it": note(long, "mend it"),
		"x" + strings.Repeat("é", longestNote/2-1) + "…":  note("x"+long, ""),
	} {
		require.Equal(t, want, got)
	}
}

// A validator may find a hundred thousand errors, and a plugin ask for as many grants.
func TestNotesOf_isOneLineWhateverThePluginSays(t *testing.T) {
	endless := strings.Repeat("/token: is missing\n", 100_000)
	one := admin.PluginInfo{Unapproved: strings.Fields(strings.Repeat("state.read ", 1000))}
	one.SessionInfo = actors.SessionInfo{Plugin: "p", Phase: lifecycle.ConfigurationNeeded, Reason: "the configuration of plugin p: " + endless}
	got := (&cli{stateGiven: "mine"}).notesOf(one, noon)
	require.Regexp(t, `^the configuration of plugin p: /token: is missing /token: .*…: 'airi-host config set p JSON --state mine'; `+
		`waits for approval of state\.read, .*…: 'airi-host approve p'$`, got)
	require.Less(t, len(got), 2*longestNote+200)
	for _, s := range []actors.SessionInfo{
		{Phase: lifecycle.Failed, Reason: endless},
		{Phase: lifecycle.WaitingDeps, Waits: strings.Fields(strings.Repeat("tool:x ", 1000))},
	} {
		got := (&cli{}).notesOf(admin.PluginInfo{SessionInfo: s}, noon)
		require.NotContains(t, got, "\n")
		require.Less(t, len(got), longestNote+10)
		require.Equal(t, got, (&observer{}).needs(s, noon), "the live view tells the same")
	}
}
