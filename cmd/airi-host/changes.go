package main

import (
	"strings"

	"github.com/airi-host/airi-host/admin"
)

// change says what comes of a change of some settings.
type change struct {
	// fields are paths with * for any name, and ** for all that is below.
	fields string
	effect admin.SettingEffect
	// note says more of it.
	note string
	// flag goes before them, if it is given.
	flag string
}

// changes are what comes of a change of each setting; the first that fits counts.
var changes = []change{
	{"scope", admin.SettingNextStart, "for each plugin from its next start on", ""},
	{"companies", admin.SettingApplied, "", ""},
	{"secrets.*", admin.SettingApplied, "", ""},
	{"http.*", admin.SettingApplied, "", ""},
	{"plugins.*.config", admin.SettingApplied, "", ""},
	{"plugins.*.companies.*.config", admin.SettingApplied, "", ""},
	{"plugins.*.folders.**", admin.SettingApplied, "", ""},
	{"plugins.*.grants", admin.SettingApplied, "at once: a plugin that runs with others of Paperclip's or elizaOS's is reloaded", ""},
	{"plugins.*.**", admin.SettingNextStart, "from its next start on", ""},
	{"restart.*", admin.SettingApplied, "from the next crash on", ""},
	{"limits.logLines", admin.SettingRestart, "", ""},
	{"limits.*", admin.SettingNextStart, "for each plugin from its next start on", ""},
	{"timeouts.*", admin.SettingNextStart, "for each plugin from its next start on", ""},
	{"startLimit", admin.SettingRestart, "", "start-limit"},
	{"drain", admin.SettingApplied, "", "drain"},
	{"listen.address", admin.SettingRestart, "", flagListen},
	{"listen.token.*", admin.SettingApplied, "", flagTokenFile},
	{"listen.origins", admin.SettingApplied, "", flagOrigin},
	{"listen.hosts", admin.SettingApplied, "", ""},
	{"listen.tls.*", admin.SettingRestart, "", ""},
	{"websocket.invoke", admin.SettingApplied, "", ""},
	{"websocket.**", admin.SettingRestart, "", ""},
	{"listen.remote", admin.SettingRestart, "", flagRemote},
	{"log.level", admin.SettingApplied, "", "log-level"},
	{"log.format", admin.SettingRestart, "", "log-format"},
	{"logs.*", admin.SettingRestart, "", ""},
	{"runtimes.*", admin.SettingRestart, "", ""},
	{"stop.*", admin.SettingNextStart, "for each plugin from its next start on", ""},
	{"workers.*", admin.SettingNextStart, "for each plugin from its next start on", ""},
	{"manifests.*", admin.SettingRestart, "", ""},
	{"api.*", admin.SettingRestart, "", ""},
	{"state.*", admin.SettingRestart, "", ""},
	{"store.*", admin.SettingRestart, "", ""},
	{"jobs.*", admin.SettingRestart, "", ""},
	{"folders.*", admin.SettingApplied, "", ""},
	{"services.series", admin.SettingRestart, "", ""},
	{"services.states", admin.SettingRestart, "", ""},
	{"services.providerTimeout", admin.SettingRestart, "", ""},
	{"services.stateTimeout", admin.SettingRestart, "", ""},
	{"services.stateBytes", admin.SettingRestart, "", ""},
	{"services.*", admin.SettingApplied, "", ""},
	{"routes.open", admin.SettingRestart, "", ""},
	{"routes.**", admin.SettingNextStart, "for each plugin from its next start on", ""},
	{"queues.*", admin.SettingRestart, "", ""},
	{"endpoints.*", admin.SettingRestart, "", ""},
	{"grants.*", admin.SettingApplied, "for plugins that are seen for the first time", ""},
	{"audit.*", admin.SettingRestart, "", ""},
	{"telemetry.**", admin.SettingRestart, "", ""},
	{"watch.*", admin.SettingRestart, "", ""},
}

// changeOf is what comes of a change of a field; false where nobody has said it.
func changeOf(path []string) (change, bool) {
	for _, one := range changes {
		if fits := matches(strings.Split(one.fields, "."), path); fits {
			return one, true
		}
	}
	return change{effect: admin.SettingRestart}, false
}

// matches tells whether a path is among those that a pattern stands for.
func matches(pattern, path []string) bool {
	for i, want := range pattern {
		switch {
		case want == "**":
			return i < len(path)
		case i >= len(path) || want != "*" && want != path[i]:
			return false
		}
	}
	return len(pattern) == len(path)
}

// told is what comes of it in words.
func (c change) told() string {
	if c.note == "" && c.effect == admin.SettingRestart {
		return "takes a restart of the host"
	}
	return c.note
}
