package manifest

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Paperclip is what the manifest of a Paperclip plugin says in its ecosystem's own
// words: what a host needs of it to run the worker. Raw has all of it.
type Paperclip struct {
	// Module is the absolute path of the manifest module, or "" when the manifest
	// was made in code.
	Module string
	// Raw is the whole manifest as JSON, which the worker is given when it is
	// initialized. It is nil when the module was not evaluated; then only Worker and
	// UI are filled, as package.json has them.
	Raw json.RawMessage
	// ID is the plugin's identity, and Manifest.Name.
	ID          string
	Version     string
	DisplayName string
	// Grants is what the plugin asks to be permitted: the manifest's "capabilities".
	Grants []string
	// Worker is the path of the worker's file, and UI that of the user interface or
	// "", both relative to Manifest.Dir.
	Worker, UI string
	// InstanceConfigSchema is the JSON Schema of the plugin's configuration, an
	// object as written, or nil.
	InstanceConfigSchema json.RawMessage
	Tools                []PaperclipTool
	Jobs                 []PaperclipJob
	Webhooks             []PaperclipWebhook
	APIRoutes            []PaperclipAPIRoute
	EnvironmentDrivers   []PaperclipEnvironmentDriver
	// Folders are the folders that it asks for: the manifest's "localFolders".
	Folders []PaperclipFolder
}

// PaperclipFolder is a folder that the worker works in, where it is given one.
type PaperclipFolder struct {
	// Key is unique in the plugin.
	Key string
	// Access is "read", "readWrite", or "" for what is usual.
	Access string
	// Directories and Files are what it needs in there, with slashes.
	Directories, Files []string
}

// PaperclipTool is a tool that the worker registers.
type PaperclipTool struct {
	// Name is unique in the plugin, and has no prefix.
	Name        string
	DisplayName string
	Description string
	// ParametersSchema is the JSON Schema of the tool's parameters, as written.
	ParametersSchema json.RawMessage
}

// PaperclipJob is a job that the worker registers.
type PaperclipJob struct {
	// Key is unique in the plugin.
	Key         string
	DisplayName string
	Description string
	// Schedule is a cron expression of five fields, or "" for a job that runs when it
	// is asked for.
	Schedule string
}

// PaperclipWebhook is an address at which others can reach the worker.
type PaperclipWebhook struct {
	// Key is unique in the plugin.
	Key         string
	DisplayName string
	Description string
}

// PaperclipAPIRoute is an HTTP endpoint that the worker answers.
type PaperclipAPIRoute struct {
	// Key, and Method and Path together, are unique in the plugin.
	Key string
	// Method is GET, POST, PATCH or DELETE.
	Method string
	// Path begins with "/" and may have segments ":name".
	Path string
	// Auth says who may call: board, agent, board-or-agent or webhook.
	Auth string
	// CheckoutPolicy is none, required-for-agent-in-progress, always-for-agent or "".
	CheckoutPolicy string
	// CompanyResolution says where the company stands in a request: an object as
	// written, or nil.
	CompanyResolution json.RawMessage
}

// PaperclipEnvironmentDriver is a driver of execution environments.
type PaperclipEnvironmentDriver struct {
	// Key is unique in the plugin.
	Key string
	// Kind is environment_driver, sandbox_provider or "".
	Kind        string
	DisplayName string
	Description string
	// ConfigSchema is the JSON Schema of an environment's configuration, as written.
	ConfigSchema json.RawMessage
}

// Forms that stand in several places.
const (
	semver  = `^\d+\.\d+\.\d+(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`
	keyForm = `^[a-z0-9][a-z0-9._:-]*$`
	keyText = `a key of a-z, 0-9, ".", "_", ":" and "-", a letter or a digit first`
)

var (
	aVersion    = like(`a version, e.g. "1.0.0"`, semver, 0)
	aKey        = like(keyText, keyForm, 100)
	aGrant      = oneOfMany(`a capability that Paperclip knows, e.g. "http.outbound"`, paperclipGrants)
	aJSONSchema = is(`a JSON Schema, an object with "type", "$ref", "oneOf", "anyOf" or "allOf", or an empty one`, isJSONSchema)
	aSchedule   = is(`a cron expression of 5 fields, e.g. "*/15 * * * *"`, func(v value) bool { return v.kind == text && isCron(v.text) })
)

