package admin

import (
	"fmt"
	"strings"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// Guests are plugins that come by themselves, over a websocket. Several instances of one
// name may be there; each is listed by itself, and called NAME/INSTANCE where that is needed.

// isGuest tells a guest from the host's own plugins.
func isGuest(one actors.SessionInfo) bool { return one.Instance != "" }

// fullName is a plugin's name, with the instance of a guest.
func fullName(one actors.SessionInfo) string {
	if !isGuest(one) {
		return one.Plugin
	}
	return one.Plugin + "/" + one.Instance
}

// oneOf finds a session by its id or its full name, or by a plugin's name that means one
// alone; CodeNotFound is for none.
func oneOf(list []PluginInfo, name string) (PluginInfo, error) {
	var instances []PluginInfo
	for _, one := range list {
		switch {
		case one.ID != "" && one.ID == name || fullName(one.SessionInfo) == name:
			return one, nil
		case one.Plugin == name:
			instances = append(instances, one)
		}
	}
	switch len(instances) {
	case 0:
		return PluginInfo{}, &protocol.Error{Code: codeNotFound, Message: fmt.Sprintf(
			"no plugin and no session is called %s; there are: %s", name, strings.Join(namesOf(list), ", "))}
	case 1:
		return instances[0], nil
	}
	return PluginInfo{}, &protocol.Error{Code: protocol.CodeAmbiguous, Plugin: name, Message: fmt.Sprintf(
		"there are %d instances of plugin %s: name one: %s", len(instances), name, strings.Join(namesOf(instances), ", "))}
}

// namesOf are the full names of sessions, as many as an error lists.
func namesOf(list []PluginInfo) []string {
	var names []string
	for _, one := range list {
		if len(names) == maxNames {
			return append(names, "…")
		}
		names = append(names, fullName(one.SessionInfo))
	}
	return names
}

// mayOrder refuses what a guest cannot be ordered: the host did not start it.
func mayOrder(command string, one actors.SessionInfo) error {
	if !isGuest(one) || command == Stop {
		return nil
	}
	return invalid("plugin %s has come by itself, over a websocket: there is nothing to %s here: it has to connect anew by itself; stop ends it",
		fullName(one), command)
}
