package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// census is what there is of all that could be left behind. What cannot be counted,
// for want of /proc, is nil or 0.
type census struct {
	goroutines, descriptors int
	// marked are the processes with the run's marker; children, those of this
	// process, zombies among them.
	marked, children []int
	// cgroups are the directories of this host's workers, files what is in TMPDIR.
	cgroups, files []string
}

func (s *scratch) census() census {
	all := processes()
	return census{
		goroutines: runtime.NumGoroutine(), descriptors: descriptors(),
		marked: s.marked(all), children: children(all), cgroups: cgroups(), files: names(s.temp),
	}
}

// since tells what there is more than there was before, nil if nothing.
func (c census) since(before census) []string {
	var more []string
	add := func(n int, what string, list any) {
		if n > 0 {
			more = append(more, fmt.Sprintf("%d %s%v", n, what, list))
		}
	}
	add(c.goroutines-before.goroutines, "goroutines", "")
	add(c.descriptors-before.descriptors, "descriptors", "")
	add(len(c.marked), "processes with the marker, pids ", c.marked)
	strangers := slices.DeleteFunc(slices.Clone(c.children), func(pid int) bool { return slices.Contains(before.children, pid) })
	add(len(strangers), "children, pids ", strangers)
	add(len(c.cgroups), "cgroups ", c.cgroups)
	add(len(c.files), "temporary files ", c.files)
	return more
}

// found tells which kinds of things a census does not find although they are there:
// then it would not find what is left of them either.
func (c census) found(workers int) error {
	if !hasProc() {
		return nil
	}
	if len(c.marked) < workers || len(c.children) < workers {
		return fmt.Errorf("of %d workers a census finds %d by their marker and %d as children", workers, len(c.marked), len(c.children))
	}
	return nil
}

func hasProc() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

// descriptors is how many are open, but for the one that it takes to count them.
func descriptors() int { return max(len(names("/proc/self/fd"))-1, 0) }

// names lists a directory; one that cannot be read is empty.
func names(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// processes lists the numbers of all processes.
func processes() []int {
	var all []int
	for _, name := range names("/proc") {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// marked are those of the processes that carry the run's marker.
func (s *scratch) marked(all []int) []int {
	return slices.DeleteFunc(slices.Clone(all), func(pid int) bool { return !s.marks(pid) })
}

// marks tells whether a process carries the run's marker. A zombie does not.
func (s *scratch) marks(pid int) bool {
	environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return slices.ContainsFunc(bytes.Split(environment, []byte{0}), func(entry []byte) bool {
		return string(entry) == markVar+"="+s.mark
	})
}

// children are those of the processes whose parent is this one.
func children(all []int) []int {
	self := os.Getpid()
	return slices.DeleteFunc(slices.Clone(all), func(pid int) bool { return parent(pid) != self })
}

// parent reads the second field behind the name, which may hold anything.
func parent(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	number, _ := strconv.Atoi(fields[1])
	return number
}

// cgroupRoot is where cgroups are.
const cgroupRoot = "/sys/fs/cgroup"

// cgroups lists the directories that the host has made for its workers. Their names
// hold its number.
func cgroups() []string {
	var list []string
	own := fmt.Sprintf(".%d.", os.Getpid())
	_ = filepath.WalkDir(cgroupRoot, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "airi-host.") && strings.Contains(d.Name(), own) {
			list = append(list, path)
		}
		return nil // what cannot be read is not ours
	})
	return list
}

// strike kills the process if it is one of the run's, and tells whether it did. The
// process is held before its marker is looked at, so that no stranger can get its
// number between the two, where the system has such a hold.
func (s *scratch) strike(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = process.Release() }()
	if hasProc() && !s.marks(pid) {
		return false
	}
	return process.Kill() == nil
}
