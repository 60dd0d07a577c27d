package process

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// limitOf has, for controllers of cgroup v2, a file that sets a limit.
var limitOf = map[string]string{"memory": "memory.max", "pids": "pids.max", "hugetlb": "hugetlb.2MB.max"}

// controllers are those that this system lets a test have.
func controllers(t *testing.T) []string {
	t.Helper()
	var list []string
	known, _ := os.ReadFile(filepath.Join(cgroupMount(), "cgroup.controllers"))
	for _, name := range strings.Fields(string(known)) {
		if limitOf[name] != "" && os.Geteuid() == 0 {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		t.Log("without the right to make groups, or without controllers in cgroup v2, there is nothing that can refuse")
	}
	return list
}

// delegated makes a group that holds no process and may give the controller, as systemd
// hands one to a service's user.
func delegated(t *testing.T, controller string, uid int) *cgroup {
	t.Helper()
	root := &cgroup{dir: cgroupMount()}
	if given := string(readSmall(root.file("cgroup.subtree_control"))); !strings.Contains(given, controller) {
		require.NoError(t, root.write("cgroup.subtree_control", "+"+controller))
		t.Cleanup(func() { _ = root.write("cgroup.subtree_control", "-"+controller) })
	}
	c := &cgroup{dir: filepath.Join(root.dir, "airi-host-test-"+strconv.Itoa(os.Getpid())+"-"+controller)}
	require.NoError(t, os.Mkdir(c.dir, 0o755))
	t.Cleanup(func() {
		c.remove()
		require.NoDirExists(t, c.dir)
	})
	for _, name := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		require.NoError(t, os.Chown(c.file(name), uid, uid))
	}
	return c
}

// limited is what the mode of the same name has come to.
type limited struct {
	Err string
	// Own and Child are the groups of the process and of a child of its.
	Own, Child string
	// Base is where workers' groups are by now, Given what that one gives.
	Base, Given string
}

// limiting is a host that limits a worker's group, twice, once it is told its user.
func limiting() int {
	var uid int
	if _, err := fmt.Scan(&uid); err != nil {
		return 2
	}
	if err := syscall.Setresuid(uid, uid, uid); err != nil {
		return 3
	}
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		return 4
	}
	defer func() { _, _ = child.Process.Kill(), child.Wait() }()
	controller := os.Getenv(argVar)
	report := limited{}
	for range 2 {
		if err := limitOnce(controller); err != nil {
			report.Err = err.Error()
		}
	}
	report.Own, _ = cgroupPath("self")
	report.Child, _ = cgroupPath(strconv.Itoa(child.Process.Pid))
	report.Base, _ = workersCgroup()
	report.Given = strings.TrimSpace(string(readSmall(filepath.Join(report.Base, "cgroup.subtree_control"))))
	_ = json.NewEncoder(os.Stdout).Encode(report)
	return 0
}

func limitOnce(controller string) error {
	c, err := newCgroup("", newMarker(Spec{}))
	if err != nil {
		return err
	}
	defer c.remove()
	return c.limit(controller, limitOf[controller], 1<<21)
}

// in runs a host in a group, and returns what its limits have come to.
func (c *cgroup) in(t *testing.T, controller string, uid int) limited {
	t.Helper()
	w := start(t, "limiting", withArg(controller), withReach(ReachGroup))
	require.NoError(t, c.write("cgroup.procs", strconv.Itoa(w.Pid())))
	w.send(strconv.Itoa(uid))
	record, err := w.Recv()
	require.NoError(t, err)
	var report limited
	require.NoError(t, json.Unmarshal(record, &report))
	require.Zero(t, w.wantDone(soon).Code)
	return report
}

// The kernel itself refuses here, whatever controller it has to give.
func TestHostLeaf_theHostMakesRoomForLimits(t *testing.T) {
	const nobody = 65534
	for _, controller := range controllers(t) {
		for _, uid := range []int{0, nobody} {
			t.Run(fmt.Sprintf("%s/%d", controller, uid), func(t *testing.T) {
				c := delegated(t, controller, uid)
				report := c.in(t, controller, uid)
				require.Empty(t, report.Err)
				leaf := "/" + filepath.Base(c.dir) + "/" + hostLeaf
				require.Equal(t, limited{Own: leaf, Child: leaf, Base: c.dir, Given: controller}, report)
			})
		}
	}
}

