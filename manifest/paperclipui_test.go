package manifest

import "testing"

// slot and launcher are declarations with more members, or others.
func slot(members string) row {
	return row{set: `{"ui": {"slots": [{"id": "s", "displayName": "S", "exportName": "S", ` + members + `}]}}`}
}

func launcher(members string) row {
	return row{set: `{"launchers": [{"id": "l", "displayName": "L", ` + members + `}]}`}
}

func (c row) bad(want ...string) row {
	c.want = want
	return c
}

var paperclipUIRows = []row{
	slot(`"type": "page", "routePath": "sync-1", "order": -5`),
	slot(`"type": "detailTab", "entityTypes": ["issue", "goal"]`),
	slot(`"type": "sidebr", "order": 0.5`).bad(
		`ui.slots[0].type: expected a type of slots, found "sidebr": did you mean "sidebar"?`,
		`ui.slots[0].order: expected a whole number from -9007199254740991 to 9007199254740991, found a number, 0.5`),
	slot(`"type": "detailTab"`).bad(`ui.slots[0].entityTypes: is missing: expected at least one, since it is a detailTab`),
	slot(`"type": "contextMenuItem", "entityTypes": []`).bad(`ui.slots[0].entityTypes: expected at least one, since it is a contextMenuItem`),
	slot(`"type": "commentAnnotation", "entityTypes": ["issue"]`).bad(`ui.slots[0].entityTypes: expected "comment" among them, since the type is commentAnnotation`),
	slot(`"type": "sidebar", "routePath": "x"`).bad(`ui.slots[0].routePath: expected none, since the type is sidebar: only page, routeSidebar and companySettingsPage have one`),
	slot(`"type": "routeSidebar"`).bad(`ui.slots[0].routePath: is missing: expected a path, since the type is routeSidebar`),
	slot(`"type": "page", "routePath": "inbox"`).bad(`ui.slots[0].routePath: "inbox" is a page of the product itself: write another`),
	slot(`"type": "companySettingsPage", "routePath": "secrets"`).bad(`ui.slots[0].routePath: "secrets" is a page of the product itself: write another`),
	slot(`"type": "page", "routePath": "secrets"`),
	{set: `{"ui": {"slots": []}}`, want: []string{`ui.slots: expected at least 1 item, each an object, found none`}},

	launcher(`"placementZone": "page", "action": {"type": "openModal", "target": "x"}, "render": {"environment": "iframe", "bounds": "full"}`),
	launcher(`"placementZone": "issue", "action": {"type": "jump", "target": ""}`).bad(
		`launchers[0].placementZone: expected a place for launchers, found "issue": remove it`,
		`launchers[0].action.type: expected one of "navigate", "openModal", "openDrawer", "openPopover", "performAction", "deepLink", found "jump"`,
		`launchers[0].action.target: expected a string that is not empty, found ""`),
	launcher(`"placementZone": "projectSidebarItem", "entityTypes": ["goal"], "action": {"type": "navigate", "target": "https://x"}`).bad(
		`launchers[0].action.target: expected a path of the product, since the type is navigate, found "https://x"`,
		`launchers[0].entityTypes: expected "project" among them, since it is a projectSidebarItem`),
	launcher(`"placementZone": "page", "action": {"type": "performAction", "target": "a/b"}, "render": {"environment": "external"}`).bad(
		`launchers[0].action.target: expected an action's key, since the type is performAction, found "a/b"`,
		`launchers[0].render: expected none, since the action is performAction`),
	launcher(`"placementZone": "page", "action": {"type": "openDrawer", "target": "x"}`).bad(
		`launchers[0].render: is missing: expected an object, since the action is openDrawer`),
	launcher(`"placementZone": "page", "action": {"type": "openDrawer", "target": "x"}, "render": {"environment": "hostRoute", "bounds": "compact"}`).bad(
		`launchers[0].render.bounds: expected one of "default", "wide", "full", since the environment is hostRoute, found "compact"`,
		`launchers[0].render.environment: expected one that the action openDrawer can open, found "hostRoute"`),
	launcher(`"placementZone": "page", "action": {"type": "openModal", "target": "x"}, "render": {"environment": "hostInline"}`).bad(
		`launchers[0].render.environment: expected one that the action openModal can open, found "hostInline"`),
	launcher(`"placementZone": "page", "action": {"type": "openPopover", "target": "x"}, "render": {"environment": "external", "bounds": "full"}`).bad(
		`launchers[0].render.bounds: expected none, since the environment is external`),
}

func TestPaperclip_saysWhatIsWrongWithItsPages(t *testing.T) { wantRows(t, paperclipUIRows) }
