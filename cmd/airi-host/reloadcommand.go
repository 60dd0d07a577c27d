package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/manifest"
)

const reloadText = `

Without a NAME the host reads its file of settings again, as at a SIGHUP where there is no terminal:
what can change is changed, and for each field that has changed it is said what came of it. The
configuration of a plugin is offered to it while it runs; one that has to begin anew for its grants
is reloaded. A file with problems changes nothing.`

// reloadCommand reloads plugins or, without any, the settings.
func (c *cli) reloadCommand() *cobra.Command {
	cmd := c.steerCommand(admin.Reload)
	plugins := cmd.RunE
	cmd.Use = admin.Reload + " [NAME…]"
	cmd.Short = "Stop a plugin and start it anew, or read the settings again"
	cmd.Long += reloadText
	cmd.Example = "  airi-host reload\n" + cmd.Example
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return plugins(cmd, args)
		}
		return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
			report, err := host.ReloadSettings(ctx)
			if err != nil {
				return err
			}
			return c.printReload(report)
		})
	}
	return cmd
}

// printReload tells what has come of each change. Problems are a failure, and so is a
// plugin that refuses what is now in the file, or fails with it.
func (c *cli) printReload(report admin.SettingsReload) (err error) {
	if len(report.Problems) > 0 {
		problems := make(manifest.Problems, len(report.Problems))
		for i, p := range report.Problems {
			problems[i] = manifest.Problem(p)
		}
		c.printProblems(problems)
		c.say("nothing was changed")
		return errFailed
	}
	for _, one := range report.Changes {
		if c.json() {
			c.encode(settingLine{"setting", one})
		}
		c.say("%s", printable(one.Field+": "+sentence(cameOf[one.Effect], one.Message)))
		if one.Effect == admin.SettingRefused || one.Effect == admin.SettingFailed {
			err = errFailed
		}
	}
	if len(report.Changes) == 0 {
		c.say("nothing has changed in %s", printable(fileOr(report.File)))
	}
	return err
}

// cameOf is what has come of a change, in words.
var cameOf = map[admin.SettingEffect]string{
	admin.SettingApplied:   "applied",
	admin.SettingNextStart: "waits",
	admin.SettingRestart:   "waits",
	admin.SettingRefused:   "refused",
	admin.SettingFailed:    "failed",
	admin.SettingHidden:    "no effect",
}

func fileOr(file string) string {
	if file == "" {
		return "the settings: there is no file"
	}
	return file
}

type settingLine struct {
	Event string `json:"event"`
	admin.SettingChange
}
