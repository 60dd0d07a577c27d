package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/airi-host/airi-host/actors/configuration"
)

// Configurations are those of the plugins, for Options.Configurations: a
// *configuration.Configurator is one. Its methods may be called from any goroutine.
type Configurations interface {
	// Configuration returns what is in force for a plugin and a company, "" for none.
	Configuration(ctx context.Context, plugin, company string) (configuration.Configuration, error)
	// ConfigurationHistory returns those that were kept, the newest first.
	ConfigurationHistory(ctx context.Context, plugin, company string) ([]configuration.Configuration, error)
	// Validate tells what is wrong with what a change would come to, Plan what it would
	// do; neither does anything.
	Validate(ctx context.Context, plugin string, change configuration.Change) (configuration.Validation, error)
	Plan(ctx context.Context, plugin string, change configuration.Change) (configuration.Plan, error)
	// Commit has a plugin take another one, and keeps it if it does.
	Commit(ctx context.Context, plugin string, change configuration.Change) (configuration.Configuration, error)
}

var _ Configurations = (*configuration.Configurator)(nil)

// ConfigurationList has revisions, the newest first.
type ConfigurationList struct {
	Revisions []configuration.Configuration `json:"revisions"`
}

// configured finds the plugin that a request is about, if configurations are kept.
func (s *Server) configured(r *http.Request) (string, error) {
	one, err := s.findAny(r.PathValue("name"))
	switch {
	case err != nil:
		return "", err
	case s.opts.Configurations == nil:
		return "", invalid("plugin %s: this host keeps no configurations", one.Plugin)
	case !s.isKnown(one.SessionInfo):
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
	return answer(w, http.StatusOK, ConfigurationList{append([]configuration.Configuration{}, all...)})
}

// changing is a handler of something that is done with a change, whose outcome is the
// answer.
func changing[T any](s *Server, do func(Configurations, context.Context, string, configuration.Change) (T, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		plugin, err := s.configured(r)
		if err != nil {
			return err
		}
		var change configuration.Change
		if err := s.read(w, r, &change); err != nil {
			return err
		}
		ctx, cancel := s.ordered(r)
		defer cancel()
		outcome, err := do(s.opts.Configurations, ctx, plugin, change)
		if err != nil {
			return about(plugin, err)
		}
		return answer(w, http.StatusOK, outcome)
	}
}

// Configuration returns what is in force for a plugin and a company, "" for none.
func (c *Client) Configuration(ctx context.Context, plugin, company string) (one configuration.Configuration, err error) {
	return one, c.get(ctx, configurationPath(plugin, "?"+url.Values{"company": {company}}.Encode()), &one)
}

// ConfigurationHistory returns the configurations that were kept, the newest first.
func (c *Client) ConfigurationHistory(ctx context.Context, plugin, company string) ([]configuration.Configuration, error) {
	var list ConfigurationList
	err := c.get(ctx, configurationPath(plugin, "/history?"+url.Values{"company": {company}}.Encode()), &list)
	return list.Revisions, err
}

// ValidateConfiguration tells what is wrong with what a change would come to, which is no
// error.
func (c *Client) ValidateConfiguration(ctx context.Context, plugin string, change configuration.Change) (v configuration.Validation, err error) {
	return v, c.change(ctx, http.MethodPost, configurationPath(plugin, "/validate"), change, &v)
}

// PlanConfiguration tells what a change would do.
func (c *Client) PlanConfiguration(ctx context.Context, plugin string, change configuration.Change) (p configuration.Plan, err error) {
	return p, c.change(ctx, http.MethodPost, configurationPath(plugin, "/plan"), change, &p)
}

// Configure gives a plugin another configuration. It returns once the plugin has taken it
// and it is kept.
func (c *Client) Configure(ctx context.Context, plugin string, change configuration.Change) (kept configuration.Configuration, err error) {
	return kept, c.change(ctx, http.MethodPut, configurationPath(plugin, ""), change, &kept)
}

func (c *Client) change(ctx context.Context, method, path string, change configuration.Change, into any) error {
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return c.ask(ctx, method, path, body, into)
}

func configurationPath(plugin, more string) string {
	return "/plugins/" + segment(plugin) + "/config" + more
}
