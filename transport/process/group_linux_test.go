package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// ignores tells whether a process ignores a signal.
func ignores(t *testing.T, pid int, sig syscall.Signal) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(status), "\nSigIgn:\t")
	require.True(t, found)
	mask, _, _ := strings.Cut(after, "\n")
	bits, err := strconv.ParseUint(mask, 16, 64)
	require.NoError(t, err)
	return bits&(1<<(sig-1)) != 0
}

func TestAwaitExit_leavesTheZombie(t *testing.T) {
	w := start(t, "leave")
	w.wantDone(soon)
	require.True(t, exists(w.Pid()), "the leader's zombie keeps the number")
	require.NotContains(t, w.living(), w.Pid())
	require.Len(t, w.living(), 1)
	w.mustStop(ladderTo(StepKill))
	require.False(t, exists(w.Pid()))
}

// exists asks whether there is such a process, if only as a zombie.
func exists(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestChildInfo_isLaidOutLikeTheKernels(t *testing.T) {
	var info childInfo
	offset := unsafe.Offsetof(info.child) + unsafe.Offsetof(info.child.status)
	require.Equal(t, 2*unsafe.Sizeof(uintptr(0))+8, offset, "si_status of waitid(2)")
	require.GreaterOrEqual(t, unsafe.Sizeof(info), uintptr(128))
}
