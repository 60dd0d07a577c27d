package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/lifecycle"
)

// machines are the tables there are, by name.
var machines = []*lifecycle.Machine{lifecycle.Session, lifecycle.Worker, lifecycle.Route, lifecycle.Capability}

func (c *cli) lifecycleCommand() *cobra.Command {
	var format, machine string
	cmd := &cobra.Command{
		Use:   "lifecycle",
		Short: "Print a state machine from the table that the code runs",
		Long: "Print a state machine from the table that the code runs.\n\n" +
			"Edges that this host adds to the reference host's are marked.",
		Args: c.arguments(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := machineCalled(machine)
			if err != nil {
				return usageError{err}
			}
			if c.json() && !cmd.Flags().Changed("format") {
				return c.encodeMachine(m)
			}
			if err := lifecycle.Render(c.out, m, format); err != nil {
				return usageError{fmt.Errorf("--format: %w", err)}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", lifecycle.FormatTable, "how to print it: "+strings.Join(lifecycle.Formats(), ", "))
	cmd.Flags().StringVar(&machine, "machine", lifecycle.Session.Name(), "which one: "+strings.Join(machineNames(), ", "))
	return cmd
}

// encodeMachine prints a machine as one JSON object on one line.
func (c *cli) encodeMachine(m *lifecycle.Machine) error {
	var text bytes.Buffer
	if err := lifecycle.Render(&text, m, lifecycle.FormatJSON); err != nil {
		return err
	}
	c.encode(json.RawMessage(text.Bytes()))
	return nil
}

func machineNames() []string {
	names := make([]string, len(machines))
	for i, m := range machines {
		names[i] = m.Name()
	}
	return names
}

func machineCalled(name string) (*lifecycle.Machine, error) {
	for _, m := range machines {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("--machine %q: expected one of %s", name, strings.Join(machineNames(), ", "))
}
