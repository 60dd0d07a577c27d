package manifest

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// syncManifest is a whole Paperclip manifest, with every grant that the rows below need.
const syncManifest = `{"id": "acme.sync", "apiVersion": 1, "version": "1.0.0", "displayName": "Sync", "description": "Syncs.",
	"author": "Acme", "categories": ["connector"], "entrypoints": {"worker": "./dist/worker.js", "ui": "./dist/ui"},
	"capabilities": ["agent.tools.register", "environment.drivers.register", "agents.managed", "projects.managed",
		"routines.managed", "skills.managed", "local.folders", "jobs.schedule", "webhooks.receive", "api.routes.register",
		"external.objects.detect", "external.objects.read", "database.namespace.migrate", "database.namespace.read",
		"ui.sidebar.register", "ui.page.register", "ui.detailTab.register", "ui.dashboardWidget.register",
		"ui.commentAnnotation.register", "ui.action.register", "instance.settings.register"]}`

// syncPackage is the package.json of a Paperclip plugin.
const syncPackage = `{"name": "@acme/sync", "paperclipPlugin": {"manifest": "./dist/manifest.js", "worker": "./dist/worker.js"}}`

// row is a change to the manifest and the problems that it makes.
type row struct {
	// set has the members to replace, as JSON; null takes one away.
	set  string
	want []string
	// own tells that the ecosystem's schema takes it: what is wrong is said when the
	// plugin is installed there, or by this host alone.
	own bool
}

// text returns the whole manifest of a row.
func (c row) text(t *testing.T) string {
	t.Helper()
	var base, set map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(syncManifest), &base))
	require.NoError(t, json.Unmarshal([]byte(c.set), &set), c.set)
	maps.Copy(base, set)
	maps.DeleteFunc(base, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	data, err := json.Marshal(base)
	require.NoError(t, err)
	return string(data)
}

// asJSON is an evaluator of modules that are JSON already.
func asJSON(_ context.Context, module string) ([]byte, error) { return os.ReadFile(module) }

// readPaperclip reads a plugin whose manifest module says so.
func readPaperclip(t *testing.T, text string) (*Manifest, Problems) {
	t.Helper()
	dir := tree(t, map[string]string{"package.json": syncPackage, "dist/manifest.js": text, "dist/worker.js": ""})
	return Read(filepath.Join(dir, "package.json"), Options{Evaluate: asJSON, Lookup: lookupIn(nil)})
}

// wantRows reads the manifest of each row and compares the problems.
func wantRows(t *testing.T, rows []row) {
	t.Helper()
	for _, c := range rows {
		m, problems := readPaperclip(t, c.text(t))
		require.Equal(t, len(c.want) == 0, m != nil, c.set)
		for _, p := range problems {
			require.Equal(t, "manifest.js", filepath.Base(p.File), c.set)
		}
		if len(c.want) == 0 {
			c.want = []string{}
		}
		require.Equal(t, c.want, withoutFile(problems), c.set)
	}
}

