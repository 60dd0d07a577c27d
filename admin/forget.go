package admin

import (
	"context"
	"net/http"
)

// Forgotten is what was removed.
type Forgotten struct {
	// Plugin or Company is whose it was.
	Plugin  string `json:"plugin,omitempty"`
	Company string `json:"company,omitempty"`
	// Removed counts it, by what it is.
	Removed map[string]int64 `json:"removed"`
	// Plugins counts what was removed for a company by the plugins that had kept it; that
	// of "" is the host's own.
	Plugins map[string]map[string]int64 `json:"plugins,omitempty"`
	// Enabled tells that the plugin was disabled, which is forgotten, too.
	Enabled bool `json:"enabled,omitempty"`
}

// deleteData removes what is kept of a plugin or for a company. The plugin may be one that
// this host does not know any more.
func (s *Server) deleteData(w http.ResponseWriter, r *http.Request) error {
	if s.opts.Forget == nil {
		return invalid("this host keeps nothing that could be removed")
	}
	ctx, cancel := s.ordered(r)
	defer cancel()
	gone, err := s.opts.Forget(ctx, r.PathValue("name"), r.PathValue("company"))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, gone)
}

// ForgetPlugin removes all that is kept of a plugin, which must be stopped.
func (c *Client) ForgetPlugin(ctx context.Context, name string) (gone Forgotten, err error) {
	return gone, c.ask(ctx, http.MethodDelete, "/plugins/"+segment(name)+"/data", nil, &gone)
}

// ForgetCompany removes all that plugins keep for a company; those that work for it must
// be stopped.
func (c *Client) ForgetCompany(ctx context.Context, company string) (gone Forgotten, err error) {
	return gone, c.ask(ctx, http.MethodDelete, "/companies/"+segment(company)+"/data", nil, &gone)
}
