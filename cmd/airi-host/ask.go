package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
)

// askCommands are those that ask or command a running host.
func (c *cli) askCommands() []*cobra.Command {
	list := []*cobra.Command{
		c.psCommand(), c.inspectCommand(), c.peersCommand(), c.capsCommand(), c.jobsCommand(), c.logsCommand(), c.eventsCommand(),
		c.steerCommand(admin.Start), c.steerCommand(admin.Stop), c.reloadCommand(),
		c.steerCommand(admin.Enable), c.steerCommand(admin.Disable), c.approveCommand(), c.auditCommand(),
	}
	for _, cmd := range list {
		c.askFlag(cmd)
	}
	return list
}

// askFlag gives a command the flag that says which host is asked.
func (c *cli) askFlag(cmd *cobra.Command) {
	c.stateFlag(cmd, "the state directory of the host to ask")
}

// errGaveUp tells that a question was interrupted.
var errGaveUp = errors.New("interrupted")

// errUntaken tells that nobody takes the answer any more, as errFailed without words.
var errUntaken = fmt.Errorf("its reader is gone: %w", errFailed)

// ask asks the running host, until it is interrupted.
func (c *cli) ask(ctx context.Context, question func(context.Context, *admin.Client) error) error {
	dir, err := c.stateOf()
	if err != nil {
		return err
	}
	stop, _, release := interrupted(ctx, true)
	defer release()
	defer context.AfterFunc(stop, c.hurry)() // before release ends stop
	return c.brokenOff(stop, question(stop, clientOf(dir)))
}

// brokenOff is err, or what stands for it because the question was interrupted.
func (c *cli) brokenOff(stop context.Context, err error) error {
	if err == nil || stop.Err() == nil || errors.Is(err, errInterrupted) {
		return err
	}
	return errGaveUp
}

// whileTaken is a question that is given up as soon as nobody takes what is written.
func (c *cli) whileTaken(question func(context.Context, *admin.Client) error) func(context.Context, *admin.Client) error {
	return func(ctx context.Context, host *admin.Client) error {
		taken, cancel := c.out.whileTaken(ctx)
		defer cancel()
		return c.untaken(question(taken, host))
	}
}

// untaken is err, or what stands for it because something was not written.
func (c *cli) untaken(err error) error {
	switch loss := c.out.loss(); {
	case loss == nil:
		return err
	case c.out.failure() != nil:
		return c.out.failure()
	}
	return errUntaken
}

// follow asks for what may go on for ever: then an interruption is its usual end. That
// its reader has had enough is in any case.
func (c *cli) follow(ctx context.Context, forever bool, question func(context.Context, *admin.Client) error) error {
	err := c.ask(ctx, c.whileTaken(question))
	if errors.Is(err, errUntaken) || forever && errors.Is(err, errGaveUp) {
		return nil
	}
	return err
}

// encodeAs prints a JSON object on a line of its own, with the event's name before its
// members.
func (c *cli) encodeAs(event string, v any) {
	body, err := json.Marshal(v)
	if err != nil { // it came as JSON
		body, _ = json.Marshal(lineOf(err))
	}
	c.write(append([]byte(`{"event":"`+event+`",`), body[1:]...))
}

// table lays out rows in columns; the first one has the titles.
func (c *cli) table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable(cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(pad(cell, widths[i]+columnGap))
		}
		c.say("%s", strings.TrimRight(line.String(), " "))
	}
}
