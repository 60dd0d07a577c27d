package main

import (
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// paperclipServices are what its workers may ask of the host, which keeps their state in st. What they are given as secrets is hidden, if hidden is not nil.
func paperclipServices(p protocol.Plugins, st *state, s *settings, limits services.HTTP, hidden *hush) map[string]protocol.Service {
	all := services.Paperclip(p, services.Options{Config: st.configs.pluginConfig, Store: stateIn(st.db), Secrets: s.secrets(), HTTP: limits})
	if hidden != nil {
		all["secrets.resolve"] = hidden.listen(all["secrets.resolve"])
	}
	return all
}
