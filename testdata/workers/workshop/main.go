// Command workshop is an environment driver, a Paperclip worker written in Go: it runs
// commands, logins in terminals, and programs that talk in bytes, on this machine, each in
// a directory that is a lease.
//
//	validateConfig     {shell?}: the shell that a login is, "sh" unless named
//	acquireLease …     a lease is a directory below the temporary one
//	execute            runs a command there; what it writes is logged as it comes
//	a terminal         runs the shell, in a terminal of 100 columns and 30 rows
//	a channel          runs a command whose standard input and output it is
//
// Whatever has run has ended when its call has, with all that it had started: each command
// has a keeper, a process between it and the worker, to which all that descends from the
// command falls, and which ends it all, also when the worker is killed. See keep_linux.go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/airi-host/airi-host/plugin"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == keeperArg {
		os.Exit(keep(os.Args[2] == onTerminal, os.Args[3:]))
	}
	plugin.Main(workshop())
}

func workshop() *plugin.Definition {
	p := plugin.Define("workshop")
	plugin.Environment(p, "workshop", plugin.EnvironmentHooks{
		ValidateConfig:   validate,
		Probe:            probe,
		AcquireLease:     acquire,
		ResumeLease:      resume,
		ReleaseLease:     release,
		DestroyLease:     destroy,
		RealizeWorkspace: realize,
		Execute:          execute,
		Terminal:         terminal,
		Channel:          channel,
	})
	return p
}

// config is what an environment is configured with.
type config struct {
	Shell string `json:"shell"`
}

// shells are those of leases: whoever opens a terminal is not told the configuration.
var shells sync.Map

// readConfig reads one; none is all defaults.
func readConfig(text json.RawMessage) (is config, err error) {
	is.Shell = "sh"
	if len(text) > 0 && json.Unmarshal(text, &is) != nil {
		err = errors.New("shell: expected a string")
	}
	return is, err
}

func validate(_ context.Context, c plugin.EnvironmentConfig) (plugin.EnvironmentVerdict, error) {
	is, err := readConfig(c.Config)
	if err != nil {
		return plugin.EnvironmentVerdict{Errors: []string{err.Error()}}, nil
	}
	if _, err := exec.LookPath(is.Shell); err != nil {
		return plugin.EnvironmentVerdict{Errors: []string{"shell: " + err.Error()}}, nil
	}
	normal, err := json.Marshal(is)
	return plugin.EnvironmentVerdict{OK: true, NormalizedConfig: normal}, err
}

func probe(context.Context, plugin.EnvironmentCall) (plugin.EnvironmentProbed, error) {
	return plugin.EnvironmentProbed{OK: true, Summary: "leases are directories below " + os.TempDir()}, nil
}

// prefix begins the name of a lease's directory, and is its id up to what is random.
const prefix = "workshop-"

func acquire(_ context.Context, a plugin.EnvironmentAcquire) (plugin.EnvironmentLease, error) {
	is, err := readConfig(a.Config)
	if err != nil {
		return plugin.EnvironmentLease{}, err
	}
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return plugin.EnvironmentLease{}, err
	}
	id := plugin.LeaseID(filepath.Base(dir))
	shells.Store(id, is.Shell)
	return plugin.EnvironmentLease{ProviderLeaseID: id}, nil
}

// directory is that of a lease, which has to be there.
func directory(id plugin.LeaseID) (string, error) {
	name := filepath.Base(string(id))
	if name != string(id) || len(name) <= len(prefix) || name[:len(prefix)] != prefix {
		return "", fmt.Errorf("providerLeaseId: expected a lease of the workshop's, got %q", id)
	}
	dir := filepath.Join(os.TempDir(), name)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("the lease %s is over: acquire another one: %w", id, err)
	}
	return dir, nil
}

func resume(_ context.Context, r plugin.EnvironmentResume) (plugin.EnvironmentLease, error) {
	if _, err := directory(r.ProviderLeaseID); err != nil {
		return plugin.EnvironmentLease{}, err
	}
	is, err := readConfig(r.Config)
	if err != nil {
		return plugin.EnvironmentLease{}, err
	}
	shells.Store(r.ProviderLeaseID, is.Shell)
	return plugin.EnvironmentLease{ProviderLeaseID: r.ProviderLeaseID}, nil
}

// release keeps the directory, to be resumed.
func release(context.Context, plugin.EnvironmentEnd) (*plugin.EnvironmentEnded, error) {
	return nil, nil
}

func destroy(_ context.Context, e plugin.EnvironmentEnd) (*plugin.EnvironmentEnded, error) {
	dir, err := directory(e.ProviderLeaseID)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	shells.Delete(e.ProviderLeaseID)
	return &plugin.EnvironmentEnded{ProviderLeaseID: e.ProviderLeaseID, State: "destroyed"}, nil
}

func realize(_ context.Context, r plugin.EnvironmentRealize) (plugin.EnvironmentWorkspace, error) {
	dir, err := directory(r.Lease.ProviderLeaseID)
	return plugin.EnvironmentWorkspace{Cwd: dir}, err
}
