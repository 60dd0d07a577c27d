package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/manifest"
)

const configSchemaText = `Print the JSON Schema (draft 2020-12) of the host's file of settings, airi-host.json in the state
directory or the file of --config. It says of each field what it is for, its unit, its bounds and its
default. No host is asked. With --output json it is on one line.`

func (c *cli) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of airi-host.json, the host's file of settings", Long: configSchemaText,
		Example: "  airi-host config schema > airi-host.schema.json",
		Args:    c.arguments(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if c.json() {
				c.write(compact(manifest.SettingsSchema()))
			} else {
				c.write(bytes.TrimSpace(manifest.SettingsSchema()))
			}
			return nil
		},
	}
}
