package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
)

const auditText = `List what plugins of the running host were denied, what was done by hand (start, stop, reload,
enable, disable, configure, approve, forget, pty, and the settings that were read again, by field), and what plugins have logged as their activity; the newest first.

A plugin that is denied the same again and again has one record at once, and then one with the
number of them now and then. With --output json there is a line {"event":"audit",…} for each.`

// auditOptions are the flags of audit.
type auditOptions struct {
	company, since string
	limit          int
}

func (c *cli) auditCommand() *cobra.Command {
	var opts auditOptions
	cmd := &cobra.Command{
		Use:     "audit [PLUGIN]",
		Short:   "List what plugins of the running host were denied, and what was done by hand",
		Long:    auditText,
		Example: "  airi-host audit\n  airi-host audit welcome --since 24h --limit 10",
		Args:    c.arguments(0, 1, "at most one PLUGIN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			search, err := opts.search(strings.Join(args, ""), time.Now())
			if err != nil {
				return err
			}
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				list, err := host.Audit(ctx, search)
				if err == nil {
					c.printAudit(list)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&opts.company, "company", "", "only what is about this company")
	cmd.Flags().StringVar(&opts.since, "since", "", sinceUsage)
	cmd.Flags().IntVar(&opts.limit, "limit", 100, "how many, at most 1000")
	return cmd
}

func (o auditOptions) search(plugin string, now time.Time) (s admin.AuditSearch, err error) {
	s = admin.AuditSearch{Plugin: plugin, Company: o.company, Limit: o.limit}
	if o.limit < 1 || o.limit > 1000 {
		return s, usageError{errors.New("--limit: expected a number from 1 to 1000")}
	}
	s.Since, err = sinceOf(o.since, now)
	return s, err
}

func (c *cli) printAudit(list []admin.AuditRecord) {
	rows := [][]string{{"TIME", "PLUGIN", "COMPANY", "ACTION", "WHAT"}}
	for _, r := range list {
		if c.json() {
			c.encodeAs("audit", r)
		}
		rows = append(rows, []string{
			r.At.Local().Format(time.DateTime), orDash(r.Plugin), orDash(r.Company), r.Action, sentence(r.EntityID, r.Message),
		})
	}
	c.table(rows)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
