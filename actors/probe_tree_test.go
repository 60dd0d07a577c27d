package actors_test

import (
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

// rogueBrood starts somebody else, in a session of its own if its argument says so.
func rogueBrood(w *rogue) {
	if argument() != "" {
		child := exec.Command("sleep", "1000")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: argument() == "session"}
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
	}
	w.serve()
}

// rogueDeaf does not end unless it is killed.
func rogueDeaf(w *rogue) {
	signal.Ignore(syscall.SIGTERM)
	w.begins()
	time.Sleep(time.Hour)
}

// rogueKillsItsGroup must not hit its host with that.
func rogueKillsItsGroup(*rogue) {
	_ = syscall.Kill(0, syscall.SIGTERM)
	time.Sleep(time.Hour)
}

func TestProbe_aStopEndsTheWholeTree(t *testing.T) {
	for name, test := range map[string]struct {
		worker, arg string
		// command is what /bin/sh makes of the worker, "$0"; "" is the worker itself.
		command string
		// fails tells that it does not become ready; else it is so many processes.
		fails     bool
		processes int
		// step is the rung of the ladder that ended it.
		step string
	}{
		"with a child of its shell":    {worker: "brood", command: `sleep 1000 & exec "$0"`, processes: 2, step: "term"},
		"with a child":                 {worker: "brood", arg: "group", processes: 2, step: "term"},
		"with a child that left":       {worker: "brood", arg: "session", processes: 2, step: "term"},
		"without its leader":           {worker: "brood", command: `exec 3<&0; "$0" <&3 3<&- & exit 0`, fails: true, step: `(""|stdin|term)`},
		"that ignores SIGTERM":         {worker: "deaf", processes: 1, step: "kill"},
		"that kills its process group": {worker: "kills-group", fails: true, step: `""`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTrial(t, nil)
			m := told(p.worker(test.worker), test.arg)
			m.Host.Timeouts.Stop = time.Second
			if test.command != "" {
				m.Host.Command = append([]string{"/bin/sh", "-c", test.command}, m.Host.Command...)
			}
			_, err := p.host.Start(t.Context(), m, actors.StartOptions{})
			if test.fails {
				p.wantPhase(test.worker, lifecycle.Failed, 1)
			} else {
				require.NoError(t, err)
				p.wantProcesses(1 + test.processes)
			}
			began := time.Now()
			_, err = p.host.Stop(t.Context(), p.inspect(test.worker).ID)
			require.NoError(t, err)
			require.Less(t, time.Since(began), 15*time.Second, "two seconds beyond the ladder's four, with the machine to itself")
			p.wantProcesses(1) // the neighbor
			require.Regexp(t, regexp.MustCompile(`msg="the worker has ended" plugin=`+test.worker+` .*step=`+test.step+` `), p.log.text())
		})
	}
}