// isJSONSchema asks as much as the ecosystem asks of a schema. A "type" that lists
// several is none there, without one of the other members.
func isJSONSchema(v value) bool {
	if v.kind != object {
		return false
	}
	return len(v.members) == 0 || v.at("type").kind == text ||
		v.has("$ref") || v.has("oneOf") || v.has("anyOf") || v.has("allOf")
}

// cronField is one of a cron expression's fields. As in the ecosystem its numbers may
// be of any size.
var cronField = regexp.MustCompile(`^(\*(/\d+)?|\d+(-\d+)?(/\d+)?)(,(\*(/\d+)?|\d+(-\d+)?(/\d+)?))*$`)

func isCron(s string) bool {
	fields := strings.FieldsFunc(s, isBlank)
	for _, f := range fields {
		if !cronField.MatchString(f) {
			return false
		}
	}
	return len(fields) == 5
}

// paperclipShape is the ecosystem's pluginManifestV1Schema, and the object
// "airi-host". As there, unknown members are ignored.
var paperclipShape = shape[Manifest]{
	open: true,
	fields: []field[Manifest]{
		must[Manifest]("id", anID).
			keep(func(m *Manifest) *string { return &m.Paperclip.ID }),
		must[Manifest]("apiVersion", is("the number "+APIVersionPaperclip, func(v value) bool { n, ok := whole(v); return ok && n == 1 })),
		must[Manifest]("version", aVersion).keep(func(m *Manifest) *string { return &m.Paperclip.Version }),
		must[Manifest]("displayName", chars(1, 100)).keep(func(m *Manifest) *string { return &m.Paperclip.DisplayName }),
		must[Manifest]("description", chars(1, 500)),
		must[Manifest]("author", chars(1, 200)),
		must[Manifest]("categories", each(oneOf("connector", "workspace", "automation", "ui"), 1, 0)),
		may[Manifest]("minimumHostVersion", aVersion),
		may[Manifest]("minimumPaperclipVersion", aVersion),
		{"capabilities", "an array", readGrants},
		{"entrypoints", "an object", func(r *reader, at fieldPath, v value, m *Manifest) {
			workerShape.read(r, at, v, m.Paperclip)
		}},
		may[Manifest]("instanceConfigSchema", aJSONSchema).
			keepRaw(func(m *Manifest) *json.RawMessage { return &m.Paperclip.InstanceConfigSchema }),
		mayHave("jobs", jobShape, func(m *Manifest) *[]PaperclipJob { return &m.Paperclip.Jobs }),
		mayHave("webhooks", webhookShape, func(m *Manifest) *[]PaperclipWebhook { return &m.Paperclip.Webhooks }),
		mayHave("tools", toolShape, func(m *Manifest) *[]PaperclipTool { return &m.Paperclip.Tools }),
		may[Manifest]("database", members(databaseShape)),
		mayHave("apiRoutes", apiRouteShape, func(m *Manifest) *[]PaperclipAPIRoute { return &m.Paperclip.APIRoutes }),
		mayHave("environmentDrivers", driverShape, func(m *Manifest) *[]PaperclipEnvironmentDriver { return &m.Paperclip.EnvironmentDrivers }),
		may[Manifest]("agents", each(members(agentShape), 0, 0)),
		may[Manifest]("projects", each(members(projectShape), 0, 0)),
		may[Manifest]("routines", each(members(routineShape), 0, 0)),
		may[Manifest]("skills", each(members(skillShape), 0, 0)),
		mayHave("localFolders", folderShape, func(m *Manifest) *[]PaperclipFolder { return &m.Paperclip.Folders }),
		may[Manifest]("objectReferences", each(members(referenceShape), 0, 0)),
		may[Manifest]("launchers", each(members(launcherShape), 0, 0)),
		may[Manifest]("ui", members(uiShape)),
		{"airi-host", "", func(r *reader, at fieldPath, v value, m *Manifest) {
			hostShape.read(r, at, v, &m.Host)
		}},
	},
	also: checkPaperclip,
}

// readGrants reads "capabilities": every word of them is kept.
func readGrants(r *reader, at fieldPath, v value, m *Manifest) {
	each(aGrant, 1, 0).check(r, at, v)
	for _, one := range v.items {
		if one.kind == text {
			m.Paperclip.Grants = append(m.Paperclip.Grants, one.text)
		}
	}
}

