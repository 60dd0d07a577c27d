package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/gateway"
)

const peersText = `List AIRI's peers on websockets: where each comes from, which modules it has announced (by plugin
and instance) and for which generation of AIRI's servers, in which phase the session of each is,
how many frames wait for the peer, what was dropped, since when it is connected, and when it was
heard last. A module whose connection is gone is shown as away while it is waited for.

With --output json there is a line {"event":"peer",…} for each; a module that is away is a peer
without an id.`

func (c *cli) peersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "peers",
		Short: "List AIRI's peers on the running host's websockets",
		Long:  peersText,
		Args:  c.arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				list, err := host.Peers(ctx)
				if err == nil {
					c.printPeers(list, time.Now())
				}
				return err
			})
		},
	}
}

func (c *cli) printPeers(list []gateway.Peer, now time.Time) {
	rows := [][]string{{"ADDRESS", "MODULE", "GENERATION", "PHASE", "QUEUE", "DROPPED", "FOR", "HEARD", "NOTE"}}
	for _, one := range list {
		if c.json() {
			c.encodeAs("peer", one)
		}
		rows = append(rows, peerRows(one, now)...)
	}
	c.table(rows)
}

// peerRows are a peer's: one for each of its modules.
func peerRows(p gateway.Peer, now time.Time) (rows [][]string) {
	if len(p.Modules) == 0 {
		return [][]string{peerRow(p, gateway.Module{}, now)}
	}
	for _, m := range p.Modules {
		rows = append(rows, peerRow(p, m, now))
	}
	return rows
}

// peerRow is a row for one module of a peer; what is said of the peer stands in each.
func peerRow(p gateway.Peer, m gateway.Module, now time.Time) []string {
	row := []string{
		orDash(p.Address), orDash(identityOf(m)), orDash(m.Generation), orDash(m.Phase),
		"-", "-", ago(now, p.Since), ago(now, p.Heard), peerNote(p, m),
	}
	if p.ID != "" {
		row[4] = fmt.Sprintf("%d (%d bytes)", p.QueuedRecords, p.QueuedBytes)
		row[5] = orDash(countsOf(p.Dropped))
	}
	return row
}

// identityOf is who a module is: its plugin and instance, and its own name where that is
// another.
func identityOf(m gateway.Module) string {
	text := m.Plugin
	if m.Instance != "" {
		text += "/" + m.Instance
	}
	if m.Name != m.Plugin {
		text += " (" + m.Name + ")"
	}
	return text
}

func peerNote(p gateway.Peer, m gateway.Module) string {
	switch {
	case m.Away:
		return sentence("away: its connection is gone", m.Reason)
	case p.ID != "" && !p.Authenticated:
		return "not authenticated"
	case m.Plugin == "":
		return "has announced nothing"
	}
	return m.Reason
}

// ago is how long something is past.
func ago(now, at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return span(now.Sub(at))
}
