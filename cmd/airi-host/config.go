package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/transport/process"
)

// maxSettings is how long a file of settings may be, in bytes.
const maxSettings = 1 << 20

// settings are what a file of settings says, in the words of those who go by it.
// The zero value of each answer stands for their defaults.
type settings struct{ manifest.Settings }

// settingsError is all that is wrong with a file of settings.
type settingsError struct{ problems manifest.Problems }

// Error has a line for each problem, FILE:LINE:COLUMN: FIELD: what is wrong.
func (e *settingsError) Error() string { return e.problems.Err().Error() }

// loadSettings reads a file of settings; "" is for none. The error is a
// *settingsError.
func loadSettings(path string) (*settings, error) {
	s := &settings{}
	if path == "" {
		return s, nil
	}
	data, err := readSettings(path)
	if err != nil {
		return nil, &settingsError{manifest.Problems{{File: path, Message: err.Error()}}}
	}
	read, problems := manifest.ParseSettings(path, data, manifest.SettingsOptions{CheckAddress: checkAddress})
	if len(problems) > 0 {
		return nil, &settingsError{problems}
	}
	s.Settings = *read
	return s, nil
}

// readSettings returns the bytes of a regular file: a named pipe would block for ever.
func readSettings(path string) ([]byte, error) {
	const want = "expected a file of settings, in JSON"
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("does not exist: " + want)
	case err == nil && !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file: " + want)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", withoutPath(err))
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", withoutPath(err))
	case len(data) > maxSettings:
		return nil, fmt.Errorf("expected at most %d bytes, found more: shorten it", maxSettings)
	}
	return data, nil
}

// withoutPath returns an error without the path, which is told already.
func withoutPath(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

func checkAddress(entry string) error {
	_, err := services.ParseAddresses([]string{entry})
	return err
}

// settingsName is the file of settings in a state directory.
const settingsName = "airi-host.json"

// configFlag gives a command the flag --config, which configure goes by.
func (c *cli) configFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.config, "config", "", "a file of settings, in JSON, instead of "+settingsName+" in the state directory")
}

// settingsFile is the file of settings of a host, "" for none: that of --config, else
// the one in its state directory, if it is there; a temporary directory has none.
func (c *cli) settingsFile(once bool) (string, error) {
	if c.config != "" {
		return c.config, nil
	}
	st, err := c.newState(once)
	if err != nil || st.temporary {
		return "", err
	}
	file := filepath.Join(st.dir, settingsName)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	return file, nil
}

// configure reads the settings of a host; once is for one that is asked once. What is
// wrong with them it tells through another command line, which may be the same, a line
// each.
func (c *cli) configure(through *cli, once bool) error {
	file, err := c.settingsFile(once)
	if err != nil {
		return err
	}
	s, err := loadSettings(file)
	if wrong, ok := errors.AsType[*settingsError](err); ok {
		through.printProblems(wrong.problems)
		return errFailed
	}
	c.settings = s
	return err
}

// restart says what follows a crash; once is for a host that is asked once.
func (s *settings) restart(once bool) actors.RestartPolicy {
	r := s.Restart
	policy := actors.RestartPolicy{
		First: r.Base, Max: r.Max, Stable: r.Stable, MaxInARow: r.GiveUp, Disabled: r.Disabled || once,
	}
	if r.Jitter != nil {
		policy.Jitter = cmp.Or(*r.Jitter, -1) // where 0 is the default, less is none
	}
	return policy
}

func (s *settings) limits() actors.Limits {
	l := s.Limits
	return actors.Limits{
		Pending: l.PendingCalls, LogLines: l.LogLines, Facts: l.Facts, Frame: l.FrameBytes,
		StreamItems: l.StreamItems, StreamBytes: l.StreamBytes, Events: l.Events, EventBytes: l.EventBytes,
	}
}

func (s *settings) timeouts() actors.Timeouts {
	t := s.Timeouts
	return actors.Timeouts{
		Load: t.Load, Init: t.Init, Setup: t.Setup, Stop: t.Stop, Call: t.Call, Idle: t.Idle, Capabilities: t.Capabilities,
	}
}

// drain is how long plugins may take to stop: what a flag says goes first.
func (s *settings) drain(flag time.Duration, given bool) time.Duration {
	if given || s.Drain == 0 {
		return flag
	}
	return s.Drain
}

// secrets says where secrets are; none of them is read before it is asked for.
func (s *settings) secrets() services.Secrets {
	declared := make(map[string]services.Secret, len(s.Secrets))
	for id, one := range s.Secrets {
		declared[id] = services.Secret{Env: one.Env, File: one.File, Plugins: one.Plugins, Companies: one.Companies}
	}
	return services.Secrets{Declared: declared}
}

// http says what plugins' requests may do.
func (s *settings) http() (services.HTTP, error) {
	allowed, err := services.ParseAddresses(s.HTTP.Allow)
	return services.HTTP{
		Allowed: allowed, Timeout: s.HTTP.Timeout, MaxRequest: s.HTTP.MaxBody, MaxResponse: s.HTTP.MaxBody,
	}, err
}

// pluginConfig returns a plugin's configuration for a company, "" being none; nil
// where the settings have none.
func (s *settings) pluginConfig(plugin, company string) json.RawMessage {
	return s.Plugins[plugin].ConfigFor(company)
}

// worker says what a plugin's worker may use of the machine: what the settings say of
// the plugin, else its manifest, else what they say of all plugins.
func (s *settings) worker(m *manifest.Manifest) process.Limits {
	own, said, all := s.Plugins[m.PluginName()].Limits, m.Host.Limits.Worker, s.Limits.Worker
	return process.Limits{
		MemoryBytes: cmp.Or(own.MemoryBytes, said.MemoryBytes, all.MemoryBytes),
		Processes:   cmp.Or(own.Processes, said.Processes, all.Processes),
		CPUTime:     cmp.Or(own.CPUTime, said.CPUTime, all.CPUTime),
	}
}

// grants returns which of the grants that a plugin asks for it is given.
func (s *settings) grants(plugin string, asked []string) []string {
	given := s.Plugins[plugin].Grants
	if given == nil {
		return asked
	}
	var both []string
	for _, grant := range asked {
		for _, one := range given {
			if one == grant {
				both = append(both, grant)
			}
		}
	}
	return both
}

// policy is what Paperclip's workers may do.
func (s *settings) policy() ecosystems.Policy {
	return ecosystems.Policy{Company: s.Scope, Companies: s.Companies, Grants: s.grants}
}

// limited runs workers within what they may use of the machine.
func limited(s *settings, launch actors.Launcher) actors.Launcher {
	return func(ctx context.Context, m *manifest.Manifest, entry manifest.Entry) (process.Spec, error) {
		spec, err := launch(ctx, m, entry)
		spec.Limits = s.worker(m)
		return spec, err
	}
}

// tellUnknown warns of settings for plugins that are not there: a name may be misspelt.
func (s *settings) tellUnknown(list []*manifest.Manifest, log *slog.Logger) {
	for _, name := range slices.Sorted(maps.Keys(s.Plugins)) {
		if !slices.ContainsFunc(list, func(m *manifest.Manifest) bool { return m.PluginName() == name }) {
			log.Warn("settings for a plugin that is not here: is the name right?", "field", "plugins."+name)
		}
	}
}
