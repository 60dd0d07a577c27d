package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/airi-host/airi-host/capability"
)

// paperclipNeeds are the grants without which the ecosystem refuses a manifest that
// declares something, by member.
var paperclipNeeds = []struct {
	member string
	grants []string
}{
	{"tools", []string{"agent.tools.register"}},
	{"environmentDrivers", []string{"environment.drivers.register"}},
	{"agents", []string{"agents.managed"}},
	{"projects", []string{"projects.managed"}},
	{"routines", []string{"routines.managed"}},
	{"skills", []string{"skills.managed"}},
	{"localFolders", []string{"local.folders"}},
	{"jobs", []string{"jobs.schedule"}},
	{"webhooks", []string{"webhooks.receive"}},
	{"apiRoutes", []string{"api.routes.register"}},
	{"objectReferences", []string{"external.objects.detect", "external.objects.read"}},
	{"database", []string{"database.namespace.migrate", "database.namespace.read"}},
}

// paperclipKeys are the members by which a manifest's declarations are told apart.
var paperclipKeys = []struct{ list, key string }{
	{"jobs", "jobKey"},
	{"webhooks", "endpointKey"},
	{"tools", "name"},
	{"apiRoutes", "routeKey"},
	{"environmentDrivers", "driverKey"},
	{"agents", "agentKey"},
	{"projects", "projectKey"},
	{"routines", "routineKey"},
	{"skills", "skillKey"},
	{"localFolders", "folderKey"},
	{"objectReferences", "providerKey"},
}

// checkPaperclip notes what is wrong between the members of a manifest.
func checkPaperclip(r *reader, at fieldPath, v value) {
	checkGrants(r, at.member("capabilities"), v)
	for _, k := range paperclipKeys {
		r.unique(at.member(k.list), v.at(k.list), k.key)
	}
	r.uniqueBy(at.member("apiRoutes"), v.at("apiRoutes"), map[string]fieldPath{}, methodAndPath)
	checkHooks(r, at, v)
	checkUI(r, at, v)
	noteSchemas(r, at.member("tools"), v.at("tools"))
	older, now := v.word("minimumPaperclipVersion"), v.word("minimumHostVersion")
	if older != "" && now != "" && older != now {
		r.add(at.member("minimumHostVersion"), "minimumPaperclipVersion, its older name, says %s: remove that", quote(older))
	}
}

// toolParameters is what a tool takes, as a schema.
var toolParameters = json.RawMessage(`{"type":"object"}`)

// noteSchemas notes which schemas of tools cannot be read: the ecosystem takes them, and
// holds no input to them. One that no parameters could satisfy is a problem.
func noteSchemas(r *reader, at fieldPath, tools value) {
	for i, tool := range tools.items {
		schema, declared := tool.get("parametersSchema")
		if !declared || schema.kind != object {
			continue
		}
		where := at.item(i).member("parametersSchema")
		_, err := capability.CompileDeclared(toolParameters, schema.raw)
		if never, ok := errors.AsType[*capability.DeclarationError](err); ok {
			r.add(where, "%v: a tool's parameters are an object", never)
		} else if err != nil {
			r.notes = append(r.notes, Note{r.file, fmt.Sprintf("%s: the tool's input will not be checked: %v", where, err)})
		}
	}
}

func methodAndPath(route value) string {
	method, path := route.word("method"), route.word("path")
	if method == "" || path == "" {
		return ""
	}
	return method + " " + path
}

// checkGrants notes the grants that are missing for what the manifest declares, each
// once, where the grants stand.
func checkGrants(r *reader, at fieldPath, v value) {
	grants := v.at("capabilities")
	if grants.kind != array {
		return // that is said already
	}
	said := map[string]bool{}
	need := func(grant, what string) {
		if !grants.holds(grant) && !said[grant] {
			said[grant] = true
			r.add(at, "expected %q among them, since there is %s: add it", grant, what)
		}
	}
	for _, n := range paperclipNeeds {
		if declared := v.at(n.member); len(declared.items) > 0 || n.member == "database" && declared.kind == object {
			for _, grant := range n.grants {
				need(grant, n.member)
			}
		}
	}
	for _, slot := range v.at("ui").at("slots").items {
		if grant := paperclipPlaces[slot.word("type")]; grant != "" {
			need(grant, "a slot "+slot.word("type"))
		}
	}
	for _, launcher := range slices.Concat(v.at("launchers").items, v.at("ui").at("launchers").items) {
		if grant := paperclipPlaces[launcher.word("placementZone")]; grant != "" {
			need(grant, "a launcher in "+launcher.word("placementZone"))
		}
	}
}

// checkHooks notes the webhooks that an object reference names and the manifest has
// not got.
func checkHooks(r *reader, at fieldPath, v value) {
	known := map[string]bool{}
	for _, hook := range v.at("webhooks").items {
		known[hook.word("endpointKey")] = true
	}
	for i, reference := range v.at("objectReferences").items {
		place := at.member("objectReferences").item(i).member("webhookEndpointKeys")
		for j, key := range reference.at("webhookEndpointKeys").items {
			if key.kind == text && key.text != "" && !known[key.text] {
				r.add(place.item(j), "expected the endpointKey of one of the webhooks, found %s", key.found())
			}
		}
	}
}

// checkUI notes what is wrong between the user interface's parts.
func checkUI(r *reader, at fieldPath, v value) {
	ui, entries := v.at("ui"), v.at("entrypoints")
	shown := len(ui.at("slots").items) + len(ui.at("launchers").items)
	if shown > 0 && entries.kind == object && !entries.has("ui") {
		r.add(at.member("entrypoints").member("ui"), "is missing: expected the path of what ui.slots and ui.launchers show")
	}
	id := func(item value) string { return item.word("id") }
	r.unique(at.member("ui").member("slots"), ui.at("slots"), "id")
	taken := map[string]fieldPath{}
	r.uniqueBy(at.member("launchers"), v.at("launchers"), taken, id)
	r.uniqueBy(at.member("ui").member("launchers"), ui.at("launchers"), taken, id)
}
