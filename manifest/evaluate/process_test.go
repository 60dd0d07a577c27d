package evaluate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

func TestProcess_leavesNobodyOfItsGroup(t *testing.T) {
	needNode(t)
	for rest, want := range map[string]string{`export default {}`: "", `for (;;);`: "took longer", `process.exit(1)`: "made Node.js end"} {
		file := filepath.Join(t.TempDir(), "pid")
		n := &Node{}
		if rest == `for (;;);` {
			n.Deadline = 3 * time.Second // long enough for what comes before
		}
		_, err := n.Evaluate(t.Context(), module(t, spawns(file, `{stdio: "inherit"}`, rest)))
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
		wantGone(t, file)
	}
}

func TestProcess_isNotHeldByWhoLeftItsGroup(t *testing.T) {
	needNode(t)
	file := filepath.Join(t.TempDir(), "pid")
	began := time.Now()
	wantSays(t, &Node{}, module(t, spawns(file, `{detached: true, stdio: ["inherit", "inherit", "inherit", 3]}`, `export default {a: 1}`)), `{"a":1}`)
	require.Less(t, time.Since(began), 8*time.Second, "pipes that somebody holds open")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(text))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

func TestTail_keepsTheEnd(t *testing.T) {
	var kept tail
	for i := range 1000 {
		n, err := kept.Write([]byte(strings.Repeat(strconv.Itoa(i%10), 7)))
		require.NoError(t, err)
		require.Equal(t, 7, n)
	}
	require.Len(t, kept.last, maxPrinted)
	require.True(t, strings.HasSuffix(string(kept.last), "88888889999999"))
	_, err := kept.Write([]byte(strings.Repeat("x", 3*maxPrinted)))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x", maxPrinted), string(kept.last))
}
