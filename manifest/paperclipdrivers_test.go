package manifest

import "testing"

var paperclipDriverRows = []row{
	{set: `{"environmentDrivers": [{"driverKey": "box", "kind": "sandbox_provider", "displayName": "Box", "configSchema": {"type": "object"},
		"supportsLoginPty": true, "supportsSetupTokenLogin": true, "sandboxCapabilities": {"duplexCommandStream": true},
		"templateConfigBinding": {"field": "image", "unsetFields": ["tag"]}}]}`},
	{set: `{"environmentDrivers": [{"driverKey": "Box", "kind": "vm", "displayName": "Box", "configSchema": {}, "supportsLoginPTY": 1,
		"sandboxCapabilities": {"nativeSync": true}, "interactiveSetupConnectionTypes": ["ssh", ""]}]}`, want: []string{
		`environmentDrivers[0].driverKey: expected a key of a-z, 0-9, ".", "_" and "-", a letter or a digit first, found "Box"`,
		`environmentDrivers[0].kind: expected one of "environment_driver", "sandbox_provider", found "vm"`,
		`environmentDrivers[0].supportsLoginPTY: unknown field: names are exact, write "supportsLoginPty"`,
		`environmentDrivers[0].sandboxCapabilities.nativeSync: unknown field: did you mean "nativeSyncIn"?`,
		`environmentDrivers[0].interactiveSetupConnectionTypes[1]: expected a string of 1 to 100 characters, found ""`,
	}},
	{set: `{"environmentDrivers": [{"driverKey": "box", "displayName": "Box", "configSchema": {}, "supportsLoginPty": true, "supportsSetupTokenLogin": false,
		"templateConfigBinding": {"field": "provider", "unsetFields": ["a", "a", "1"]}}]}`, want: []string{
		`environmentDrivers[0].templateConfigBinding.field: expected another member than "provider", which names the sandbox's provider, found "provider"`,
		`environmentDrivers[0].templateConfigBinding.unsetFields[2]: expected a member's name: a letter or "_" first, then letters, digits, "_" and "-", found "1"`,
		`environmentDrivers[0].templateConfigBinding.unsetFields[1]: "a" is taken by environmentDrivers[0].templateConfigBinding.unsetFields[0]: change one of them`,
		`environmentDrivers[0].supportsLoginPty: supportsSetupTokenLogin, its older name, says otherwise: remove that`,
	}},
}

func TestPaperclip_saysWhatIsWrongWithItsDrivers(t *testing.T) { wantRows(t, paperclipDriverRows) }
