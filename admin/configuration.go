package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Configurations are those of the plugins, for Options.Configurations. Its methods may be
// called from any goroutine.
type Configurations interface {
	// Configuration returns what is in force for a plugin and a company, "" for none.
	Configuration(ctx context.Context, plugin, company string) (Configuration, error)
	// Configure has a plugin asked whether it takes another one, and keeps it if it does.
	Configure(ctx context.Context, plugin string, change ConfigurationChange) (Configuration, error)
	// ConfigurationHistory returns those that were kept, the newest first.
	ConfigurationHistory(ctx context.Context, plugin, company string) ([]Configuration, error)
}

// Configuration is what a plugin is configured with.
type Configuration struct {
	Plugin string `json:"plugin"`
	// Company is whom it is for, "" for all that have none of their own.
	Company string `json:"company,omitempty"`
	// Revision counts what was kept for this plugin and company; 0 is none.
	Revision int64 `json:"revision"`
	// Source is "stored", "settings" for the host's file of settings, or "none".
	Source string `json:"source"`
	// Value is a JSON object; {} for none.
	Value json.RawMessage `json:"value"`
	// At is when it was kept.
	At time.Time `json:"at,omitzero"`
}

// ConfigurationChange is what a plugin is to be configured with.
type ConfigurationChange struct {
	Company string `json:"company,omitempty"`
	// Value is the whole configuration or, with Patch, a JSON merge patch (RFC 7396) of
	// the one in force.
	Value json.RawMessage `json:"value"`
	Patch bool            `json:"patch,omitempty"`
	// Base is the revision that the change began from; nil for any.
	Base *int64 `json:"base,omitempty"`
}

// ConfigurationList has revisions, the newest first.
type ConfigurationList struct {
	Revisions []Configuration `json:"revisions"`
}

// configured finds the plugin that a request is about, if configurations are kept.
func (s *Server) configured(r *http.Request) (string, error) {
	one, err := s.find(r.PathValue("name"))
	switch {
	case err != nil:
		return "", err
	case s.opts.Configurations == nil:
		return "", invalid("plugin %s: this host keeps no configurations", one.Plugin)
	case !contains(s.opts.Plugins, one.Plugin):
		return "", notTold(one.Plugin)
	}
	return one.Plugin, nil
}

// configuredFor reads for which plugin and company a configuration is asked.
func (s *Server) configuredFor(r *http.Request) (plugin, company string, err error) {
	if plugin, err = s.configured(r); err != nil {
		return "", "", err
	}
	q, err := queryOf(r, "company")
	return plugin, q.company, err
}

func notTold(plugin string) error {
	return invalid("plugin %s is none of those that this host was told to run", plugin)
}

func (s *Server) getConfiguration(w http.ResponseWriter, r *http.Request) error {
	plugin, company, err := s.configuredFor(r)
	if err != nil {
		return err
	}
	one, err := s.opts.Configurations.Configuration(r.Context(), plugin, company)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, one)
}

func (s *Server) getConfigurationHistory(w http.ResponseWriter, r *http.Request) error {
	plugin, company, err := s.configuredFor(r)
	if err != nil {
		return err
	}
	all, err := s.opts.Configurations.ConfigurationHistory(r.Context(), plugin, company)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, ConfigurationList{append([]Configuration{}, all...)})
}

func (s *Server) putConfiguration(w http.ResponseWriter, r *http.Request) error {
	plugin, err := s.configured(r)
	if err != nil {
		return err
	}
	var change ConfigurationChange
	if err := s.read(w, r, &change); err != nil {
		return err
	}
	ctx, cancel := s.ordered(r)
	defer cancel()
	kept, err := s.opts.Configurations.Configure(ctx, plugin, change)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, kept)
}

// Configuration returns what is in force for a plugin and a company, "" for none.
func (c *Client) Configuration(ctx context.Context, plugin, company string) (one Configuration, err error) {
	return one, c.get(ctx, configurationPath(plugin, "", company), &one)
}

// ConfigurationHistory returns the configurations that were kept, the newest first.
func (c *Client) ConfigurationHistory(ctx context.Context, plugin, company string) ([]Configuration, error) {
	var list ConfigurationList
	err := c.get(ctx, configurationPath(plugin, "/history", company), &list)
	return list.Revisions, err
}

// Configure gives a plugin another configuration. It returns once the plugin has taken it
// and it is kept.
func (c *Client) Configure(ctx context.Context, plugin string, change ConfigurationChange) (kept Configuration, err error) {
	body, err := json.Marshal(change)
	if err != nil {
		return kept, err
	}
	return kept, c.ask(ctx, http.MethodPut, "/plugins/"+url.PathEscape(plugin)+"/config", body, &kept)
}

func configurationPath(plugin, more, company string) string {
	return "/plugins/" + url.PathEscape(plugin) + "/config" + more + "?" + url.Values{"company": {company}}.Encode()
}
