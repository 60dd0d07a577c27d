package process

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTag_isInheritedAndOutlivesItsProcess(t *testing.T) {
	c := exec.Command("sh", "-c", "read go; env -i setsid sh -c 'echo $$; read end'; exit 0")
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	g := tagOf(newMarker(Spec{}))
	require.False(t, g.on(c.Process.Pid))
	require.NoError(t, g.put(c.Process.Pid))
	_, err = stdin.Write([]byte("\n"))
	require.NoError(t, err)
	line := make([]byte, 16)
	n, err := stdout.Read(line)
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(line[:n-1]))
	require.NoError(t, err)
	require.True(t, g.on(pid), "without environment, in another session")

	require.NoError(t, stdin.Close())
	eventually(t, "it is a zombie", func() bool { return !runs(c.Process.Pid) })
	require.True(t, g.on(c.Process.Pid))
	require.NoError(t, c.Wait())
}

func TestTag_isDrawnFromTheMarker(t *testing.T) {
	m := newMarker(Spec{Plugin: "p"})
	g := tagOf(m)
	require.Equal(t, g, tagOf(m))
	require.NotEqual(t, g, tagOf(newMarker(Spec{Plugin: "p"})))
	require.Greater(t, uint64(g), uint64(1)<<61, "beyond any number of locks")
	require.Less(t, uint64(g), uint64(1)<<63)
	require.False(t, g.on(os.Getpid()))
}

func TestTag_isPutOnTopOfAnother(t *testing.T) {
	c := exec.Command("sleep", "1000")
	require.NoError(t, c.Start())
	var last tag
	for range 20 { // whichever of two is the higher number
		last = tagOf(newMarker(Spec{}))
		require.NoError(t, last.put(c.Process.Pid))
	}
	require.True(t, last.on(c.Process.Pid))
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
}
