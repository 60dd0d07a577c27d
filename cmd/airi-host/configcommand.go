package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/admin"
)

const configText = `Look at the configuration of a plugin of the running host, and change it.

What is set goes before the host's file of settings, and outlives the host. It is checked against
the plugin's JSON Schema, and then by the plugin itself, where it runs and can be asked; what either
refuses is not kept, and the plugin goes on with what it had. A plugin that is stopped or disabled
looks at it when it starts. How far a change is, 'airi-host events' tells.`

const configSetText = `Give a plugin of the running host another configuration: JSON, an object; - reads it from standard
input, @FILE from a file. With --patch it is a JSON merge patch of the one in force, in which null
removes a member. With --revision the change is refused if the one in force is not that one.

It is validated, planned and committed, as validate and plan do without changing anything.`

const configValidateText = `Tell what is wrong with a configuration that a plugin of the running host is to be given, and change
nothing: it is checked against the plugin's JSON Schema, and then the plugin is asked, where it can
be. Takes what set takes. The exit code is 1 if anything is wrong.`

const configPlanText = `Tell what setting a configuration would do, and do nothing: which members are added, changed and
removed (never their values), which revision there would be, when the plugin has it, and whether it
is started for that. Takes what set takes. The exit code is 1 if the configuration is refused.`

// configOptions are the flags of config.
type configOptions struct {
	company  string
	patch    bool
	revision int64
}

func (c *cli) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Look at plugins' configurations, and change them", Long: configText,
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("config takes schema, or get, set, unset, validate, plan or history and a PLUGIN")}
		},
	}
	var opts configOptions
	cmd.AddCommand(
		c.configGetCommand(&opts), c.configSetCommand(&opts), c.configUnsetCommand(&opts),
		c.configValidateCommand(&opts), c.configPlanCommand(&opts), c.configHistoryCommand(&opts),
	)
	for _, sub := range cmd.Commands() {
		sub.Flags().StringVar(&opts.company, "company", "", "whose configuration; otherwise that of all who have none of their own")
		c.askFlag(sub)
	}
	cmd.AddCommand(c.configSchemaCommand())
	return cmd
}

func (c *cli) configGetCommand(opts *configOptions) *cobra.Command {
	return &cobra.Command{
		Use: "get PLUGIN", Short: "Print the configuration that is in force", Args: c.arguments(1, 1, "a PLUGIN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				one, err := host.Configuration(ctx, args[0], opts.company)
				if err == nil {
					c.printConfiguration(one)
				}
				return err
			})
		},
	}
}

func (c *cli) configHistoryCommand(opts *configOptions) *cobra.Command {
	return &cobra.Command{
		Use: "history PLUGIN", Short: "List the configurations that were set, the newest first", Args: c.arguments(1, 1, "a PLUGIN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				all, err := host.ConfigurationHistory(ctx, args[0], opts.company)
				if err == nil {
					c.printHistory(args[0], opts.company, all)
				}
				return err
			})
		},
	}
}

func (c *cli) configSetCommand(opts *configOptions) *cobra.Command {
	cmd := c.changeCommand(opts, func(ctx context.Context, host *admin.Client, plugin string, change configuration.Change) error {
		kept, err := host.Configure(ctx, plugin, change)
		if err == nil {
			c.printKept(kept)
		}
		return err
	})
	cmd.Use, cmd.Short, cmd.Long = "set PLUGIN JSON|-|@FILE", "Give a plugin another configuration", configSetText
	cmd.Example = `  airi-host config set welcome '{"language":"en"}'` + "\n" + `  airi-host config set welcome --patch '{"language":null}'`
	return cmd
}

// changeCommand is one that takes a PLUGIN and a configuration.
func (c *cli) changeCommand(opts *configOptions, do func(context.Context, *admin.Client, string, configuration.Change) error) *cobra.Command {
	cmd := &cobra.Command{
		Args: c.arguments(2, 2, "a PLUGIN and its configuration: JSON, - or @FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			base, err := opts.base(cmd)
			if err != nil {
				return err
			}
			change, err := c.change(args[1], opts, base)
			if err != nil {
				return err
			}
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				return do(ctx, host, args[0], change)
			})
		},
	}
	cmd.Flags().BoolVar(&opts.patch, "patch", false, "change only the members that are given")
	revisionFlag(cmd, opts)
	return cmd
}

func revisionFlag(cmd *cobra.Command, opts *configOptions) {
	cmd.Flags().Int64Var(&opts.revision, "revision", 0, "the revision that the change began from, 0 for none")
}

// base is the revision that was given, nil for none.
func (o *configOptions) base(cmd *cobra.Command) (*int64, error) {
	switch {
	case !cmd.Flags().Changed("revision"):
		return nil, nil
	case o.revision < 0:
		return nil, usageError{errors.New("--revision: expected a number from 0")}
	}
	return &o.revision, nil
}

// change is what is to be set.
func (c *cli) change(text string, opts *configOptions, base *int64) (change configuration.Change, err error) {
	change = configuration.Change{Company: opts.company, Patch: opts.patch, Base: base}
	if name, ok := strings.CutPrefix(text, "@"); ok {
		change.Value, err = inputFrom(name)
	} else {
		change.Value, err = c.input([]string{text})
	}
	return change, err
}

// inputFrom reads JSON from a file.
func inputFrom(name string) (json.RawMessage, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the input: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := readInput(file)
	if err != nil {
		return nil, err
	}
	return parseInput(text)
}

func (c *cli) printConfiguration(one configuration.Configuration) {
	if c.json() {
		c.encodeAs("configuration", one)
		return
	}
	c.write(compact(one.Value))
}

func (c *cli) printKept(one configuration.Configuration) {
	if c.json() {
		c.encodeAs("configuration", one)
	}
	c.say("%s has revision %d of its configuration", printable(one.Plugin), one.Revision)
	c.printWarnings(one.Warnings)
}

func (c *cli) printHistory(plugin, company string, all []configuration.Configuration) {
	if len(all) == 0 {
		whose := printable(plugin)
		if company != "" {
			whose += " for company " + printable(company)
		}
		c.say("%s: none was set; 'airi-host config get' prints the one that is in force", whose)
	}
	for _, one := range all {
		if c.json() {
			c.encodeAs("configuration", one)
		}
		c.say("%d  %s  %s", one.Revision, one.At.Local().Format(time.DateTime), printable(string(compact(one.Value))))
	}
}

// compact puts a value on one line.
func compact(value json.RawMessage) []byte {
	var line bytes.Buffer
	if json.Compact(&line, value) != nil {
		return value
	}
	return line.Bytes()
}
