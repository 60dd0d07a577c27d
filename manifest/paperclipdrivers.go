package manifest

import "encoding/json"

// driverShape is closed, as the ecosystem's is since 2026.916: a misspelt ability
// would be one that is missing.
var driverShape = shape[PaperclipEnvironmentDriver]{
	fields: []field[PaperclipEnvironmentDriver]{
		must[PaperclipEnvironmentDriver]("driverKey", like(`a key of a-z, 0-9, ".", "_" and "-", a letter or a digit first`, `^[a-z0-9][a-z0-9._-]*$`, 0)).
			keep(func(d *PaperclipEnvironmentDriver) *string { return &d.Key }),
		may[PaperclipEnvironmentDriver]("kind", oneOf("environment_driver", "sandbox_provider")).
			keep(func(d *PaperclipEnvironmentDriver) *string { return &d.Kind }),
		must[PaperclipEnvironmentDriver]("displayName", chars(1, 100)).keep(func(d *PaperclipEnvironmentDriver) *string { return &d.DisplayName }),
		may[PaperclipEnvironmentDriver]("description", chars(0, 500)).keep(func(d *PaperclipEnvironmentDriver) *string { return &d.Description }),
		may[PaperclipEnvironmentDriver]("supportsReusableLeases", anyBoolean),
		may[PaperclipEnvironmentDriver]("sandboxCapabilities", members(sandboxShape)),
		may[PaperclipEnvironmentDriver]("supportsInteractiveSetup", anyBoolean),
		may[PaperclipEnvironmentDriver]("interactiveSetupConnectionTypes", each(chars(1, 100), 0, 10)),
		may[PaperclipEnvironmentDriver]("supportsTemplateCapture", anyBoolean),
		may[PaperclipEnvironmentDriver]("templateRefKind", chars(1, 100)),
		may[PaperclipEnvironmentDriver]("templateConfigBinding", members(bindingShape)),
		may[PaperclipEnvironmentDriver]("templateIdentityPaths", each(chars(1, 200), 0, 20)),
		may[PaperclipEnvironmentDriver]("supportsTemplateDelete", anyBoolean),
		may[PaperclipEnvironmentDriver]("supportsLoginPty", anyBoolean),
		may[PaperclipEnvironmentDriver]("supportsSetupTokenLogin", anyBoolean),
		must[PaperclipEnvironmentDriver]("configSchema", aJSONSchema).
			keepRaw(func(d *PaperclipEnvironmentDriver) *json.RawMessage { return &d.ConfigSchema }),
	},
	also: func(r *reader, at fieldPath, v value) {
		now, before := v.at("supportsLoginPty"), v.at("supportsSetupTokenLogin")
		if now.kind == boolean && before.kind == boolean && string(now.raw) != string(before.raw) {
			r.add(at.member("supportsLoginPty"), "supportsSetupTokenLogin, its older name, says otherwise: remove that")
		}
	},
}

var sandboxShape = shape[checked]{
	fields: []field[checked]{
		may[checked]("reusableLeases", anyBoolean),
		may[checked]("nativeSyncIn", anyBoolean),
		may[checked]("nativeSyncOut", anyBoolean),
		may[checked]("concurrentSyncOperations", anyBoolean),
		may[checked]("persistentProcessSessions", anyBoolean),
		may[checked]("independentControlCommands", anyBoolean),
		may[checked]("incrementalSessionOutput", anyBoolean),
		may[checked]("duplexCommandStream", anyBoolean),
		may[checked]("runnerWebSocketIngress", anyBoolean),
	},
}

// aConfigField is a member of an environment's configuration that a template's
// reference is written to.
var aConfigField = like(`a member's name: a letter or "_" first, then letters, digits, "_" and "-"`, `^[A-Za-z_][A-Za-z0-9_-]*$`, 100).
	but(`another member than "provider", which names the sandbox's provider`, func(s string) bool { return s != "provider" })

var bindingShape = shape[checked]{
	fields: []field[checked]{
		must[checked]("field", aConfigField),
		may[checked]("unsetFields", each(aConfigField, 0, 20)),
	},
	also: func(r *reader, at fieldPath, v value) {
		taken := map[string]fieldPath{}
		if set := v.word("field"); set != "" {
			taken[set] = at.member("field")
		}
		r.uniqueBy(at.member("unsetFields"), v.at("unsetFields"), taken, func(item value) string { return item.text })
	},
}