var paperclipRows = []row{
	{set: `{}`},
	{set: `{"somethingNew": {"a": 1}, "minimumHostVersion": "1.2.3-beta.1+build.5", "minimumPaperclipVersion": "1.2.3-beta.1+build.5"}`},
	{set: `{"id": null, "version": null, "author": null}`, want: []string{
		`id: is missing: expected an id of a-z, 0-9, ".", "_" and "-", a letter or a digit first`,
		`version: is missing: expected a version, e.g. "1.0.0"`,
		`author: is missing: expected a string of 1 to 200 characters`,
	}},
	{set: `{"id": "Acme/Sync", "apiVersion": 2}`, want: []string{
		`apiVersion: expected the number 1, found a number, 2`,
		`id: expected an id of a-z, 0-9, ".", "_" and "-", a letter or a digit first, found "Acme/Sync"`,
	}},
	{set: `{"id": ".sync"}`, want: []string{`id: expected an id of a-z, 0-9, ".", "_" and "-", a letter or a digit first, found ".sync"`}},
	{set: `{"id": "` + strings.Repeat("x", 129) + `"}`, own: true, want: []string{`id: expected at most 128 characters, found 129: shorten it`}},
	{set: `{"apiVersion": "1"}`, want: []string{`apiVersion: expected the number 1, found "1"`}},
	{set: `{"version": "v1.0.0"}`, want: []string{`version: expected a version, e.g. "1.0.0", found "v1.0.0"`}},
	{set: `{"displayName": "", "description": 5}`, want: []string{
		`description: expected a string of 1 to 500 characters, found a number, 5`,
		`displayName: expected a string of 1 to 100 characters, found ""`,
	}},
	{set: `{"displayName": "` + strings.Repeat("😀", 100) + `"}`},
	{set: `{"displayName": "` + strings.Repeat("😀", 100) + `!"}`, want: []string{`displayName: expected at most 100 characters, found 101: shorten it`}},
	{set: `{"categories": []}`, want: []string{`categories: expected at least 1 item, each one of "connector", "workspace", "automation", "ui", found none`}},
	{set: `{"categories": ["tools"]}`, want: []string{`categories[0]: expected one of "connector", "workspace", "automation", "ui", found "tools"`}},
	{set: `{"capabilities": []}`, want: []string{`capabilities: expected at least 1 item, each a capability that Paperclip knows, e.g. "http.outbound", found none`}},
	{set: `{"capabilities": ["http.outbond", "fly", 1]}`, want: []string{
		`capabilities[0]: expected a capability that Paperclip knows, e.g. "http.outbound", found "http.outbond": did you mean "http.outbound"?`,
		`capabilities[1]: expected a capability that Paperclip knows, e.g. "http.outbound", found "fly": remove it`,
		`capabilities[2]: expected a capability that Paperclip knows, e.g. "http.outbound", found a number, 1: remove it`,
	}},
	{set: `{"capabilities": "http.outbound"}`, want: []string{`capabilities: expected an array, found "http.outbound"`}},
	{set: `{"entrypoints": {}}`, want: []string{`entrypoints.worker: is missing: expected a string that is not empty`}},
	{set: `{"instanceConfigSchema": {}}`},
	{set: `{"instanceConfigSchema": {"$ref": "#/x"}}`},
	{set: `{"instanceConfigSchema": {"properties": {}}}`, want: []string{
		`instanceConfigSchema: expected a JSON Schema, an object with "type", "$ref", "oneOf", "anyOf" or "allOf", or an empty one, found an object`,
	}},
	{set: `{"instanceConfigSchema": {"type": ["object", "null"]}}`, want: []string{
		`instanceConfigSchema: expected a JSON Schema, an object with "type", "$ref", "oneOf", "anyOf" or "allOf", or an empty one, found an object`,
	}},
	{set: `{"jobs": [{"jobKey": "a", "displayName": "A", "schedule": " */15 1-5/2  *\t1,2 * "}, {"jobKey": "b", "displayName": "B"}]}`},
	{set: `{"jobs": [{"jobKey": "a", "displayName": "A", "schedule": "@daily"}, {"jobKey": "", "displayName": "B", "schedule": "* * * * * *"}]}`, want: []string{
		`jobs[0].schedule: expected a cron expression of 5 fields, e.g. "*/15 * * * *", found "@daily"`,
		`jobs[1].jobKey: expected a string that is not empty, found ""`,
		`jobs[1].schedule: expected a cron expression of 5 fields, e.g. "*/15 * * * *", found "* * * * * *"`,
	}},
	{set: `{"webhooks": [{"endpointKey": "in", "displayName": "In", "description": 5}, null]}`, want: []string{
		`webhooks[0].description: expected a string, found a number, 5`,
		`webhooks[1]: expected an object, found null`,
	}},
	{set: `{"tools": [{"name": "search", "displayName": "Search", "description": "Searches.", "parametersSchema": {"type": "object"}}]}`},
	{set: `{"tools": [{"name": "", "displayName": "Search", "description": "Searches.", "parametersSchema": []}]}`, want: []string{
		`tools[0].name: expected a string that is not empty, found ""`,
		`tools[0].parametersSchema: expected a JSON Schema, an object with "type", "$ref", "oneOf", "anyOf" or "allOf", or an empty one, found an array`,
	}},
	{set: `{"Tools": []}`, own: true, want: []string{`Tools: unknown field: names are exact, write "tools"`}},
	{set: `{"apiRoutes": [{"routeKey": "list", "method": "GET", "path": "/issues/:id", "auth": "board-or-agent", "capability": "api.routes.register",
		"checkoutPolicy": "none", "companyResolution": {"from": "query", "key": "company"}}]}`},
	{set: `{"apiRoutes": [{"routeKey": "L", "method": "PUT", "path": "issues", "auth": "all", "capability": "x", "companyResolution": {"from": "issue"}}]}`, want: []string{
		`apiRoutes[0].routeKey: expected a key of a-z, 0-9, ".", "_", ":" and "-", a letter or a digit first, found "L"`,
		`apiRoutes[0].method: expected one of "GET", "POST", "PATCH", "DELETE", found "PUT"`,
		`apiRoutes[0].path: expected a path, e.g. "/issues/:issueId", found "issues"`,
		`apiRoutes[0].auth: expected one of "board", "agent", "board-or-agent", "webhook", found "all"`,
		`apiRoutes[0].capability: expected "api.routes.register", found "x"`,
		`apiRoutes[0].companyResolution.param: is missing: expected a string that is not empty`,
	}},
	{set: `{"apiRoutes": [{"routeKey": "l", "method": "GET", "path": "/plugins/x", "auth": "board", "capability": "api.routes.register", "companyResolution": {"from": "header"}}]}`, want: []string{
		`apiRoutes[0].path: expected a path below the plugin's own, without "..", "//" and not in /api or /plugins, found "/plugins/x"`,
		`apiRoutes[0].companyResolution.from: expected one of "body", "query", "issue", found "header"`,
	}},
	{set: `{"airi-host": {"requires": ["tool:x"], "timeout": 5}}`, own: true, want: []string{`airi-host.timeout: unknown field: did you mean "timeouts"?`}},
}

