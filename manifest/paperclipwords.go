package manifest

// The words of Paperclip's manifests, as its releases 2026.824.1 and 2026.916.1 have
// them.

// paperclipGrants are what a plugin can ask for in "capabilities".
var paperclipGrants = []string{
	"companies.read", "projects.read", "project.workspaces.read", "execution.workspaces.read", "issues.read",
	"issue.relations.read", "issue.subtree.read", "issue.comments.read", "issue.interactions.read",
	"issue.attachments.read", "approvals.read", "issue.documents.read", "agents.read", "goals.read",
	"goals.create", "goals.update", "activity.read", "costs.read", "issues.orchestration.read",
	"access.members.read", "access.invites.read", "authorization.grants.read", "authorization.policies.read",
	"authorization.audit.read", "database.namespace.read", "issues.create", "issues.update",
	"issue.relations.write", "issues.checkout", "issues.wakeup", "issue.comments.create",
	"issue.comments.create_human_attributed", "issue.interactions.create", "issue.interactions.respond",
	"approvals.respond", "issue.documents.write", "projects.managed", "routines.managed", "skills.managed",
	"agents.pause", "agents.resume", "agents.invoke", "agents.managed", "access.members.write",
	"access.invites.write", "authorization.grants.write", "authorization.policies.write",
	"agent.sessions.create", "agent.sessions.list", "agent.sessions.send", "agent.sessions.close",
	"activity.log.write", "metrics.write", "telemetry.track", "database.namespace.migrate",
	"database.namespace.write", "external.objects.detect", "external.objects.read", "external.objects.write",
	"external.objects.refresh", "plugin.state.read", "plugin.state.write", "events.subscribe", "events.emit",
	"jobs.schedule", "webhooks.receive", "api.routes.register", "http.outbound", "secrets.read-ref",
	"environment.drivers.register", "local.folders", "agent.tools.register", "instance.settings.register",
	"ui.sidebar.register", "ui.page.register", "ui.detailTab.register", "ui.dashboardWidget.register",
	"ui.commentAnnotation.register", "ui.action.register",
}

// paperclipSlots are the places in the product's pages that a plugin can fill.
var paperclipSlots = []string{
	"page", "detailTab", "taskDetailView", "dashboardWidget", "sidebar", "routeSidebar", "sidebarPanel",
	"projectSidebarItem", "globalToolbarButton", "toolbarButton", "contextMenuItem", "commentAnnotation",
	"commentContextMenuItem", "settingsPage", "companySettingsPage",
}

// paperclipZones are the places where a launcher can stand.
var paperclipZones = []string{
	"page", "detailTab", "taskDetailView", "dashboardWidget", "sidebar", "sidebarPanel", "projectSidebarItem",
	"globalToolbarButton", "toolbarButton", "contextMenuItem", "commentAnnotation", "commentContextMenuItem",
	"settingsPage",
}

// paperclipEntities are what a slot or a launcher can be about.
var paperclipEntities = []string{
	"project", "issue", "agent", "goal", "run", "comment", "execution_workspace", "project_workspace",
}

// paperclipTables are the product's tables that a plugin's database may read.
var paperclipTables = []string{
	"companies", "projects", "goals", "agents", "issues", "issue_documents", "issue_relations", "issue_comments",
	"heartbeat_runs", "cost_events", "approvals", "issue_approvals", "budget_incidents",
}

// paperclipPages are the paths of the product's own pages.
var paperclipPages = []string{
	"dashboard", "onboarding", "companies", "company", "settings", "plugins", "org", "agents", "projects",
	"issues", "goals", "approvals", "costs", "activity", "inbox", "workspaces", "design-guide", "tests",
}

// paperclipSettings are the paths of the product's own settings.
var paperclipSettings = []string{
	"general", "environments", "access", "members", "invites", "secrets", "instance",
}

// paperclipPlaces are the grants that slots and launchers need, by the place where
// they stand.
var paperclipPlaces = map[string]string{
	"page":                   "ui.page.register",
	"detailTab":              "ui.detailTab.register",
	"taskDetailView":         "ui.detailTab.register",
	"dashboardWidget":        "ui.dashboardWidget.register",
	"sidebar":                "ui.sidebar.register",
	"routeSidebar":           "ui.sidebar.register",
	"sidebarPanel":           "ui.sidebar.register",
	"projectSidebarItem":     "ui.sidebar.register",
	"globalToolbarButton":    "ui.action.register",
	"toolbarButton":          "ui.action.register",
	"contextMenuItem":        "ui.action.register",
	"commentContextMenuItem": "ui.action.register",
	"commentAnnotation":      "ui.commentAnnotation.register",
	"settingsPage":           "instance.settings.register",
	"companySettingsPage":    "instance.settings.register",
}
