package main

import (
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// paperclipServices are what its workers may ask of the host, which keeps in st what
// they leave there. What they are given as secrets is hidden, if hidden is not nil.
func paperclipServices(p protocol.Plugins, st *state, s *settings, limits services.HTTP, hidden *hush) map[string]protocol.Service {
	o := services.Options{Config: st.configs.Value, Store: stateIn(st.db), Secrets: s.secrets(), HTTP: limits}
	if st.db != nil {
		o.Entities, o.Auditor = st.db, st.db
	}
	all := services.Paperclip(p, o)
	if hidden != nil {
		all["secrets.resolve"] = hidden.listen(all["secrets.resolve"])
	}
	return all
}
