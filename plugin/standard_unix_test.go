//go:build unix

package plugin_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Node gives its children sockets, a super-server one for both ways; a shell may give
// a file.
func TestMain_takesWhateverItsInputIs(t *testing.T) {
	const health = `{"jsonrpc":"2.0","id":1,"method":"health"}` + "\n"
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}` + "\n"
	t.Run("socket", func(t *testing.T) {
		ours, theirs := socketPair(t)
		p := worker(theirs)
		out, err := p.StdoutPipe()
		require.NoError(t, err)
		wantAnswer(t, p, theirs, ours, out, health, answer)
	})
	t.Run("oneSocket", func(t *testing.T) {
		ours, theirs := socketPair(t)
		p := worker(theirs)
		p.Stdout = theirs
		wantAnswer(t, p, theirs, ours, ours, health, answer)
	})
	t.Run("file", func(t *testing.T) {
		name := t.TempDir() + "/in"
		require.NoError(t, os.WriteFile(name, []byte(health), 0o600))
		file, err := os.Open(name)
		require.NoError(t, err)
		out, err := worker(file).Output()
		require.NoError(t, err)
		require.Equal(t, answer, string(out))
		require.NoError(t, file.Close())
	})
}

func worker(in *os.File) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PLUGIN_TEST_WORKER=1")
	cmd.Stdin = in
	return cmd
}

// wantAnswer asks a worker once and ends its input.
func wantAnswer(t *testing.T, p *exec.Cmd, theirs, in *os.File, out io.Reader, ask, answer string) {
	t.Helper()
	require.NoError(t, p.Start())
	require.NoError(t, theirs.Close())
	_, err := io.WriteString(in, ask)
	require.NoError(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, answer, line)
	require.NoError(t, in.Close())
	require.NoError(t, p.Wait())
}

func socketPair(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	syscall.CloseOnExec(pair[0])
	syscall.CloseOnExec(pair[1])
	return os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
}
