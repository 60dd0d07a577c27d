package manifest

import "testing"

var paperclipProductRows = []row{
	{set: `{"database": {"namespaceSlug": "acme_1", "migrationsDir": "./db", "coreReadTables": ["issues", "goals"]}}`},
	{set: `{"database": {"namespaceSlug": "Acme", "migrationsDir": "../db", "coreReadTables": ["users", "issues", "issues"]}}`, want: []string{
		`database.namespaceSlug: expected a name of a-z, 0-9 and "_", a letter or a digit first, found "Acme"`,
		`database.migrationsDir: expected a relative path without ".." and "\", found "../db"`,
		`database.coreReadTables[0]: expected a table that plugins may read, found "users": remove it`,
		`database.coreReadTables[2]: "issues" is taken by database.coreReadTables[1]: change one of them`,
	}},
	{set: `{"agents": [{"agentKey": "a", "displayName": "A", "title": null, "budgetMonthlyCents": 5.0, "adapterConfig": {}, "status": "idle",
		"instructions": {"content": "x", "files": {"a.md": "x"}}}]}`},
	{set: `{"agents": [{"agentKey": "A", "displayName": "A", "role": null, "budgetMonthlyCents": -1, "adapterConfig": [], "status": "busy",
		"instructions": {"files": {"a.md": 5}}}]}`, want: []string{
		`agents[0].agentKey: expected a key of a-z, 0-9, ".", "_", ":" and "-", a letter or a digit first, found "A"`,
		`agents[0].role: expected a string of 1 to 100 characters, found null`,
		`agents[0].budgetMonthlyCents: expected a whole number from 0 to 9007199254740991, found a number, -1`,
		`agents[0].adapterConfig: expected an object, found an array`,
		`agents[0].status: expected one of "idle", "paused", found "busy"`,
		`agents[0].instructions.files["a.md"]: expected a string of at most 200000 characters, found a number, 5`,
	}},
	{set: `{"projects": [{"projectKey": "p", "displayName": "P", "color": null, "status": "planned"}, {"projectKey": "p", "displayName": ""}]}`, want: []string{
		`projects[1].displayName: expected a string of 1 to 120 characters, found ""`,
		`projects[1]: "p" is taken by projects[0]: change one of them`,
	}},
	{set: `{"routines": [{"routineKey": "r", "title": " R ", "goalId": "0f8fad5b-d9cb-469f-a165-70867728950e",
		"assigneeRef": {"resourceKind": "agent", "resourceKey": "a"}, "projectRef": null,
		"variables": [{"name": "v", "type": "select", "options": [" a "], "defaultValue": "a"}, {"name": "d", "type": "date", "defaultValue": "2024-02-29"}],
		"triggers": [{"kind": "schedule", "cronExpression": "x", "replayWindowSec": null}], "issueTemplate": {"originId": null}}]}`},
	{set: `{"routines": [{"routineKey": "r", "title": "  ", "goalId": "x", "assigneeRef": {"resourceKind": "project", "resourceKey": "a"},
		"variables": [{"name": "1"}, {"name": "a", "options": ["x"]}, {"name": "b", "type": "select"},
			{"name": "c", "type": "select", "options": ["x"], "defaultValue": "y"}, {"name": "d", "type": "date", "defaultValue": "2023-02-29"}, {"name": "e", "defaultValue": []}],
		"triggers": [{"kind": "timer", "replayWindowSec": 5}]}]}`, want: []string{
		`routines[0].title: expected a string of 1 to 200 characters, found ""`,
		`routines[0].goalId: expected a UUID, found "x"`,
		`routines[0].assigneeRef.resourceKind: expected "agent", found "project"`,
		`routines[0].variables[0].name: expected a name of letters, digits and "_", a letter first, found "1"`,
		`routines[0].variables[1].options: expected none, since the type is not "select"`,
		`routines[0].variables[2].options: expected at least one option, since the type is select`,
		`routines[0].variables[3].defaultValue: expected one of the options, found "y"`,
		`routines[0].variables[4].defaultValue: expected a date, e.g. "2026-03-01", found "2023-02-29"`,
		`routines[0].variables[5].defaultValue: expected a string, a number or a boolean, found an array`,
		`routines[0].triggers[0].kind: expected one of "schedule", "webhook", "api", found "timer"`,
		`routines[0].triggers[0].replayWindowSec: expected a whole number from 30 to 86400, found a number, 5`,
	}},
	{set: `{"skills": [{"skillKey": "s", "displayName": "S", "slug": "s:1", "files": [{"path": "a/b.md", "content": ""}]}]}`},
	{set: `{"skills": [{"skillKey": "s", "displayName": "S", "files": [{"path": "Skill.md", "content": ""}, {"path": "a", "content": ""}, {"path": "a", "content": 1}, {"path": "/a"}]}]}`, want: []string{
		`skills[0].files[0].path: expected another file than the skill's own, whose text is markdown, found "Skill.md"`,
		`skills[0].files[2].content: expected a string of at most 200000 characters, found a number, 1`,
		`skills[0].files[3].path: expected a relative path without "..", "\" and empty parts, found "/a"`,
		`skills[0].files[3].content: is missing: expected a string of at most 200000 characters`,
		`skills[0].files[2]: "a" is taken by skills[0].files[1]: change one of them`,
	}},
	{set: `{"localFolders": [{"folderKey": "f", "displayName": "F", "access": "read", "requiredDirectories": ["a/b"], "requiredFiles": ["a.md"]}]}`},
	{set: `{"localFolders": [{"folderKey": "f", "displayName": "F", "access": "write", "requiredDirectories": ["a//b", "./a"], "requiredFiles": ["a..md", "a\\b"]}]}`, want: []string{
		`localFolders[0].access: expected one of "read", "readWrite", found "write"`,
		`localFolders[0].requiredDirectories[0]: expected a relative path without "..", "\" and empty parts, found "a//b"`,
		`localFolders[0].requiredDirectories[1]: expected a relative path without "..", "\" and empty parts, found "./a"`,
		`localFolders[0].requiredFiles[0]: expected a relative path without "..", "\" and empty parts, found "a..md"`,
		`localFolders[0].requiredFiles[1]: expected a relative path without "..", "\" and empty parts, found "a\\b"`,
	}},
	{set: `{"objectReferences": [{"providerKey": " jira ", "displayName": "Jira", "objectTypes": ["issue"], "urlPatterns": ["x"], "refreshPolicy": {"defaultTtlSeconds": 60, "staleAfterSeconds": 60}}]}`},
	{set: `{"objectReferences": [{"providerKey": "Jira", "displayName": "Jira", "objectTypes": ["issue", " issue"], "refreshPolicy": {"defaultTtlSeconds": 60, "staleAfterSeconds": 59}},
		{"providerKey": "x", "displayName": "X", "objectTypes": []}]}`, want: []string{
		`objectReferences[0].providerKey: expected a key of a-z, 0-9, "_", "." and "-", a letter first, found "Jira"`,
		`objectReferences[0].refreshPolicy.staleAfterSeconds: expected at least defaultTtlSeconds, 60, found 59`,
		`objectReferences[0].objectTypes[1]: "issue" is taken by objectReferences[0].objectTypes[0]: change one of them`,
		`objectReferences[1].objectTypes: expected at least 1 item, each a type of a-z, 0-9 and "_", a letter first, found none`,
	}},
}

func TestPaperclip_saysWhatIsWrongForTheProduct(t *testing.T) { wantRows(t, paperclipProductRows) }
