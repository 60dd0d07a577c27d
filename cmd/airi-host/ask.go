package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
)

// askCommands are those that ask or command a running host.
func (c *cli) askCommands() []*cobra.Command {
	list := []*cobra.Command{
		c.psCommand(), c.inspectCommand(), c.capsCommand(), c.logsCommand(), c.eventsCommand(),
		c.steerCommand(admin.Start), c.steerCommand(admin.Stop), c.steerCommand(admin.Reload),
		c.steerCommand(admin.Enable), c.steerCommand(admin.Disable),
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

// ask asks the running host, until it is interrupted.
func (c *cli) ask(ctx context.Context, question func(context.Context, *admin.Client) error) error {
	dir, err := c.stateOf()
	if err != nil {
		return err
	}
	stop, _, release := interrupted(ctx)
	defer release()
	defer context.AfterFunc(stop, c.hurry)() // before release ends stop
	err = question(stop, clientOf(dir))
	if err != nil && stop.Err() != nil {
		return errGaveUp
	}
	return err
}

// follow asks for what goes on for ever: then an interruption is its usual end.
func (c *cli) follow(ctx context.Context, forever bool, question func(context.Context, *admin.Client) error) error {
	err := c.ask(ctx, question)
	if forever && errors.Is(err, errGaveUp) {
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