func TestPaperclip_saysWhatIsWrong(t *testing.T) { wantRows(t, paperclipRows) }

func TestPaperclip_keepsWhatAHostNeeds(t *testing.T) {
	text := row{set: `{
		"jobs": [{"jobKey": "pull", "displayName": "Pull", "description": "Pulls.", "schedule": "* * * * *"}],
		"webhooks": [{"endpointKey": "in", "displayName": "In", "description": "Hears."}],
		"tools": [{"name": "search", "displayName": "Search", "description": "Searches.", "parametersSchema": {"type":"object"}, "Name": "x"}],
		"apiRoutes": [{"routeKey": "list", "method": "GET", "path": "/list", "auth": "agent", "capability": "api.routes.register",
			"checkoutPolicy": "none", "companyResolution": {"from":"body","key":"c"}}],
		"environmentDrivers": [{"driverKey": "box", "kind": "sandbox_provider", "displayName": "Box", "description": "Boxes.", "configSchema": {}}],
		"instanceConfigSchema": {"type":"object"},
		"capabilities": ["agent.tools.register", "environment.drivers.register", "jobs.schedule", "webhooks.receive", "api.routes.register"],
		"airi-host": {"requires": ["tool:x"], "priority": 3}}`}.text(t)
	m, problems := readPaperclip(t, text)
	require.Empty(t, problems)
	require.Equal(t, DialectPaperclip, m.Dialect)
	require.Equal(t, APIVersionPaperclip, m.APIVersion)
	require.Equal(t, "acme.sync", m.PluginName())
	require.Equal(t, 3, m.Host.Priority)
	require.Len(t, m.Host.Requires, 1)
	require.Equal(t, filepath.Join(m.Dir, "package.json"), m.File)
	require.Equal(t, &Paperclip{
		Module: filepath.Join(m.Dir, "dist", "manifest.js"), Raw: json.RawMessage(text),
		ID: "acme.sync", Version: "1.0.0", DisplayName: "Sync",
		Grants: []string{"agent.tools.register", "environment.drivers.register", "jobs.schedule", "webhooks.receive", "api.routes.register"},
		Worker: "./dist/worker.js", UI: "./dist/ui", InstanceConfigSchema: json.RawMessage(`{"type":"object"}`),
		Tools:    []PaperclipTool{{"search", "Search", "Searches.", json.RawMessage(`{"type":"object"}`)}},
		Jobs:     []PaperclipJob{{"pull", "Pull", "Pulls.", "* * * * *"}},
		Webhooks: []PaperclipWebhook{{"in", "In", "Hears."}},
		APIRoutes: []PaperclipAPIRoute{{
			Key: "list", Method: "GET", Path: "/list", Auth: "agent",
			CheckoutPolicy: "none", CompanyResolution: json.RawMessage(`{"from":"body","key":"c"}`),
		}},
		EnvironmentDrivers: []PaperclipEnvironmentDriver{{"box", "sandbox_provider", "Box", "Boxes.", json.RawMessage(`{}`)}},
	}, m.Paperclip)
}