var workerShape = shape[Paperclip]{
	open: true,
	fields: []field[Paperclip]{
		must[Paperclip]("worker", chars(1, 0)).keep(func(p *Paperclip) *string { return &p.Worker }),
		may[Paperclip]("ui", chars(1, 0)).keep(func(p *Paperclip) *string { return &p.UI }),
	},
}

var jobShape = shape[PaperclipJob]{
	open: true,
	fields: []field[PaperclipJob]{
		must[PaperclipJob]("jobKey", chars(1, 0)).keep(func(j *PaperclipJob) *string { return &j.Key }),
		must[PaperclipJob]("displayName", chars(1, 0)).keep(func(j *PaperclipJob) *string { return &j.DisplayName }),
		may[PaperclipJob]("description", chars(0, 0)).keep(func(j *PaperclipJob) *string { return &j.Description }),
		may[PaperclipJob]("schedule", aSchedule).keep(func(j *PaperclipJob) *string { return &j.Schedule }),
	},
}

var webhookShape = shape[PaperclipWebhook]{
	open: true,
	fields: []field[PaperclipWebhook]{
		must[PaperclipWebhook]("endpointKey", chars(1, 0)).keep(func(w *PaperclipWebhook) *string { return &w.Key }),
		must[PaperclipWebhook]("displayName", chars(1, 0)).keep(func(w *PaperclipWebhook) *string { return &w.DisplayName }),
		may[PaperclipWebhook]("description", chars(0, 0)).keep(func(w *PaperclipWebhook) *string { return &w.Description }),
	},
}

var toolShape = shape[PaperclipTool]{
	open: true,
	fields: []field[PaperclipTool]{
		must[PaperclipTool]("name", chars(1, 0)).keep(func(t *PaperclipTool) *string { return &t.Name }),
		must[PaperclipTool]("displayName", chars(1, 0)).keep(func(t *PaperclipTool) *string { return &t.DisplayName }),
		must[PaperclipTool]("description", chars(1, 0)).keep(func(t *PaperclipTool) *string { return &t.Description }),
		must[PaperclipTool]("parametersSchema", aJSONSchema).keepRaw(func(t *PaperclipTool) *json.RawMessage { return &t.ParametersSchema }),
	},
}

var apiRouteShape = shape[PaperclipAPIRoute]{
	open: true,
	fields: []field[PaperclipAPIRoute]{
		must[PaperclipAPIRoute]("routeKey", aKey).keep(func(a *PaperclipAPIRoute) *string { return &a.Key }),
		must[PaperclipAPIRoute]("method", oneOf("GET", "POST", "PATCH", "DELETE")).keep(func(a *PaperclipAPIRoute) *string { return &a.Method }),
		must[PaperclipAPIRoute]("path", like(`a path, e.g. "/issues/:issueId"`, `^/[a-zA-Z0-9:_./-]*$`, 0).but(
			`a path below the plugin's own, without "..", "//" and not in /api or /plugins`, isPluginPath)).
			keep(func(a *PaperclipAPIRoute) *string { return &a.Path }),
		must[PaperclipAPIRoute]("auth", oneOf("board", "agent", "board-or-agent", "webhook")).keep(func(a *PaperclipAPIRoute) *string { return &a.Auth }),
		must[PaperclipAPIRoute]("capability", oneOf("api.routes.register")),
		may[PaperclipAPIRoute]("checkoutPolicy", oneOf("none", "required-for-agent-in-progress", "always-for-agent")).
			keep(func(a *PaperclipAPIRoute) *string { return &a.CheckoutPolicy }),
		may[PaperclipAPIRoute]("companyResolution", rule{"an object", checkResolution}).
			keepRaw(func(a *PaperclipAPIRoute) *json.RawMessage { return &a.CompanyResolution }),
	},
}

func isPluginPath(s string) bool {
	below := func(root string) bool { return s == root || strings.HasPrefix(s, root+"/") }
	return !strings.Contains(s, "..") && !strings.Contains(s, "//") && !below("/api") && !below("/plugins")
}

// checkResolution checks where the company of a request is to be found: what "from"
// says decides which member names it.
func checkResolution(r *reader, at fieldPath, v value) {
	fields := []field[checked]{must[checked]("from", oneOf("body", "query", "issue"))}
	switch v.word("from") {
	case "body", "query":
		fields = append(fields, must[checked]("key", chars(1, 0)))
	case "issue":
		fields = append(fields, must[checked]("param", chars(1, 0)))
	}
	shape[checked]{open: true, fields: fields}.read(r, at, v, &checked{})
}
