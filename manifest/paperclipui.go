package manifest

import (
	"slices"
	"strings"
)

// What a manifest shows on the product's pages, which this host only checks.

var uiShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		may[checked]("slots", each(members(slotShape), 1, 0)),
		may[checked]("launchers", each(members(launcherShape), 0, 0)),
	},
}

var slotShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("type", oneOfMany("a type of slots", paperclipSlots)),
		must[checked]("id", chars(1, 0)),
		must[checked]("displayName", chars(1, 0)),
		must[checked]("exportName", chars(1, 0)),
		may[checked]("entityTypes", each(oneOfMany("a type of entities", paperclipEntities), 0, 0)),
		may[checked]("routePath", like("a path of one part: a-z, 0-9 and \"-\"", `^[a-z0-9][a-z0-9-]*$`, 0)),
		may[checked]("order", wholeNumber(-maxSafe, maxSafe)),
	},
	also: func(r *reader, at fieldPath, v value) {
		checkEntities(r, at, v, v.word("type"))
		only := map[string]string{"projectSidebarItem": "project", "commentAnnotation": "comment", "commentContextMenuItem": "comment"}
		if entity := only[v.word("type")]; entity != "" && len(v.at("entityTypes").items) > 0 && !v.at("entityTypes").holds(entity) {
			r.add(at.member("entityTypes"), "expected %q among them, since the type is %s", entity, v.word("type"))
		}
		checkRoutePath(r, at, v)
	},
}

// aboutEntities are the slots and the places of launchers that are about something.
var aboutEntities = []string{
	"detailTab", "taskDetailView", "contextMenuItem", "commentAnnotation", "commentContextMenuItem", "projectSidebarItem",
}

// checkEntities notes that what stands at such a place does not say what it is about.
func checkEntities(r *reader, at fieldPath, v value, place string) {
	if slices.Contains(aboutEntities, place) && !v.has("entityTypes") {
		r.add(at.member("entityTypes"), "is missing: expected at least one, since it is a %s", place)
	} else if slices.Contains(aboutEntities, place) && len(v.at("entityTypes").items) == 0 {
		r.add(at.member("entityTypes"), "expected at least one, since it is a %s", place)
	}
}

// checkRoutePath notes a path where there can be none, none where there must be one,
// and one that the product has itself.
func checkRoutePath(r *reader, at fieldPath, v value) {
	kind, path, place := v.word("type"), v.word("routePath"), at.member("routePath")
	may := slices.Contains([]string{"page", "routeSidebar", "companySettingsPage"}, kind)
	switch {
	case path != "" && kind != "" && !may:
		r.add(place, "expected none, since the type is %s: only page, routeSidebar and companySettingsPage have one", kind)
	case path == "" && may && kind != "page" && !v.has("routePath"):
		r.add(place, "is missing: expected a path, since the type is %s", kind)
	}
	if slices.Contains(paperclipPages, path) || kind == "companySettingsPage" && slices.Contains(paperclipSettings, path) {
		r.add(place, "%s is a page of the product itself: write another", quote(path))
	}
}

var launcherShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("id", chars(1, 0)),
		must[checked]("displayName", chars(1, 0)),
		may[checked]("description", chars(0, 0)),
		must[checked]("placementZone", oneOfMany("a place for launchers", paperclipZones)),
		may[checked]("exportName", chars(1, 0)),
		may[checked]("entityTypes", each(oneOfMany("a type of entities", paperclipEntities), 0, 0)),
		may[checked]("order", wholeNumber(-maxSafe, maxSafe)),
		must[checked]("action", members(actionShape)),
		may[checked]("render", members(renderShape)),
	},
	also: checkLauncher,
}

var actionShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("type", oneOf("navigate", "openModal", "openDrawer", "openPopover", "performAction", "deepLink")),
		must[checked]("target", chars(1, 0)),
		may[checked]("params", anyObject),
	},
	also: func(r *reader, at fieldPath, v value) {
		kind, target := v.word("type"), v.word("target")
		switch {
		case kind == "performAction" && strings.Contains(target, "/"):
			r.add(at.member("target"), "expected an action's key, since the type is performAction, found %s", quote(target))
		case kind == "navigate" && (strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://")):
			r.add(at.member("target"), "expected a path of the product, since the type is navigate, found %s", quote(target))
		}
	},
}

var renderShape = shape[checked]{
	open: true,
	fields: []field[checked]{
		must[checked]("environment", oneOf("hostInline", "hostOverlay", "hostRoute", "external", "iframe")),
		may[checked]("bounds", oneOf("inline", "compact", "default", "wide", "full")),
	},
	also: func(r *reader, at fieldPath, v value) {
		environment, bounds := v.word("environment"), v.word("bounds")
		fit, known := boundsOf[environment]
		switch {
		case !known, bounds == "", slices.Contains(fit, bounds):
		case len(fit) == 0:
			r.add(at.member("bounds"), "expected none, since the environment is %s", environment)
		default:
			r.add(at.member("bounds"), "expected one of %s, since the environment is %s, found %s", quoted(fit), environment, quote(bounds))
		}
	},
}

// boundsOf are the bounds that fit, by environment.
var boundsOf = map[string][]string{
	"hostInline":  {"inline", "compact", "default"},
	"hostOverlay": {"compact", "default", "wide", "full"},
	"hostRoute":   {"default", "wide", "full"},
	"external":    {},
	"iframe":      {"compact", "default", "wide", "full"},
}

// checkLauncher notes what is wrong between a launcher's place, its action and how
// that is shown.
func checkLauncher(r *reader, at fieldPath, v value) {
	zone, action, render := v.word("placementZone"), v.at("action").word("type"), v.at("render")
	checkEntities(r, at, v, zone)
	if zone == "projectSidebarItem" && len(v.at("entityTypes").items) > 0 && !v.at("entityTypes").holds("project") {
		r.add(at.member("entityTypes"), `expected "project" among them, since it is a projectSidebarItem`)
	}
	opens := slices.Contains([]string{"openModal", "openDrawer", "openPopover"}, action)
	switch {
	case action == "performAction" && v.has("render"):
		r.add(at.member("render"), "expected none, since the action is performAction")
	case opens && !v.has("render"):
		r.add(at.member("render"), "is missing: expected an object, since the action is %s", action)
	case opens && !fits(action, render.word("environment")):
		r.add(at.member("render").member("environment"), "expected one that the action %s can open, found %s", action, quote(render.word("environment")))
	}
}

// fits tells whether what an action opens can be shown there.
func fits(action, environment string) bool {
	switch {
	case environment == "": // that is said already
		return true
	case action == "openModal":
		return environment != "hostInline"
	case action == "openDrawer":
		return environment == "hostOverlay" || environment == "iframe"
	}
	return environment != "hostRoute"
}
