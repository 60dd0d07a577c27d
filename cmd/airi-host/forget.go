package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/store"
)

const forgetText = `Remove all that the host keeps of a plugin, or for a company: state, entities, configurations with
their history, subscriptions, runs of jobs, audit records, and whether the plugin is disabled. It is
gone at once, without a question, and for good. The files of its log go with a plugin, and the
directory that an elizaOS plugin has for itself. With a company none do: logs and directories are by
plugin, and what is there for the company stays in them. How much of each kind is gone is told, for
a company by the plugins that had kept it.

A running host does it, where one runs; the plugin, or those that work for the company, must be
stopped. Where none runs it is done in the state directory itself.`

func (c *cli) forgetCommand() *cobra.Command {
	var company string
	cmd := &cobra.Command{
		Use: "forget PLUGIN | --company C", Short: "Remove what is kept of a plugin, or for a company", Long: forgetText,
		Example: "  airi-host forget welcome\n  airi-host forget --company globex",
		Args:    c.arguments(0, 1, "a PLUGIN, or --company C"),
		RunE: func(cmd *cobra.Command, args []string) error {
			plugin := strings.Join(args, "")
			if (plugin == "") == (company == "") {
				return usageError{errors.New("forget takes a PLUGIN, or --company C")}
			}
			return c.forget(cmd.Context(), plugin, company)
		},
	}
	cmd.Flags().StringVar(&company, "company", "", "whose data goes, of all plugins")
	c.stateFlag(cmd, "the state directory of the host, which may run")
	c.configFlag(cmd)
	return cmd
}

// forget asks the host that runs, or else does it itself.
func (c *cli) forget(ctx context.Context, plugin, company string) error {
	return c.ask(ctx, func(ctx context.Context, host *admin.Client) error {
		_, err := host.Info(ctx)
		var gone admin.Forgotten
		switch {
		case protocol.CodeOf(err) == protocol.CodeNotFound:
			gone, err = c.forgetHere(ctx, plugin, company)
		case err == nil && plugin != "":
			gone, err = host.ForgetPlugin(ctx, plugin)
		case err == nil:
			gone, err = host.ForgetCompany(ctx, company)
		}
		if err == nil {
			c.printForgotten(gone)
		}
		return err
	})
}

// forgetHere removes data while no host runs, and keeps others from starting meanwhile.
func (c *cli) forgetHere(ctx context.Context, plugin, company string) (gone admin.Forgotten, err error) {
	dir, err := c.stateOf()
	if err != nil {
		return gone, err
	}
	if _, err := os.Stat(filepath.Join(dir, store.FileName)); errors.Is(err, fs.ErrNotExist) {
		return gone, &protocol.Error{Code: protocol.CodeNotFound, Message: fmt.Sprintf(
			"nothing is kept in %s: name the state directory of a host with --state", dir)}
	}
	if err := c.configure(c, false); err != nil { // the store's limits are among the settings
		return gone, err
	}
	st, err := c.openState(ctx, false)
	if err != nil {
		return gone, err
	}
	defer func() { err = errors.Join(err, st.close()) }()
	return st.forget(ctx, plugin, company, c.logRemover(nil, st))
}

// forget removes data from the store, and from what was read of it. What waits to be
// written goes, too.
func (s *state) forget(ctx context.Context, plugin, company string, logs logRemover) (gone admin.Forgotten, err error) {
	gone = admin.Forgotten{Plugin: plugin, Company: company, Enabled: s.disabled.has(plugin)}
	s.trail.Forget(plugin, company)
	if err := s.trail.Flush(ctx); err != nil {
		return gone, err
	}
	files, own := 0, int64(0)
	if plugin != "" {
		if files, err = logs(ctx, plugin); err == nil {
			own, err = s.removeElizaDir(ctx, plugin)
		}
		if err != nil {
			return gone, err
		}
	}
	if plugin == "" {
		err = s.forgetCompany(ctx, company, &gone)
	} else {
		s.crashes.forget(plugin)
		gone.Removed, err = s.disabled.forget(ctx, s.db, plugin)
	}
	if err != nil {
		return gone, err
	}
	if files > 0 {
		gone.Removed[removedLogs] = int64(files)
	}
	if own > 0 {
		gone.Removed[removedFiles] = own
	}
	s.grants.forget(plugin)
	if len(gone.Removed) == 0 {
		return gone, nil // nothing was done
	}
	s.trail.Add(services.Record{
		Action: "forget", EntityType: kindOf(plugin), EntityID: plugin + company, Message: "what was kept was removed by hand",
	})
	return gone, nil
}

// forgetCompany removes what is kept for a company.
func (s *state) forgetCompany(ctx context.Context, company string, gone *admin.Forgotten) error {
	plugins, err := s.db.RemoveCompany(ctx, company)
	all := store.Removed{}
	for plugin, its := range plugins {
		all.Add(its)
		if gone.Plugins == nil {
			gone.Plugins = map[string]map[string]int64{}
		}
		gone.Plugins[plugin] = its
	}
	gone.Removed = all
	return err
}

// kindOf says what was forgotten.
func kindOf(plugin string) string {
	if plugin == "" {
		return "company"
	}
	return "plugin"
}

// forget removes data of a host that runs, if nobody uses it.
func (h *house) forget(c *configuration.Configurator, st *state, logs logRemover) func(context.Context, string, string) (admin.Forgotten, error) {
	return func(ctx context.Context, plugin, company string) (gone admin.Forgotten, err error) {
		err = c.Forget(ctx, plugin, company, func(ctx context.Context) (err error) {
			gone, err = st.forget(ctx, plugin, company, logs)
			return err
		})
		return gone, err
	}
}

func (c *cli) printForgotten(gone admin.Forgotten) {
	if c.json() {
		c.encodeAs("forgotten", gone)
	}
	whose := gone.Plugin
	if whose == "" {
		whose = "company " + gone.Company
	}
	text := "nothing was kept"
	if len(gone.Removed) > 0 {
		text = "removed " + removedText(gone.Removed)
	}
	c.say("%s: %s", printable(whose), printable(text))
	for _, plugin := range slices.Sorted(maps.Keys(gone.Plugins)) {
		c.say("  %s: %s", printable(cmp.Or(plugin, "the host's own")), printable(removedText(gone.Plugins[plugin])))
	}
	if gone.Enabled {
		c.say("  note: it was disabled, and is not any more")
	}
}

// removedWords are one and many of what is removed.
var removedWords = map[string][2]string{
	"state":          {"value of its state", "values of its state"},
	"configurations": {"configuration", "configurations"},
	"subscriptions":  {"subscription", "subscriptions"},
	"filters":        {"subscription's filters for it", "subscriptions' filters for it"},
	"runs":           {"run of a job", "runs of jobs"},
	"jobs":           {"job", "jobs"},
	"records":        {"audit record", "audit records"},
	"entities":       {"entity", "entities"},
	removedLogs:      {"log file", "log files"},
	removedFiles:     {"file of its own", "files of its own"},
}

// removedText lists what was removed.
func removedText(removed map[string]int64) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(removed)) {
		words, known := removedWords[what]
		switch n := int(removed[what]); {
		case what == "plugin":
			parts = append(parts, "what the host knew of it")
		case known:
			parts = append(parts, plural(n, words[0], words[1]))
		default: // a newer host's
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	return strings.Join(parts, ", ")
}