func FuzzPaperclip(f *testing.F) {
	f.Add([]byte(syncManifest))
	for _, rows := range [][]row{paperclipRows, paperclipDriverRows, paperclipCheckRows, paperclipProductRows, paperclipUIRows} {
		for _, c := range rows {
			f.Add([]byte(strings.TrimSuffix(syncManifest, "}") + "," + strings.TrimPrefix(c.set, "{")))
		}
	}
	dir := f.TempDir()
	file := filepath.Join(dir, "package.json")
	for name, content := range map[string]string{"package.json": strings.ReplaceAll(syncPackage, "/dist", ""), "manifest.js": "", "worker.js": ""} {
		require.NoError(f, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems := Read(file, Options{Lookup: lookupIn(nil), Evaluate: func(context.Context, string) ([]byte, error) { return data, nil }})
		require.Equal(t, m == nil, len(problems) > 0, "problems or a manifest, never both, never neither")
		for _, p := range problems {
			require.NotEmpty(t, p.Message)
		}
		if m != nil {
			require.NotEmpty(t, m.PluginName())
			require.True(t, json.Valid(m.Paperclip.Raw))
			_, err := m.Entrypoint("")
			require.NoError(t, err)
		}
	})
}

func TestPaperclip_aToolsSchemaThatCannotBeReadIsNoted(t *testing.T) {
	text := row{set: `{"tools": [{"name": "search", "displayName": "Search", "description": "Searches.", "parametersSchema": {"type": "objekt"}}]}`}.text(t)
	dir := tree(t, map[string]string{"package.json": syncPackage, "dist/manifest.js": text, "dist/worker.js": ""})
	found := evaluated(t, dir, ".")
	require.Empty(t, found.Problems)
	require.Len(t, found.Notes, 1)
	require.Regexp(t, `^tools\[0\].parametersSchema: the tool's input will not be checked: schema: /type: expected .*, found "objekt"$`, found.Notes[0].Message)
}

func TestPaperclip_aToolsSchemaThatTakesNoObjectIsAProblem(t *testing.T) {
	text := row{set: `{"tools": [{"name": "search", "displayName": "Search", "description": "Searches.", "parametersSchema": {"type": "string"}}]}`}.text(t)
	dir := tree(t, map[string]string{"package.json": syncPackage, "dist/manifest.js": text, "dist/worker.js": ""})
	found := evaluated(t, dir, ".")
	require.Len(t, found.Problems, 1)
	require.Equal(t, "tools[0].parametersSchema", found.Problems[0].Field)
	require.Equal(t, "schema: /type: expected one that admits an object, found one for a string: a tool's parameters are an object",
		found.Problems[0].Message)
}
