package manifest

import "testing"

var paperclipCheckRows = []row{
	{set: `{"capabilities": ["http.outbound"], "jobs": [], "tools": []}`},
	{set: `{"capabilities": ["http.outbound"],
		"jobs": [{"jobKey": "a", "displayName": "A"}],
		"webhooks": [{"endpointKey": "a", "displayName": "A"}],
		"tools": [{"name": "a", "displayName": "A", "description": "A", "parametersSchema": {}}],
		"database": {"migrationsDir": "migrations"}}`, want: []string{
		`capabilities: expected "agent.tools.register" among them, since there is tools: add it`,
		`capabilities: expected "jobs.schedule" among them, since there is jobs: add it`,
		`capabilities: expected "webhooks.receive" among them, since there is webhooks: add it`,
		`capabilities: expected "database.namespace.migrate" among them, since there is database: add it`,
		`capabilities: expected "database.namespace.read" among them, since there is database: add it`,
	}},
	{set: `{"capabilities": ["external.objects.detect"], "objectReferences": [{"providerKey": "jira", "displayName": "Jira", "objectTypes": ["issue"]}]}`, want: []string{
		`capabilities: expected "external.objects.read" among them, since there is objectReferences: add it`,
	}},
	{set: `{"capabilities": ["http.outbound"], "ui": {"slots": [{"type": "page", "id": "p", "displayName": "P", "exportName": "P"}]},
		"launchers": [{"id": "l", "displayName": "L", "placementZone": "sidebar", "action": {"type": "deepLink", "target": "x"}}]}`, own: true, want: []string{
		`capabilities: expected "ui.page.register" among them, since there is a slot page: add it`,
		`capabilities: expected "ui.sidebar.register" among them, since there is a launcher in sidebar: add it`,
	}},
	{set: `{"tools": [{"name": "a", "displayName": "A", "description": "A", "parametersSchema": {}},
		{"name": "a", "displayName": "B", "description": "B", "parametersSchema": {}}]}`, want: []string{
		`tools[1]: "a" is taken by tools[0]: change one of them`,
	}},
	{set: `{"jobs": [{"jobKey": "a", "displayName": "A"}, {"jobKey": "b", "displayName": "B"}, {"jobKey": "a", "displayName": "C"}]}`, want: []string{
		`jobs[2]: "a" is taken by jobs[0]: change one of them`,
	}},
	{set: `{"apiRoutes": [
		{"routeKey": "a", "method": "GET", "path": "/a", "auth": "board", "capability": "api.routes.register"},
		{"routeKey": "b", "method": "GET", "path": "/a", "auth": "board", "capability": "api.routes.register"},
		{"routeKey": "c", "method": "POST", "path": "/a", "auth": "board", "capability": "api.routes.register"}]}`, want: []string{
		`apiRoutes[1]: "GET /a" is taken by apiRoutes[0]: change one of them`,
	}},
	{set: `{"webhooks": [{"endpointKey": "in", "displayName": "In"}],
		"objectReferences": [{"providerKey": "jira", "displayName": "Jira", "objectTypes": ["issue"], "webhookEndpointKeys": ["in", "out"]}]}`, want: []string{
		`objectReferences[0].webhookEndpointKeys[1]: expected the endpointKey of one of the webhooks, found "out"`,
	}},
	{set: `{"minimumHostVersion": "1.0.0", "minimumPaperclipVersion": "2.0.0"}`, want: []string{
		`minimumHostVersion: minimumPaperclipVersion, its older name, says "2.0.0": remove that`,
	}},
	{set: `{"entrypoints": {"worker": "./dist/worker.js"}, "ui": {"slots": [{"type": "page", "id": "p", "displayName": "P", "exportName": "P"}]}}`, want: []string{
		`entrypoints.ui: is missing: expected the path of what ui.slots and ui.launchers show`,
	}},
	{set: `{"ui": {"slots": [{"type": "page", "id": "p", "displayName": "P", "exportName": "P"}, {"type": "page", "id": "p", "displayName": "P", "exportName": "P"}],
		"launchers": [{"id": "l", "displayName": "L", "placementZone": "page", "action": {"type": "deepLink", "target": "x"}}]},
		"launchers": [{"id": "l", "displayName": "L", "placementZone": "page", "action": {"type": "deepLink", "target": "x"}}]}`, want: []string{
		`ui.slots[1]: "p" is taken by ui.slots[0]: change one of them`,
		`ui.launchers[0]: "l" is taken by launchers[0]: change one of them`,
	}},
}

func TestPaperclip_saysWhatIsWrongBetweenMembers(t *testing.T) { wantRows(t, paperclipCheckRows) }
