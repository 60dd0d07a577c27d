package process

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeCgroup is a directory with the given files in the place of a cgroup, for what
// this system may not have.
func fakeCgroup(t *testing.T, files map[string]string) *cgroup {
	t.Helper()
	c := &cgroup{dir: t.TempDir()}
	for name, text := range files {
		require.NoError(t, os.WriteFile(c.file(name), []byte(text), 0o600))
	}
	return c
}

func TestCgroup_counts(t *testing.T) {
	c := fakeCgroup(t, map[string]string{"memory.events": "oom 1\noom_kill 3\n", "cgroup.events": "populated 1\nfrozen 0\n"})
	require.Equal(t, 3, c.count("memory.events", "oom_kill"))
	require.Zero(t, c.count("memory.events", "high"))
	require.Zero(t, c.count("pids.events", "max"))
	require.True(t, c.populated())
}

func TestCgroup_livingLooksBelow(t *testing.T) {
	c := fakeCgroup(t, map[string]string{"cgroup.procs": "3\n4\n"})
	require.NoError(t, os.Mkdir(c.file("below"), 0o700))
	require.NoError(t, os.WriteFile(c.file("below/cgroup.procs"), []byte("2\n"), 0o600))
	require.Equal(t, []int{2, 3, 4}, c.living())
}

func TestCgroup_removeTakesWhatTheWorkerMade(t *testing.T) {
	c := &cgroup{dir: filepath.Join(t.TempDir(), "c")}
	require.NoError(t, os.MkdirAll(c.file("a/b"), 0o700))
	c.remove()
	require.NoDirExists(t, c.dir)
}

func TestCgroup_limitAsksForTheController(t *testing.T) {
	c := fakeCgroup(t, map[string]string{"cgroup.subtree_control": ""})
	below := &cgroup{dir: c.file("w")}
	require.NoError(t, os.Mkdir(below.dir, 0o700))
	require.ErrorIs(t, below.limit("pids", "pids.max", 30), fs.ErrNotExist, "nobody gave it")
	asked, err := os.ReadFile(c.file("cgroup.subtree_control"))
	require.NoError(t, err)
	require.Equal(t, "+pids", string(asked))

	require.NoError(t, os.WriteFile(below.file("pids.max"), nil, 0o600))
	require.NoError(t, below.limit("pids", "pids.max", 30))
	set, err := os.ReadFile(below.file("pids.max"))
	require.NoError(t, err)
	require.Equal(t, "30", string(set))
}

// The group above has no such file, as where there is no cgroup v2.
func TestCgroup_limitSaysWhyThereIsNoController(t *testing.T) {
	c := fakeCgroup(t, nil)
	below := &cgroup{dir: c.file("w")}
	require.NoError(t, os.Mkdir(below.dir, 0o700))
	err := below.limit("memory", "memory.max", 30)
	require.EqualError(t, err, "the memory controller of cgroup v2 is not to be had in "+c.dir+": no such file or directory")
}

func TestCgroupName_isReadAsItIsWritten(t *testing.T) {
	m := newMarker(Spec{Owner: "0123456789abcdef"})
	host, owner, ok := parseCgroupName("/sys/fs/cgroup/" + cgroupName(m))
	require.True(t, ok)
	require.Equal(t, m.host, host)
	require.Equal(t, digest(m.owner), owner)
	require.NotContains(t, cgroupName(m), m.owner)
	for _, name := range []string{"", "user.slice", "airi-host.x", "airi-host.1.2-a-b", "airi-host.1.2.3-a"} {
		_, _, ok := parseCgroupName(name)
		require.False(t, ok, name)
	}
}

func TestDeadCgroups_areThoseWithoutAHost(t *testing.T) {
	base := t.TempDir()
	own := newMarker(Spec{})
	gone := own
	gone.host.start++
	for _, name := range []string{cgroupName(own), cgroupName(gone), "user.slice"} {
		require.NoError(t, os.Mkdir(filepath.Join(base, name), 0o700))
	}
	require.Equal(t, []string{filepath.Join(base, cgroupName(gone))}, deadCgroups(base))
}
