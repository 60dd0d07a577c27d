package manifest

import (
	"slices"
	"strings"
	"time"
)

// What Paperclip the product makes of a manifest, and this host only checks: the
// shapes of pluginManifestV1Schema that no worker is asked about.

const uuidForm = `^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`

// aDocument is a text of the size of a file.
var aDocument = chars(0, 200_000)

var databaseShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		may[checked]("namespaceSlug", like(`a name of a-z, 0-9 and "_", a letter or a digit first`, `^[a-z0-9][a-z0-9_]*$`, 40)),
		must[checked]("migrationsDir", chars(1, 0).but(`a relative path without ".." and "\"`, func(s string) bool {
			return s[0] != '/' && !strings.Contains(s, "..") && !strings.Contains(s, `\`)
		})),
		may[checked]("coreReadTables", each(oneOfMany("a table that plugins may read", paperclipTables), 0, 0)),
	},
	also: func(r *reader, at fieldPath, v value) {
		r.unique(at.member("coreReadTables"), v.at("coreReadTables"), "")
	},
}

var agentShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("agentKey", aKey),
		must[checked]("displayName", chars(1, 100)),
		may[checked]("role", chars(1, 100)),
		may[checked]("title", chars(0, 200).orNull()),
		may[checked]("icon", chars(0, 100).orNull()),
		may[checked]("capabilities", chars(0, 2000).orNull()),
		may[checked]("adapterType", chars(1, 100)),
		may[checked]("adapterPreference", each(chars(1, 100), 0, 10)),
		may[checked]("adapterConfig", anyObject),
		may[checked]("runtimeConfig", anyObject),
		may[checked]("permissions", anyObject),
		may[checked]("status", oneOf("idle", "paused")),
		may[checked]("budgetMonthlyCents", wholeNumber(0, maxSafe)),
		may[checked]("instructions", members(instructionsShape)),
	},
}

var instructionsShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		may[checked]("entryFile", chars(1, 200)),
		may[checked]("content", aDocument),
		may[checked]("files", eachMember(aDocument)),
		may[checked]("assetPath", chars(1, 500)),
	},
}

var projectShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("projectKey", aKey),
		must[checked]("displayName", chars(1, 120)),
		may[checked]("description", chars(0, 2000).orNull()),
		may[checked]("status", oneOf("backlog", "planned", "in_progress", "completed", "cancelled")),
		may[checked]("color", chars(0, 32).orNull()),
		may[checked]("settings", anyObject),
	},
}

// referenceTo is a reference to one of the plugin's own resources.
func referenceTo(kind string) rule {
	return members(shape[checked]{
		open: true,
		fields: []field[checked]{
			may[checked]("pluginKey", chars(1, 100)),
			must[checked]("resourceKind", oneOf(kind)),
			must[checked]("resourceKey", aKey),
		},
	}).orNull()
}

var routineShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("routineKey", aKey),
		must[checked]("title", chars(1, 200).trimmed()),
		may[checked]("description", chars(0, 10_000).orNull()),
		may[checked]("assigneeRef", referenceTo("agent")),
		may[checked]("projectRef", referenceTo("project")),
		may[checked]("goalId", like("a UUID", uuidForm, 0).orNull()),
		may[checked]("status", oneOf("active", "paused", "archived")),
		may[checked]("priority", oneOf("critical", "high", "medium", "low")),
		may[checked]("concurrencyPolicy", oneOf("coalesce_if_active", "always_enqueue", "skip_if_active")),
		may[checked]("catchUpPolicy", oneOf("skip_missed", "enqueue_missed_with_cap")),
		may[checked]("activityGatePolicy", oneOf("always", "require_external_activity")),
		may[checked]("activityGateScope", oneOf("company", "project")),
		may[checked]("variables", each(members(variableShape), 0, 0)),
		may[checked]("triggers", each(members(triggerShape), 0, 20)),
		may[checked]("issueTemplate", members(shape[checked]{open: true, fields: []field[checked]{
			may[checked]("surfaceVisibility", oneOf("default", "plugin_operation")),
			may[checked]("originId", chars(0, 255).trimmed().orNull()),
			may[checked]("billingCode", chars(0, 200).trimmed().orNull()),
		}})),
	},
}

var triggerShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("kind", oneOf("schedule", "webhook", "api")),
		may[checked]("label", chars(0, 120).trimmed().orNull()),
		may[checked]("enabled", anyBoolean),
		may[checked]("cronExpression", chars(1, 0).trimmed().orNull()),
		may[checked]("timezone", chars(1, 0).trimmed().orNull()),
		may[checked]("signingMode", oneOf("bearer", "hmac_sha256", "github_hmac", "none").orNull()),
		may[checked]("replayWindowSec", wholeNumber(30, 86_400).orNull()),
	},
}

var variableShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("name", like("a name of letters, digits and \"_\", a letter first", `^[A-Za-z][A-Za-z0-9_]*$`, 0).trimmed()),
		may[checked]("label", chars(0, 120).trimmed().orNull()),
		may[checked]("type", oneOf("text", "textarea", "number", "boolean", "select", "date")),
		may[checked]("defaultValue", is("a string, a number or a boolean", func(v value) bool {
			return v.kind == text || v.kind == number || v.kind == boolean
		}).orNull()),
		may[checked]("required", anyBoolean),
		may[checked]("options", each(chars(1, 120).trimmed(), 0, 50)),
	},
	also: checkVariable,
}

// checkVariable notes options where there is nothing to select, none where there is,
// and a default that does not fit.
func checkVariable(r *reader, at fieldPath, v value) {
	kind, options, preset := v.word("type"), v.at("options"), v.at("defaultValue")
	given := preset.kind != "" && preset.kind != null
	offered := func(item value) bool { return strings.TrimFunc(item.text, isBlank) == preset.text }
	switch {
	case kind == "select" && len(options.items) == 0:
		r.add(at.member("options"), "expected at least one option, since the type is select")
	case kind != "select" && len(options.items) > 0:
		r.add(at.member("options"), `expected none, since the type is not "select"`)
	}
	switch {
	case kind == "select" && given && (preset.kind != text || !slices.ContainsFunc(options.items, offered)):
		r.add(at.member("defaultValue"), "expected one of the options, found %s", preset.found())
	case kind == "date" && given && (preset.kind != text || !isDate(preset.text)):
		r.add(at.member("defaultValue"), `expected a date, e.g. "2026-03-01", found %s`, preset.found())
	}
}

// isDate tells whether a text is a day of the calendar, as "2026-03-01".
func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// aFolderPath is a path inside a folder that an operator chooses.
var aFolderPath = chars(1, 500).but(`a relative path without "..", "\" and empty parts`, isFolderPath)

func isFolderPath(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." {
			return false
		}
	}
	return !strings.Contains(s, "..") && !strings.Contains(s, `\`)
}

var skillShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("skillKey", aKey),
		must[checked]("displayName", chars(1, 100)),
		may[checked]("slug", aKey),
		may[checked]("description", chars(0, 2000).orNull()),
		may[checked]("markdown", aDocument),
		may[checked]("files", each(members(skillFileShape), 0, 50)),
	},
	also: func(r *reader, at fieldPath, v value) { r.unique(at.member("files"), v.at("files"), "path") },
}

var skillFileShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("path", aFolderPath.but("another file than the skill's own, whose text is markdown", func(s string) bool {
			return !strings.EqualFold(s, "skill.md")
		})),
		must[checked]("content", aDocument),
	},
}

var folderShape = shape[PaperclipFolder]{
	open: true,
	fields: []field[PaperclipFolder]{
		must[PaperclipFolder]("folderKey", aKey).keep(func(f *PaperclipFolder) *string { return &f.Key }),
		must[PaperclipFolder]("displayName", chars(1, 100)),
		may[PaperclipFolder]("description", chars(0, 500)),
		may[PaperclipFolder]("access", oneOf("read", "readWrite")).keep(func(f *PaperclipFolder) *string { return &f.Access }),
		{"requiredDirectories", "", folderPaths(func(f *PaperclipFolder) *[]string { return &f.Directories })},
		{"requiredFiles", "", folderPaths(func(f *PaperclipFolder) *[]string { return &f.Files })},
	},
}

// folderPaths reads what is needed in a folder.
func folderPaths(to func(*PaperclipFolder) *[]string) func(*reader, fieldPath, value, *PaperclipFolder) {
	return func(r *reader, at fieldPath, v value, f *PaperclipFolder) {
		each(aFolderPath, 0, 0).check(r, at, v)
		for _, item := range v.items {
			*to(f) = append(*to(f), item.text)
		}
	}
}

var referenceShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("providerKey", like(`a key of a-z, 0-9, "_", "." and "-", a letter first`, `^[a-z][a-z0-9_.-]*$`, 80).trimmed()),
		must[checked]("displayName", chars(1, 100)),
		must[checked]("objectTypes", each(like(`a type of a-z, 0-9 and "_", a letter first`, `^[a-z][a-z0-9_]*$`, 80).trimmed(), 1, 0)),
		may[checked]("urlPatterns", each(chars(1, 500).trimmed(), 0, 0)),
		may[checked]("refreshPolicy", members(refreshShape)),
		may[checked]("webhookEndpointKeys", each(chars(1, 0), 0, 0)),
	},
	also: func(r *reader, at fieldPath, v value) {
		trimmed := func(item value) string { return strings.TrimFunc(item.text, isBlank) }
		r.uniqueBy(at.member("objectTypes"), v.at("objectTypes"), map[string]fieldPath{}, trimmed)
		r.unique(at.member("webhookEndpointKeys"), v.at("webhookEndpointKeys"), "")
	},
}

var refreshShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		may[checked]("defaultTtlSeconds", wholeNumber(1, 86_400)),
		may[checked]("staleAfterSeconds", wholeNumber(1, 604_800)),
	},
	also: func(r *reader, at fieldPath, v value) {
		fresh, ok := whole(v.at("defaultTtlSeconds"))
		stale, is := whole(v.at("staleAfterSeconds"))
		if ok && is && stale < fresh {
			r.add(at.member("staleAfterSeconds"), "expected at least defaultTtlSeconds, %d, found %d", fresh, stale)
		}
	},
}
