package admin

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestServer_readsTheSettingsAgain(t *testing.T) {
	report := SettingsReload{File: "/a/airi-host.json", Changes: []SettingChange{
		{Field: "log.level", Effect: SettingApplied},
		{Field: "listen.address", Effect: SettingRestart, Message: "it takes a restart of the host"},
	}}
	var failure error
	r := start(t, Options{ReloadSettings: func(context.Context) (SettingsReload, error) { return report, failure }})
	got, err := r.ReloadSettings(t.Context())
	require.NoError(t, err)
	require.Equal(t, report, got)

	report = SettingsReload{}
	_, body := r.send(t, http.MethodPost, pathAPI+"/reload", "")
	require.JSONEq(t, `{"changes":[]}`, body)

	report.Problems = []SettingProblem{{File: "f", Field: "drian", Message: "unknown field", Line: 1, Column: 2}}
	_, body = r.send(t, http.MethodPost, pathAPI+"/reload", "")
	require.JSONEq(t, `{"changes":[],"problems":[{"file":"f","field":"drian","message":"unknown field","line":1,"column":2}]}`, body)

	failure = &protocol.Error{Code: protocol.CodeTimeout, Message: "too late"}
	_, err = r.ReloadSettings(t.Context())
	require.EqualError(t, err, "too late")

	_, err = start(t, Options{}).ReloadSettings(t.Context())
	require.EqualError(t, err, "this host does not read its settings again: restart it")
}
