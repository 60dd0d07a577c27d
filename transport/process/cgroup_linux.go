package process

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cgroupPrefix begins the names of all directories of workers.
const cgroupPrefix = "airi-host."

// cgroup is the control group of one worker: a directory of cgroup v2.
type cgroup struct{ dir string }

// The places where systems have cgroup v2: alone, or beside the older kind.
var cgroupMounts = [...]string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}

// cgroupMount is the root of cgroup v2, or empty.
func cgroupMount() string {
	for _, mount := range cgroupMounts {
		var info unix.Statfs_t
		if unix.Statfs(mount, &info) == nil && info.Type == unix.CGROUP2_SUPER_MAGIC {
			return mount
		}
	}
	return ""
}

// ownCgroup is the directory of the group that this process is in.
func ownCgroup() (string, error) {
	mount := cgroupMount()
	if mount == "" {
		return "", errors.New("there is no cgroup v2 in " + strings.Join(cgroupMounts[:], " or "))
	}
	path, ok := cgroupPath("self")
	if !ok {
		return "", errors.New("this process is in no group of cgroup v2")
	}
	return filepath.Join(mount, path), nil
}

// cgroupPath reads the group of a process, which may be a zombie.
func cgroupPath(pid string) (path string, ok bool) {
	for line := range strings.Lines(string(readSmall("/proc/" + pid + "/cgroup"))) {
		if path, found := strings.CutPrefix(line, "0::"); found {
			return strings.TrimSpace(path), true
		}
	}
	return "", false
}

// newCgroup makes a group below base, or below that of this process. The name says
// whose it is, so that one of a dead host can be told.
func newCgroup(base string, m marker) (*cgroup, error) {
	if base == "" {
		own, err := workersCgroup()
		if err != nil {
			return nil, err
		}
		base = own
	}
	c := &cgroup{dir: filepath.Join(base, cgroupName(m))}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return nil, err
	}
	if err := unix.Access(c.file("cgroup.kill"), unix.W_OK); err != nil {
		c.remove()
		return nil, fmt.Errorf("%s cannot be killed as one (Linux 5.14 or newer, cgroup v2): cgroup.kill: %w", base, err)
	}
	return c, nil
}

func (c *cgroup) file(name string) string { return filepath.Join(c.dir, name) }

// open returns a descriptor of the group, to be born into.
func (c *cgroup) open() (int, error) {
	return unix.Open(c.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// write sets a file of the group that has to exist.
func (c *cgroup) write(name, value string) error {
	f, err := os.OpenFile(c.file(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// limit sets a limit. If the group lacks the controller, the group above is asked to
// give it.
func (c *cgroup) limit(controller, name string, value int64) error {
	err := c.write(name, strconv.FormatInt(value, 10))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := &cgroup{dir: filepath.Dir(c.dir)}
	if err := above.give(controller); err != nil {
		return fmt.Errorf("the %s controller of cgroup v2 is not to be had in %s: %w", controller, above.dir, err)
	}
	return c.write(name, strconv.FormatInt(value, 10))
}

// reasonOf is an error about a file without the file's name.
func reasonOf(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// count reads a number from a file of lines such as "oom_kill 3"; 0 if it is not
// there.
func (c *cgroup) count(name, key string) int {
	for line := range bytes.Lines(readSmall(c.file(name))) {
		fields := bytes.Fields(line)
		if len(fields) == 2 && string(fields[0]) == key {
			n, _ := strconv.Atoi(string(fields[1]))
			return n
		}
	}
	return 0
}

// populated tells whether anything in the group, or in one that the worker made
// below it, has not come to its end. Zombies have.
func (c *cgroup) populated() bool { return c.count("cgroup.events", "populated") != 0 }

// living lists the processes in the group and in those below it.
func (c *cgroup) living() []int {
	var pids []int
	c.walk(func(dir string) {
		pids = append(pids, (&cgroup{dir: dir}).own()...)
	})
	return pids
}

// walk visits the group and those below it, the lowest first.
func (c *cgroup) walk(visit func(dir string)) {
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		if e.IsDir() {
			(&cgroup{dir: c.file(e.Name())}).walk(visit)
		}
	}
	visit(c.dir)
}

// holds tells whether a process is in the group.
func (c *cgroup) holds(pid int) bool {
	path, ok := cgroupPath(strconv.Itoa(pid))
	return ok && strings.Contains(path+"/", "/"+filepath.Base(c.dir)+"/")
}

// kill ends all processes in the group and below; the kernel sees to those that are
// being forked.
func (c *cgroup) kill() { _ = c.write("cgroup.kill", "1") }

// signal sends sig to the processes that skip does not name.
func (c *cgroup) signal(sig syscall.Signal, skip func(pid int) bool) {
	for _, pid := range c.living() {
		if !skip(pid) {
			signalProc(pid, sig, func() bool { return c.holds(pid) })
		}
	}
}

const (
	// removeTries and removePause bound how long the removal of a group is tried
	// whose last process has just gone.
	removeTries = 20
	removePause = time.Millisecond
)

// remove takes the group away, with those below it. One that cannot be taken away
// is empty all the same; Sweep tries again after the host's end.
func (c *cgroup) remove() {
	for range removeTries {
		c.walk(func(dir string) { _ = unix.Rmdir(dir) })
		if _, err := os.Stat(c.dir); err != nil {
			return
		}
		time.Sleep(removePause)
	}
}

// cgroupName is the name of a worker's directory. It tells the host, so that one
// that is dead can be told, and the owner to those who know him.
func cgroupName(m marker) string {
	return strings.Join([]string{cgroupPrefix + m.host.String(), digest(m.owner), strings.ToLower(m.incarnation)}, "-")
}

// parseCgroupName is the inverse of cgroupName, but for the incarnation.
func parseCgroupName(dir string) (host identity, owner string, ok bool) {
	rest, ok := strings.CutPrefix(filepath.Base(dir), cgroupPrefix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return identity{}, "", false
	}
	host, ok = parseIdentity(parts[0])
	return host, parts[1], ok
}

// digest stands for an owner where others may read it.
func digest(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:8])
}

// deadCgroups lists the directories in base whose hosts live no more.
func deadCgroups(base string) []string {
	var dirs []string
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		if host, _, ok := parseCgroupName(e.Name()); ok && !host.lives() {
			dirs = append(dirs, filepath.Join(base, e.Name()))
		}
	}
	return dirs
}

// cgroupOf is the directory that some host, dead by now, made for the worker that a
// process descends from.
func cgroupOf(pid int) (dir string, ok bool) {
	path, _ := cgroupPath(strconv.Itoa(pid))
	for ; path != "" && path != "/" && path != "."; path = filepath.Dir(path) {
		if host, _, ok := parseCgroupName(path); ok {
			return filepath.Join(cgroupMount(), path), !host.lives()
		}
	}
	return "", false
}
