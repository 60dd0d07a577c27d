package paperclip

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestDialect_isItsName(t *testing.T) {
	require.Equal(t, "paperclip", Dialect{}.Name())
	require.Nil(t, Dialect{}.Narrate(protocol.Moment{What: protocol.MomentReady}))
	require.Equal(t, codec{}, Dialect{}.Codec())
}

func TestDialect_zeroGrantsNothingAndMakesUUIDs(t *testing.T) {
	r := rig{t: t, d: Dialect{}.NewDriver(protocol.Settings{Plugin: "lab"})}
	require.Contains(t, r.receive(`{"id":1,"method":"state.get","params":{}}`)[0], "-32001")
	const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`
	require.Regexp(t, `"id":"`+uuid+`","scope"`, r.invoke(1, protocol.Call{Key: "data:k", Scope: "c"})[0])
	require.NotEqual(t, newUUID(), newUUID())
}

func TestDialect_asksAboutThePluginOfTheDriver(t *testing.T) {
	var asked protocol.Settings
	d := Dialect{Plugin: func(s protocol.Settings) Plugin { asked = s; return Plugin{Company: "c"} }}
	r := rig{t: t, d: d.NewDriver(protocol.Settings{Plugin: "lab", Session: "s-1"})}
	require.Equal(t, protocol.Settings{Plugin: "lab", Session: "s-1"}, asked)
	require.Contains(t, r.invoke(1, protocol.Call{Key: "data:k"})[0], `"companyId":"c"`)
}
