package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/services/audit"
	"github.com/airi-host/airi-host/services/store"
)

// stateDir is where what outlives a host is kept, unless --state says otherwise.
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "airi-host"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("the state directory: %w: set XDG_STATE_HOME or HOME", err)
	}
	return filepath.Join(home, ".local", "state", "airi-host"), nil
}

// stateFlag gives a command the flag --state.
func (c *cli) stateFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVar(&c.stateGiven, "state", "", usage+" ($XDG_STATE_HOME/airi-host, else ~/.local/state/airi-host)")
}

// stateOf is the absolute path of the state directory of a host that stays.
func (c *cli) stateOf() (string, error) {
	if c.stateGiven == "" {
		return stateDir()
	}
	dir, err := filepath.Abs(c.stateGiven)
	if err != nil {
		return "", fmt.Errorf("--state: %w", err)
	}
	return dir, nil
}

// state is the state directory of one host.
type state struct {
	// dir is "" until it is asked for, if it is a temporary one.
	dir       string
	temporary bool
	// db is what the directory holds; nil for a temporary one, whose host keeps nothing.
	db *store.DB
	// disabled are the plugins that are not to be started.
	disabled disabled
	// configs are the plugins' configurations, grants what they are permitted.
	configs configurations
	grants  grants
	// trail keeps what plugins were denied and what was done by hand, crashes how they
	// crash for the next host; nil where nobody does.
	trail   *audit.Trail
	crashes *crashBook
}

// openState is newState with its store open: nobody else has the directory then.
func (c *cli) openState(ctx context.Context, once bool) (*state, error) {
	st, err := c.newState(once)
	if err != nil {
		return nil, err
	}
	if c.settings == nil { // a command that goes by none
		c.settings = &settings{}
	}
	st.configs.settings, st.grants.settings = c.settings, c.settings
	if st.temporary {
		return st, st.configs.load(ctx, nil)
	}
	log, err := c.logger()
	if err != nil {
		return nil, err
	}
	if err := checkStateDir(st.dir); err != nil {
		return nil, err
	}
	if st.db, err = openStore(ctx, st.dir, c.settings.now().store()); err != nil {
		return nil, err
	}
	st.trail = audit.New(st.db, c.settings.audit(log))
	st.grants.trail, st.grants.log = st.trail, log
	err = errors.Join(st.disabled.load(ctx, st.db), st.configs.load(ctx, st.db), st.grants.load(ctx, st.db))
	if err == nil && !once { // a host that is asked once starts nothing again
		st.crashes, err = openCrashBook(ctx, st.db, log)
	}
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	return st, nil
}

// newState returns the state directory of --state or, for a host that is asked once and
// was given none, a temporary one. Its close must follow.
func (c *cli) newState(once bool) (*state, error) {
	if once && c.stateGiven == "" {
		return &state{temporary: true}, nil
	}
	dir, err := c.stateOf()
	return &state{dir: dir}, err
}

// path returns the directory, and makes it if it is not there, for nobody but us.
func (s *state) path() (string, error) {
	if s.temporary {
		if s.dir != "" {
			return s.dir, nil
		}
		dir, err := os.MkdirTemp("", "airi-host-state-") // mode 0700
		s.dir = dir
		return dir, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", fmt.Errorf("the state directory: %w: choose another one with --state", err)
	}
	return s.dir, nil
}

// close gives the directory to the next host, or removes a temporary one. It may be
// called again.
func (s *state) close() error {
	switch {
	case s.db != nil:
		ctx, cancel := context.WithTimeout(context.Background(), keepTime)
		defer cancel()
		s.crashes.close(ctx)
		s.trail.Close(ctx)
		return s.db.Close()
	case s.temporary && s.dir != "":
		return os.RemoveAll(s.dir)
	}
	return nil
}
