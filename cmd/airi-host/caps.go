package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/capability"
)

const capsText = `List the capabilities that the running host and its plugins offer.

With --output json there is a line {"event":"offer",…} for each, with its schema and metadata.`

func (c *cli) capsCommand() *cobra.Command {
	var plugin, kind string
	cmd := &cobra.Command{
		Use:     "caps",
		Short:   "List what the running host's plugins offer",
		Long:    capsText,
		Example: "  airi-host caps --kind tool",
		Args:    c.arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkKind(kind); err != nil {
				return err
			}
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				list, err := host.Capabilities(ctx, plugin, kind)
				if err == nil {
					c.printOffers(list)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&plugin, "plugin", "", "only those of this plugin")
	cmd.Flags().StringVar(&kind, "kind", "", "only those of this kind: "+kindList())
	return cmd
}

// checkKind looks whether there is that kind of capability; "" is for all.
func checkKind(kind string) error {
	if kind == "" || slices.Contains(capability.Kinds(), capability.Kind(kind)) {
		return nil
	}
	return usageError{fmt.Errorf("--kind %q: expected one of %s", kind, kindList())}
}

func kindList() string {
	var names []string
	for _, one := range capability.Kinds() {
		names = append(names, string(one))
	}
	return strings.Join(names, ", ")
}

func (c *cli) printOffers(list []capability.Offer) {
	rows := [][]string{{"CAPABILITY", "OWNER", "STATE", "NOTE"}}
	for _, o := range list {
		if c.json() {
			c.encodeAs("offer", o)
		}
		note := o.Description
		if !o.Invocable && o.Owner != capability.HostOwner { // what the host offers is answered by its services
			note = sentence("cannot be called", note)
		}
		rows = append(rows, []string{string(o.Key), offererOf(o), string(o.State), sentence(o.Reason, note)})
	}
	c.table(rows)
}

// offererOf is who offers it, as ps calls sessions.
func offererOf(o capability.Offer) string {
	return calledOf(actors.SessionInfo{Plugin: o.Owner.Plugin, Instance: o.Owner.Instance})
}
