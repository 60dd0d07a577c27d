package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/airi-host/airi-host/actors"
)

// Granting decides what plugins are permitted, for Options.Granting. Its methods may be
// called from any goroutine, for one of the Options.Plugins, or a guest.
type Granting interface {
	// Grants tells what a plugin asks for, and has.
	Grants(plugin string) Grants
	// Decide approves what waits, or refuses it for good; what the plugin may do it may do
	// at once.
	Decide(ctx context.Context, plugin string, d GrantDecision) (Grants, error)
}

// Grants are what a plugin is permitted: Paperclip's names, and "invoke:PATTERN" for the
// capabilities of others that it may call.
type Grants struct {
	Plugin string `json:"plugin"`
	// Source is who decides: "stored" for what was approved, "settings" for the host's file
	// of settings, "none" where all that is asked is granted and nothing kept.
	Source string `json:"source"`
	// Asked is what its manifest asks for; Granted, what it has of that.
	Asked   []string `json:"asked"`
	Granted []string `json:"granted"`
	// Waiting wait to be approved; Refused were refused for good.
	Waiting []string `json:"waiting,omitempty"`
	Refused []string `json:"refused,omitempty"`
}

// GrantDecision is what becomes of the grants that a plugin asks for and has not.
type GrantDecision struct {
	// Deny refuses those that wait, and remembers it; else the plugin is given all that it
	// asks for, also what it was refused before.
	Deny bool `json:"deny,omitempty"`
	// Seen are those that whoever decides has looked at: if there are others meanwhile,
	// nothing is decided. Nil is for any.
	Seen []string `json:"seen,omitempty"`
}

// Unapproved is a plugin that asks for grants that wait to be approved.
type Unapproved struct {
	Plugin string   `json:"plugin"`
	Grants []string `json:"grants"`
}

// unapproved are the grants of a plugin that wait to be approved.
func (s *Server) unapproved(one actors.SessionInfo) []string {
	if s.opts.Granting == nil || !s.isKnown(one) {
		return nil
	}
	return s.opts.Granting.Grants(one.Plugin).Waiting
}

// isKnown tells whether a session is of a plugin that the host was told to run, or a guest.
func (s *Server) isKnown(one actors.SessionInfo) bool {
	return isGuest(one) || contains(s.roster(), one.Plugin)
}

// granted finds the plugin that a request is about, if there are grants to decide on.
func (s *Server) granted(r *http.Request) (string, error) {
	one, err := s.findAny(r.PathValue("name"))
	switch {
	case err != nil:
		return "", err
	case s.opts.Granting == nil:
		return "", invalid("plugin %s: this host decides on no grants", one.Plugin)
	case !s.isKnown(one.SessionInfo):
		return "", notTold(one.Plugin)
	}
	return one.Plugin, nil
}

func (s *Server) getGrants(w http.ResponseWriter, r *http.Request) error {
	plugin, err := s.granted(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, s.opts.Granting.Grants(plugin))
}

func (s *Server) postApprove(w http.ResponseWriter, r *http.Request) error {
	plugin, err := s.granted(r)
	if err != nil {
		return err
	}
	var d GrantDecision
	if err := s.read(w, r, &d); err != nil {
		return err
	}
	ctx, cancel := s.ordered(r)
	defer cancel()
	now, err := s.opts.Granting.Decide(ctx, plugin, d)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, now)
}

// isOperators tells whether a path is for whoever runs the host, and not for every user of
// the machine: who may do what, and what was done.
func isOperators(path string) bool {
	rest, ok := strings.CutPrefix(path, pathAPI+"/plugins/")
	return path == pathAPI+"/audit" || ok && strings.HasSuffix(rest, "/approve")
}

// Grants tells what a plugin asks for, and has.
func (c *Client) Grants(ctx context.Context, plugin string) (g Grants, err error) {
	return g, c.get(ctx, "/plugins/"+segment(plugin)+"/grants", &g)
}

// Decide approves the grants that a plugin waits for, or refuses them. It returns once the
// plugin has them, if it runs.
func (c *Client) Decide(ctx context.Context, plugin string, d GrantDecision) (g Grants, err error) {
	body, err := json.Marshal(d)
	if err != nil {
		return g, err
	}
	return g, c.ask(ctx, http.MethodPost, "/plugins/"+segment(plugin)+"/approve", body, &g)
}