func TestHostLeaf_aSharedGroupIsLeftAlone(t *testing.T) {
	for _, controller := range controllers(t) {
		t.Run(controller, func(t *testing.T) {
			c := delegated(t, controller, 0)
			other := start(t, "echo", withReach(ReachGroup))
			require.NoError(t, c.write("cgroup.procs", strconv.Itoa(other.Pid())))
			report := c.in(t, controller, 0)
			wantErrorText(t, fmt.Errorf("%s", report.Err), c.dir, "the host shares this group", strconv.Itoa(other.Pid()), "Delegate=yes")
			require.Equal(t, "/"+filepath.Base(c.dir), report.Own)
			require.Equal(t, report.Own, report.Child)
			require.NoDirExists(t, c.file(hostLeaf))
			require.NoError(t, other.Close())
		})
	}
}

// What follows needs no cgroup.

func TestVacate_anEmptyGroupIsLeftAsItIs(t *testing.T) {
	c := fakeCgroup(t, map[string]string{"cgroup.procs": ""})
	require.NoError(t, c.vacate())
	require.NoDirExists(t, c.file(hostLeaf))
}

func TestVacate_movesNobodyElse(t *testing.T) {
	for name, tc := range map[string]struct{ procs, want string }{
		"another one":              {"%d\n1\n", `the host shares this group \(process 1 .+\): give it one of its own`},
		"several":                  {"1\n%d\n1\n1\n", `process 1 .+, and 2 more`},
		"one of another namespace": {"0\n%d\n", `a process of another PID namespace\)`},
	} {
		t.Run(name, func(t *testing.T) {
			c := fakeCgroup(t, map[string]string{"cgroup.procs": fmt.Sprintf(tc.procs, os.Getpid())})
			require.Regexp(t, tc.want, c.vacate().Error())
			require.NoDirExists(t, c.file(hostLeaf))
		})
	}
}

func TestVacate_saysWhatKeepsTheHost(t *testing.T) {
	c := fakeCgroup(t, map[string]string{"cgroup.procs": strconv.Itoa(os.Getpid())})
	wantErrorText(t, c.vacate(), "the host cannot go into "+c.file(hostLeaf)+": no such file or directory") // no cgroup at all
	require.NoError(t, os.WriteFile(filepath.Join(c.file(hostLeaf), "cgroup.procs"), nil, 0o600))
	wantErrorText(t, c.vacate(), "new ones keep coming") // nobody empties this list
	moved, err := os.ReadFile(filepath.Join(c.file(hostLeaf), "cgroup.procs"))
	require.NoError(t, err)
	require.Contains(t, string(moved), strconv.Itoa(os.Getpid()))
}

func TestOurs_areThisProcessAndWhatDescendsFromIt(t *testing.T) {
	w := shell(t, ReachGroup, "", `sleep 1000 & echo $!; wait`)
	record, err := w.Recv()
	require.NoError(t, err)
	grandchild, err := strconv.Atoi(string(record))
	require.NoError(t, err)
	own, others := ours([]int{os.Getpid(), os.Getppid(), w.Pid(), grandchild, 1 << 30})
	var pids []int
	for _, p := range own {
		pids = append(pids, p.pid)
	}
	require.Equal(t, []int{os.Getpid(), w.Pid(), grandchild}, pids)
	require.Equal(t, []int{os.Getppid()}, others, "what has ended is nobody's")
	require.True(t, hidden(1), "if /proc did not show it")
}

func TestGive_saysWhyNot(t *testing.T) {
	require.ErrorIs(t, fakeCgroup(t, nil).give("memory"), fs.ErrNotExist)
	c := fakeCgroup(t, map[string]string{"cgroup.controllers": "cpu pids\n", "cgroup.subtree_control": ""})
	require.EqualError(t, c.give("memory"), `the group has not got it itself (cgroup.controllers: "cpu pids")`)
	require.NoError(t, c.give("pids"))
}
