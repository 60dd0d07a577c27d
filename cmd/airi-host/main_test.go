package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// The tests run the host as a command of its own: this binary, when it is called
// airi-host.
func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){"airi-host": main})
}

// sharedState is the state directory of tests that bring none.
var sharedState string

// leakless fails tests that leave goroutines behind.
type leakless struct{ *testing.M }

func (m leakless) Run() int {
	state, err := os.MkdirTemp("", "airi-host-state-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(state) }()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // so that hosts hear it, also when the tests run under nohup
	sharedState = state
	_ = os.Setenv("XDG_STATE_HOME", state) // whoever runs the tests has a state of their own
	code := m.M.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
