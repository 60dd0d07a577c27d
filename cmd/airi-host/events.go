package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/protocol"
)

const eventsText = `Show what has happened in the running host of late: phases, what plugins wait for,
capabilities that came and went, crashes, and what was dropped. The host keeps the last
thousand events.

With -f what comes is shown too, until Ctrl-C or the host's end. Whoever reads too slowly
misses events, and is told how many. Calls, who called what and because of which other
call, what plugins put on their event streams, and the events that AIRI's modules and peers
tell each other (channel), are shown with -f --kind call,stream,channel alone, while somebody
follows them; --scope shows those for one tenant only, --type events of one type. With --output json the lines are objects, those of run
and {"event":"gap","missed":…}.`

func (c *cli) eventsCommand() *cobra.Command {
	var lines int
	var follow bool
	var wanted admin.EventsWanted
	cmd := &cobra.Command{
		Use:     "events",
		Short:   "Show what happens in the running host",
		Long:    eventsText,
		Example: "  airi-host events -f --kind phase,restart\n  airi-host events -f --kind channel --plugin discord-bot --type 'spark:*'",
		Args:    c.arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(checkLines(lines), checkKinds(wanted.Kinds)); err != nil {
				return err
			}
			return c.follow(cmd.Context(), follow, func(ctx context.Context, host *admin.Client) error {
				show, err := c.lineShower(ctx, host)
				if err != nil {
					return err
				}
				return host.EventsOf(ctx, wanted, lines, follow, show)
			})
		},
	}
	linesFlag(cmd, &lines, &follow)
	cmd.Flags().StringVar(&wanted.Kinds, "kind", "", "only some kinds: "+strings.Join(admin.EventKinds(), ", ")+", with commas in between")
	cmd.Flags().StringVar(&wanted.Plugin, "plugin", "", "only those about this plugin")
	cmd.Flags().StringVar(&wanted.Company, "scope", "", "of calls and event streams, only those for this tenant")
	cmd.Flags().StringVar(&wanted.Type, "type", "", "of what is told on channels, only events of this type; with a * at its end, of all that begin so")
	return cmd
}

// checkKinds looks whether there are the kinds of events of a list; "" is for all.
func checkKinds(list string) error {
	if list == "" {
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(admin.EventKinds(), name) {
			return usageError{fmt.Errorf("--kind %q: expected some of %s, with commas in between", list, strings.Join(admin.EventKinds(), ", "))}
		}
	}
	return nil
}

// lineShower shows the lines of a stream: as they come with --output json, else for
// people, in columns.
func (c *cli) lineShower(ctx context.Context, host *admin.Client) (func([]byte) error, error) {
	if c.json() {
		return func(line []byte) error {
			c.write(line)
			return c.out.loss()
		}, nil
	}
	list, err := host.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	l := layout{color: c.out.color, today: time.Now()}
	for _, one := range list {
		l.names = max(l.names, min(maxNames, len([]rune(one.Plugin))))
	}
	return func(line []byte) error {
		text, err := l.streamed(line)
		if err != nil {
			return err
		}
		c.say("%s", text)
		return c.out.loss()
	}, nil
}

// streamed is a line of a stream for people. One of a newer host that we do not know is
// shown as it is.
func (l layout) streamed(line []byte) (string, error) {
	var head struct {
		Event  string
		Missed uint64
		Older  bool
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return "", fmt.Errorf("the host's line %q: %w", clip(string(line), 80), err)
	}
	switch head.Event {
	case "gap":
		if head.Older {
			return fmt.Sprintf("… %d older lines are not shown: all together are longer than api.logBytes of the settings", head.Missed), nil
		}
		return fmt.Sprintf("… %d lines were missed: they came too fast", head.Missed), nil
	case actors.KindPhase.String():
		return shown(line, l.phase)
	case actors.KindWaiting.String():
		return shown(line, l.waiting)
	case actors.KindRestart.String():
		return shown(line, l.restart)
	case actors.KindGrants.String():
		return shown(line, l.grants)
	case actors.KindCapability.String():
		return shown(line, l.capability)
	case actors.KindConfiguration.String():
		return shown(line, l.configuration)
	case actors.KindDropped.String():
		return shown(line, l.dropped)
	case actors.KindCall.String():
		return shown(line, l.called)
	case actors.KindStream.String():
		return shown(line, l.onStream)
	case actors.KindChannel.String():
		return shown(line, l.onChannel)
	case actors.KindLog.String():
		return shown(line, l.logged)
	default:
		return printable(string(line)), nil
	}
}

// shown reads an event and shows it.
func shown[E any](line []byte, show func(E) string) (string, error) {
	var e E
	if err := json.Unmarshal(line, &e); err != nil {
		return "", fmt.Errorf("the host's line %q: %w", clip(string(line), 80), err)
	}
	return show(e), nil
}

func (l layout) capability(e actors.CapabilityChanged) string {
	from := string(e.From)
	if from == "" {
		from = "new"
	}
	return l.line(e.At.Local(), e.Plugin, printable(sentence(fmt.Sprintf("%s  %s → %s", e.Key, from, e.To), e.Reason)))
}

func (l layout) configuration(e actors.ConfigurationStatus) string {
	what := fmt.Sprintf("configuration  %s %s %d%%", e.Step, e.State, int(e.Progress*100))
	if e.Company != "" {
		what += " for " + e.Company
	}
	return l.line(e.At.Local(), e.Plugin, printable(sentence(what, e.Note)))
}

func (l layout) grants(e actors.Granted) string {
	return l.line(e.At.Local(), e.Plugin, printable(grantsText(e)))
}

func (l layout) dropped(e actors.Dropped) string {
	return l.line(e.At.Local(), e.Plugin, printable(sentence(fmt.Sprintf("dropped %s, %d so far", e.What, e.Count), e.Detail)))
}

func (l layout) called(e actors.Called) string {
	text := protocol.ChainText(e.Chain) + " → " + e.Plugin + " (" + e.Ecosystem + ")"
	if e.Scope != "" {
		text += " for " + e.Scope
	}
	if e.Code != "" {
		text += ": " + string(e.Code)
	}
	return l.line(e.At.Local(), e.Plugin, printable(text)+", "+e.Took.Round(time.Microsecond).String())
}

func (l layout) onStream(e actors.Streamed) string {
	text := e.Channel + "  " + string(e.What)
	if e.Scope != "" {
		text += " for " + e.Scope
	}
	if e.Item != nil {
		text += "  " + string(e.Item)
	}
	if e.Lost {
		text += ": the plugin has ended"
	}
	return l.line(e.At.Local(), e.Plugin, printable(text))
}

func (l layout) onChannel(e actors.Channel) string {
	text := "← " + e.Name
	if e.FromPlugin {
		text = "→ " + e.Name
	}
	if e.Payload != nil {
		text += "  " + string(e.Payload)
	}
	return l.line(e.At.Local(), e.Plugin, printable(text))
}

func (l layout) logged(e actors.Logged) string {
	first, more, _ := strings.Cut(e.Text, "\n")
	text := l.line(e.At.Local(), e.Plugin, levelName(e.Level)+"  "+printable(first))
	if more == "" {
		return text
	}
	for line := range strings.SplitSeq(more, "\n") { // of a trace
		text += "\n    " + blanks(line)
	}
	return text
}

// blanks is printable text with the blanks at its beginning as they are.
func blanks(line string) string {
	text := strings.TrimLeft(line, " \t")
	return strings.ReplaceAll(line[:len(line)-len(text)], "\t", "    ") + printable(text)
}
