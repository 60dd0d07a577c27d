package manifest

import "testing"

func TestLogFileSettings_agreeWithEachOther(t *testing.T) {
	wantSettingsProblems(t, `{"logs": {"dir": "logs"}}`,
		`logs.dir: expected the absolute path of a directory, e.g. "/var/log/airi-host", found "logs"`)
	wantSettingsProblems(t, `{"logs": {"maxBytes": 200000, "total": 100000}}`,
		`logs.total: expected at least maxBytes, 200000, found a number, 100000`)
	wantSettings(t, `{"logs": {"maxBytes": 100000, "total": 100000}}`)
}
