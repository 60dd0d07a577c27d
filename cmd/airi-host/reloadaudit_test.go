package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/admin"
)

func TestSettingsRecords_areBounded(t *testing.T) {
	var report admin.SettingsReload
	require.Empty(t, settingsRecords(report))
	for i := range 500 {
		name := fmt.Sprintf("p%d", i)
		report.Changes = append(report.Changes,
			admin.SettingChange{Field: strings.Repeat("f", 1000), Effect: admin.SettingApplied, Message: "secret"},
			admin.SettingChange{Field: "plugins." + name + ".grants", Plugin: name, Effect: admin.SettingApplied})
	}
	list := settingsRecords(report)
	require.Len(t, list, maxSettingsRecords)
	others := 0
	for _, r := range list {
		require.Equal(t, "settings", r.Action)
		require.NotContains(t, r.Message+string(r.Metadata), "secret")
		if r.Plugin == "" {
			others++
			require.Contains(t, r.Message, " and 887 more", "500 of the host, and those of plugins that have no record, without 50")
			require.Less(t, len(r.Message)+len(r.Metadata), 32<<10, "a record may have 64 KiB")
		}
	}
	require.Equal(t, 1, others)
}
