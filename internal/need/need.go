package need

import (
	"os"
	"os/exec"
	"testing"
)

// NoSkip names the variable that forbids skipping.
const NoSkip = "AIRI_HOST_NO_SKIP"

// That goes on if the machine has something. Else the test is over; missing says why, e.g.
// "Node.js is not on PATH".
func That(t testing.TB, has bool, missing string) {
	t.Helper()
	switch {
	case has:
	case os.Getenv(NoSkip) != "":
		t.Fatalf("%s, and %s is set", missing, NoSkip)
	default:
		t.Skip(missing)
	}
}

// Node goes on if there is Node.js to run programs with.
func Node(t testing.TB) {
	t.Helper()
	Program(t, "node", "Node.js is not on PATH")
}

// Program returns where a program is.
func Program(t testing.TB, name, missing string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	That(t, err == nil, missing)
	return path
}
