package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/internal/regular"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/otlp"
	"github.com/airi-host/airi-host/transport/process"
)

// maxSettings is how long a file of settings may be, in bytes.
const maxSettings = 1 << 20

// settings are what a file of settings says, and the flags that go before it, in the
// words of those who go by them. The zero value of each answer stands for their
// defaults. They do not change: who holds them for longer than a moment asks now for
// those in force.
type settings struct {
	manifest.Settings
	// text is the file's.
	text []byte
	// next are those that have taken the place of these.
	next atomic.Pointer[settings]
}

// now returns the settings in force; where there are none, they say nothing.
func (s *settings) now() *settings {
	if s == nil {
		return &settings{}
	}
	if next := s.next.Load(); next != nil {
		return next
	}
	return s
}

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
	read, problems := manifest.ParseSettings(path, data, manifest.SettingsOptions{
		CheckAddress: checkAddress, CheckTelemetry: otlp.CheckEndpoint, CheckProgram: checkNode,
	})
	if len(problems) > 0 {
		return nil, &settingsError{problems}
	}
	s.Settings, s.text = *read, data
	return s, nil
}

// readSettings returns what a file of settings holds.
func readSettings(path string) ([]byte, error) {
	const want = "expected a file of settings, in JSON"
	data, _, err := regular.Read(path, maxSettings)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("does not exist: " + want)
	case errors.Is(err, regular.ErrIrregular):
		return nil, fmt.Errorf("%w: %s", err, want)
	case errors.Is(err, regular.ErrTooLong):
		return nil, fmt.Errorf("expected at most %d bytes, found more: shorten it", maxSettings)
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", withoutPath(err))
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

// checkNode looks whether there is a program that can be run. Which it is shows when it
// runs.
func checkNode(path string) error {
	const want = `expected the absolute path of Node.js, e.g. "/usr/local/bin/node"`
	_, err := exec.LookPath(path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s, and there is no %s", want, path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s, and %s cannot be run: it has no leave to be", want, path)
	}
	return fmt.Errorf("%s, and %s cannot be run: %w", want, path, err)
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
	s, err := c.settled(once)
	if wrong, ok := errors.AsType[*settingsError](err); ok {
		through.printProblems(wrong.problems)
		return errFailed
	}
	if err != nil {
		return err
	}
	c.settings = s
	c.modules.Deadline, c.modules.Program = s.Manifests.Evaluation, s.Runtimes.Node
	return nil
}

// settled reads the settings, and lays the flags over them.
func (c *cli) settled(once bool) (*settings, error) {
	file, err := c.settingsFile(once)
	if err != nil {
		return nil, err
	}
	s, err := loadSettings(file)
	if err == nil && c.over != nil {
		c.over(&s.Settings)
	}
	return s, err
}

// pluginConfig returns a plugin's configuration for a company, "" being none; nil
// where the settings have none.
func (s *settings) pluginConfig(plugin, company string) json.RawMessage {
	return s.Plugins[plugin].ConfigFor(company)
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
	return ecosystems.Policy{Company: s.Scope, Companies: s.Companies, Grants: s.grants, Collecting: s.collecting(), Routes: s.routes(), OpenRoutes: s.Routes.Open}
}

// limited runs workers within the limits that are in force when they start.
func limited(s *settings, launch actors.Launcher) actors.Launcher {
	return func(ctx context.Context, m *manifest.Manifest, entry manifest.Entry) (process.Spec, error) {
		spec, err := launch(ctx, m, entry)
		s.now().bind(&spec, m)
		return spec, err
	}
}

// tellUnknown warns of settings for plugins that are not there: a name may be misspelt.
func (s *settings) tellUnknown(list []*manifest.Manifest, log *slog.Logger) {
	for _, name := range slices.Sorted(maps.Keys(s.Plugins)) {
		if !slices.ContainsFunc(list, func(m *manifest.Manifest) bool { return m.PluginName() == name }) {
			log.Warn("settings for a plugin that is not here: is the name right, or does it come over a websocket?", "field", "plugins."+name)
		}
	}
}
