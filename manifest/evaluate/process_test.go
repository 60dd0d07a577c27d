package evaluate

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/process"

	"github.com/airi-host/airi-host/internal/need"
)

// spawns is a module that starts a process which writes its number to a file.
func spawns(file, options, rest string) string {
	return `import {spawn} from "child_process"; import fs from "fs"
const child = spawn("sleep", ["60"], ` + options + `)
child.unref()
fs.writeFileSync(` + strconv.Quote(file) + `, String(child.pid))
` + rest
}

// wantGone waits for the process whose number a file has to be gone, or a zombie.
func wantGone(t *testing.T, file string) {
	t.Helper()
	require.Eventually(t, func() bool { return !alive(t, file) }, 5*time.Second, 5*time.Millisecond)
}

func alive(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(text))
	require.NoError(t, err)
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}

// evaluateSpawning evaluates a module that spawns. One that hangs behind that has time
// enough to come to it.
func evaluateSpawning(t *testing.T, file, module string, hangs bool) (err error) {
	t.Helper()
	if !hangs {
		_, err = (&Node{}).Evaluate(t.Context(), module)
		return err
	}
	need.Time(time.Second, func(limit time.Duration) bool {
		_, err = (&Node{Deadline: limit}).Evaluate(t.Context(), module)
		_, none := os.Stat(file)
		return none == nil
	})
	return err
}

func TestProcess_leavesNobodyOfItsGroup(t *testing.T) {
	need.Node(t)
	for rest, want := range map[string]string{`export default {}`: "", `for (;;);`: "took longer", `process.exit(1)`: "made Node.js end"} {
		file := filepath.Join(t.TempDir(), "pid")
		err := evaluateSpawning(t, file, module(t, spawns(file, `{stdio: "inherit"}`, rest)), rest == `for (;;);`)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
		wantGone(t, file)
	}
}

func TestProcess_isNotHeldByWhoLeftItsGroup(t *testing.T) {
	need.Node(t)
	file := filepath.Join(t.TempDir(), "pid")
	began := time.Now()
	wantSays(t, &Node{}, module(t, spawns(file, `{detached: true, stdio: ["inherit", "inherit", "inherit", 4]}`, `export default {a: 1}`)), `{"a":1}`)
	require.Less(t, time.Since(began), 8*time.Second, "pipes that somebody holds open")
}

func TestProcess_takesOneRecord(t *testing.T) {
	need.Node(t)
	for text, want := range map[string]string{
		`fs.writeSync(4, "ok {}\n"); export default {a: 1}`:         `wrote "ok {}" on descriptor 4, which is the host's`,
		`fs.writeSync(4, "error x\n"); process.exit(0)`:             `wrote "error x" on descriptor 4, which is the host's`,
		`fs.writeSync(4, "he\tllo"); process.exit(0)`:               `wrote "he llo" on descriptor 4, which is the host's`,
		`for (;;) fs.writeSync(4, "ok {}\n")`:                       `wrote "ok {}" on descriptor 4, which is the host's`,
		`for (;;) fs.writeSync(4, "ok")`:                            `says more than 1048576 bytes: move what is long into a file of its own`,
		`fs.writeSync(4, "ok {}\n"); for (;;) fs.writeSync(4, "x")`: `says more than 1048576 bytes: move what is long into a file of its own`,
		`fs.writeSync(1, "ok {}\n"); process.exit(0)`:               `ended without an answer, having written "ok {}"`,
		`fs.writeSync(2, "ok {}\n"); process.exit(0)`:               `ended without an answer, having written "ok {}"`,
	} {
		_, err := (&Node{}).Evaluate(t.Context(), module(t, `import fs from "fs"; `+text))
		require.EqualError(t, err, want, text)
	}
}

func TestProcess_waitsForWhoClosesItsDescriptor(t *testing.T) {
	need.Node(t)
	n := &Node{Deadline: 1500 * time.Millisecond} // longer than a worker has by default
	_, err := n.Evaluate(t.Context(), module(t, `import fs from "fs"; fs.closeSync(4); for (;;);`))
	require.EqualError(t, err, "took longer than 1.5s to evaluate: a manifest must not wait for anything")
}

func TestSilent_quotesTheEnd(t *testing.T) {
	tail := make([]string, process.TailLines)
	for i := range tail {
		tail[i] = strings.Repeat(strconv.Itoa(i%10), 409)
	}
	err := silent(&process.ExitError{Status: process.ExitStatus{Code: 1}, Tail: tail})
	require.EqualError(t, err, `made Node.js end with exit status 1, having written "`+strings.Repeat("5", maxQuoted)+`…"`)
}

func TestSilent_tellsHowTheProcessEnded(t *testing.T) {
	for want, status := range map[string]process.ExitStatus{
		"ended without an answer":                 {},
		"made Node.js end with exit status 3":     {Code: 3},
		"made Node.js end with signal: aborted":   {Code: -1, Signal: "SIGABRT"},
		"made Node.js end with signal: signal 40": {Code: -1, Signal: "signal 40"},
	} {
		require.EqualError(t, silent(&process.ExitError{Status: status}), want)
	}
	unknown := process.ExitStatus{Code: -1, Err: errors.New("wait4: no child processes")}
	require.EqualError(t, silent(&process.ExitError{Status: unknown}), "ended without an answer")
	require.ErrorIs(t, silent(transport.ErrClosed), transport.ErrClosed)
}
